// SPDX-License-Identifier: Apache-2.0
#pragma once

// Follows the rings of one process into a log: what happened, in the order of each thread, and how much was missed.

#include <cstdint>

#include "history/log.hpp"
#include "history/set_versions.hpp"
#include "segment/reader.hpp"

namespace ttmem::history {

class Follower {
public:
    // Starts at the present: state is read from the ledger, and what happened before anyone looked is no loss.
    Follower(const segment::Reader& reader, uint32_t process);

    // Reads what is new; returns how many events that were. A gap becomes a record of its own.
    uint64_t follow(const segment::Reader& reader, Log& log);

    uint64_t followed() const { return cursor_.kept(); }
    uint64_t lost() const { return cursor_.lost(); }
    const SetVersions& sets() const { return sets_; }

private:
    uint32_t process_;
    segment::Cursor cursor_;
    SetVersions sets_;
};

}  // namespace ttmem::history
