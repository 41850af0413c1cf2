// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads the rings of one process into a log, in order per thread, and counts the events that it missed.

#include <cstdint>

#include "history/log.hpp"
#include "history/set_versions.hpp"
#include "segment/reader.hpp"

namespace ttmem::history {

class Follower {
public:
    // present: start with new events. The ledger contains the earlier state, so earlier events do not count as lost.
    // beginning: for a process that has just announced itself. Events that are already overwritten count as lost.
    enum class StartPosition : uint8_t { present, beginning };
    Follower(const segment::Reader& reader, uint32_t process, StartPosition from = StartPosition::present);

    // Reads new events, about `most` at most. Returns the number of events. A gap adds one record.
    uint64_t follow(const segment::Reader& reader, Log& log, uint64_t most = UINT64_MAX);

    uint64_t followed() const { return cursor_.kept(); }
    uint64_t lost() const { return cursor_.lost(); }
    const SetVersions& sets() const { return sets_; }

private:
    uint32_t process_;
    segment::Cursor cursor_;
    SetVersions sets_;
};

}  // namespace ttmem::history
