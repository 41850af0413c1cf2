// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where in a list an allocation stands, and how a page tells the next one where it ended.

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "census/allocations.hpp"

namespace ttmem::census {

// What comes first is less. No two live allocations have the same place, and none changes it while it lives, but for a name
// that is given later, in a list by name. So a page can begin behind any place, also one that is empty by now.
struct Place {
    const std::string* text = nullptr;  // in a list by name, where all have one
    uint64_t first = 0;
    uint64_t second = 0;
    uint32_t pid = 0;
    uint32_t ledger = 0;  // of this process's
    uint32_t slot = 0;
    uint64_t generation = 0;

    std::strong_ordering operator<=>(const Place& other) const {
        if (text != other.text) {
            if (const int order = text->compare(*other.text); order != 0) {
                return order <=> 0;
            }
        }
        if (first != other.first) {
            return first <=> other.first;  // most are decided here
        }
        return std::tie(second, pid, ledger, slot, generation) <=>
               std::tie(other.second, other.pid, other.ledger, other.slot, other.generation);
    }
    bool operator==(const Place& other) const { return (*this <=> other) == 0; }
};

struct PageCursor {
    Place place;
    std::string text;  // what place.text is to point to
};

// A cursor is good for the query that it came from alone, with any limit.
std::string write_cursor(const AllocationQuery& query, const Place& place);
std::optional<PageCursor> read_cursor(const AllocationQuery& query, std::string_view text);

}  // namespace ttmem::census
