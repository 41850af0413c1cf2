// SPDX-License-Identifier: Apache-2.0
#pragma once

// Plays a recording: makes one moment after another the host that every question of this program is answered from. Belongs to one
// thread.

#include <memory>
#include <optional>
#include <string>

#include "access/recorded_past.hpp"
#include "access/timeline.hpp"
#include "base/error.hpp"
#include "recording/replay.hpp"

namespace ttmem::access {

class RecordingPlayer {
public:
    // Opens a recording and shows a moment (recording/moment.hpp); without one its beginning.
    static base::Expected<std::unique_ptr<RecordingPlayer>> open(const std::string& path,
                                                                 const std::optional<std::string>& at);

    const std::shared_ptr<const recording::Recording>& recording() const { return recording_; }
    uint64_t first_ns() const { return recording_->first_ns(); }
    uint64_t last_ns() const { return recording_->last_ns(); }
    uint64_t now_ns() const { return now_ns_; }

    base::Expected<void> show(uint64_t time_ns);

    // The moments of the events beside a moment; the beginning or the end where there is no more.
    uint64_t step_after(uint64_t time_ns) const;
    uint64_t step_before(uint64_t time_ns) const;

private:
    explicit RecordingPlayer(const std::shared_ptr<const recording::Recording>& recording);

    std::shared_ptr<const recording::Recording> recording_;
    recording::Replay replay_;
    std::shared_ptr<PastCursor> past_;
    uint64_t now_ns_ = 0;
};

}  // namespace ttmem::access
