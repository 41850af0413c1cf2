// SPDX-License-Identifier: Apache-2.0
#pragma once

// Compresses blocks, and appends them to a recording with their headers.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "recording/format.hpp"
#include "recording/recording_target.hpp"

namespace ttmem::recording {

struct BlockContent {
    BlockType type = BlockType::events;
    uint32_t process = 0;
    uint64_t first_ns = 0;
    uint64_t last_ns = 0;
    uint64_t events = 0;
    uint64_t lost = 0;
    std::string_view payload = {};
};

class BlockWriter {
public:
    // Begins the first part. `now_ns` is the monotonic time, `epoch_ns` the same moment since the epoch.
    static base::Expected<BlockWriter> create(std::unique_ptr<RecordingTarget> target, uint64_t now_ns,
                                              uint64_t epoch_ns);

    BlockWriter(BlockWriter&& other) noexcept;
    BlockWriter& operator=(BlockWriter&&) = delete;
    ~BlockWriter();

    // On an error the recording ends with the block before.
    base::Expected<void> append(const BlockContent& block);

    // begin_part() should follow.
    bool is_full() const { return target_->is_full(); }
    // Begins a new part. It needs ledgers of all processes.
    base::Expected<void> begin_part();

    // The number of the next block in its file.
    uint32_t next_sequence() const { return sequence_; }
    uint64_t bytes_written() const { return all_bytes_; }

private:
    struct Compressor;

    explicit BlockWriter(std::unique_ptr<RecordingTarget> target);
    base::Expected<void> write_header();

    std::unique_ptr<RecordingTarget> target_;
    FileHeader header_;
    std::unique_ptr<Compressor> compressor_;
    std::string buffer_;
    uint64_t all_bytes_ = 0;
    uint32_t sequence_ = 0;
};

}  // namespace ttmem::recording
