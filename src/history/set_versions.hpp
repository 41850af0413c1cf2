// SPDX-License-Identifier: Apache-2.0
#pragma once

// An event names its device set by an index, which is reused after the set is closed. This table keeps every set that
// was read, so that an event read late maps to the right devices, or to none.

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
        uint64_t members = 0;  // a mask over the device table of the process
        uint64_t opened_ticks = 0;
        uint64_t label = 0;  // a name number
    };

    // Updates the table. Called before the events of a scan are read, and again for newer events.
    void update(const segment::Reader& reader);

    // The number of the set that had this index at the time of the event; 0 if it is no longer known.
    uint32_t find(uint8_t index, uint64_t ticks) const;

    // Empty for 0 and for dropped versions.
    std::optional<Version> version(uint32_t number) const;

private:
    const Version* at(uint32_t number) const;

    static constexpr size_t kMostVersions = 4096;  // per process; the oldest are dropped first

    struct Entry {
        uint8_t index = 0;
        Version version;
    };
    std::deque<Entry> entries_;  // numbered from first_number_
    uint32_t first_number_ = 1;
    std::vector<std::vector<uint32_t>> by_index_;  // numbers, oldest first
};

}  // namespace ttmem::history
