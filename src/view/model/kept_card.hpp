// SPDX-License-Identifier: Apache-2.0
#pragma once

// A failure of a process that has ended, with its card, as the daemon keeps it on disk. The same text is a file and a row of an
// answer.

#include <cstdint>
#include <string>
#include <vector>

#include "census/failures.hpp"
#include "view/json/json.hpp"

namespace ttmem::view {

struct KeptCard {
    uint32_t pid = 0;
    uint64_t start_time_ns = 0;
    std::string comm;
    uint32_t uid = 0;
    std::string user;
    census::FailureFigures failure;

    bool operator==(const KeptCard&) const = default;
};

// What a daemon keeps.
struct KeptCards {
    std::vector<KeptCard> newest_first;  // those that the asker may see
    uint64_t total = 0;                  // of them; the list has the last
    uint64_t lost = 0;                   // cards that could not be written, of all users
    std::string problem;                 // why; empty: none was lost

    bool operator==(const KeptCards&) const = default;
};

extern template struct JsonForm<KeptCard>;

}  // namespace ttmem::view
