// SPDX-License-Identifier: Apache-2.0
#pragma once

// Takes a recording that arrives as a stream of bytes, and writes its whole blocks.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "recording/recording_target.hpp"
#include "recording/recording_writer.hpp"

namespace ttmem::recording {

class RecordingReceiver {
public:
    explicit RecordingReceiver(RecordingTarget& target) : target_(target) {}

    // The next bytes. An error: what arrives is not a recording, or it can't be written.
    base::Expected<void> take(std::string_view bytes);

    // The sender has ended the recording, and nothing of it is missing.
    bool is_finished() const { return is_finished_ && waiting_.empty(); }
    const RecorderTotals& totals() const { return totals_; }

private:
    // The length of the header or block at the beginning of these bytes; 0: more bytes are needed.
    base::Expected<size_t> next_length(std::string_view bytes) const;
    base::Expected<void> write(std::string_view whole);

    RecordingTarget& target_;
    std::string waiting_;  // the beginning of a block
    RecorderTotals totals_;
    uint32_t last_process_ = 0;  // parts describe a process again
    bool is_finished_ = false;
};

}  // namespace ttmem::recording
