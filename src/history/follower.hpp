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
    // The present: state is read from the ledger, and what happened before anyone looked is no loss. The beginning, for a
    // process that has just announced itself: what of it is no longer there is one.
    enum class From : uint8_t { present, beginning };
    Follower(const segment::Reader& reader, uint32_t process, From from = From::present);

    // Reads what is new, at most about so much; returns how many events that were. A gap becomes a record of its own.
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
