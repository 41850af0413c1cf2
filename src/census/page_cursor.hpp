// SPDX-License-Identifier: Apache-2.0
#pragma once

// The position of an allocation in a list, and the cursor from one page to the next.

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "census/allocations.hpp"

namespace ttmem::census {

// Lower places come first. Places of live allocations are unique, and constant for the lifetime of the allocation,
// except that a list by name moves an allocation that is named later. So a page can start after any place, even if
// its allocation has been freed.
struct Place {
    const std::string* text = nullptr;  // set for all places in a list by name, else null
    uint64_t first = 0;
    uint64_t second = 0;
    uint32_t pid = 0;
    uint32_t ledger = 0;  // index among the ledgers of the process
    uint32_t slot = 0;
    uint64_t generation = 0;

    std::strong_ordering operator<=>(const Place& other) const {
        if (text != other.text) {
            if (const int order = text->compare(*other.text); order != 0) {
                return order <=> 0;
            }
        }
        if (first != other.first) {
            return first <=> other.first;  // decides most comparisons
        }
        return std::tie(second, pid, ledger, slot, generation) <=>
               std::tie(other.second, other.pid, other.ledger, other.slot, other.generation);
    }
    bool operator==(const Place& other) const { return (*this <=> other) == 0; }
};

struct PageCursor {
    Place place;
    std::string text;  // the target of place.text
};

// A cursor is valid only for its own query, with any limit.
std::string write_cursor(const AllocationQuery& query, const Place& place);
std::optional<PageCursor> read_cursor(const AllocationQuery& query, std::string_view text);

}  // namespace ttmem::census
