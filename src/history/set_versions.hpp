// SPDX-License-Identifier: Apache-2.0
#pragma once

// An event names its device set by an index that is used again when the set has been closed. This remembers every set
// that was seen, so that an event read late is still told of the right devices, or honestly of none.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "segment/reader.hpp"

namespace ttmem::history {

class SetVersions {
public:
    struct Version {
        uint64_t members = 0;  // over the device table of the process
        uint64_t opened_ticks = 0;
        uint64_t label = 0;  // a name
    };

    // Brings the table up to date; called before the events of a tick are read, and again for those that are newer.
    void look(const segment::Reader& reader);

    // The number of the set that had this index when the event happened; 0 where it is not known any more.
    uint32_t find(uint8_t index, uint64_t ticks) const;

    // Nothing for 0 and for versions so old that they were dropped.
    std::optional<Version> version(uint32_t number) const;

private:
    const Version* at(uint32_t number) const;

    static constexpr size_t kMostVersions = 4096;  // of one process; the oldest go first

    struct Entry {
        uint8_t index = 0;
        Version version;
    };
    std::deque<Entry> entries_;  // numbered from first_number_
    uint32_t first_number_ = 1;
    std::vector<std::vector<uint32_t>> by_index_;  // numbers, oldest first
};

}  // namespace ttmem::history
