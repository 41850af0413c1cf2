// SPDX-License-Identifier: Apache-2.0
#pragma once

// Appends blocks to the file of a recording. With a limit, the recording consists of two files that take turns: when FILE has half
// of the limit, it becomes FILE.1, in place of the one before, and a new FILE begins.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "recording/format.hpp"

namespace ttmem::recording {

struct FileSettings {
    std::string path;
    bool replaces = false;   // an existing file; else that is an error
    uint64_t max_bytes = 0;  // of both files; 0: no limit
};

constexpr uint64_t kLeastMaxBytes = uint64_t{1} << 20;

// The part of a recording that was the file `path` before.
std::string earlier_part_of(const std::string& path);

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
    // The file is readable by this user only. `now_ns` is the monotonic time, `epoch_ns` the same moment since the epoch.
    static base::Expected<BlockWriter> create(FileSettings settings, uint64_t now_ns, uint64_t epoch_ns);

    BlockWriter(BlockWriter&& other) noexcept;
    BlockWriter& operator=(BlockWriter&&) = delete;
    ~BlockWriter();

    // On an error the file ends with the block before.
    base::Expected<void> append(const BlockContent& block);

    // The file has its share of the limit: begin_part() should follow.
    bool is_full() const { return settings_.max_bytes != 0 && size_ >= settings_.max_bytes / 2; }
    // Begins a new file. It needs ledgers of all processes.
    base::Expected<void> begin_part();

    uint64_t bytes_written() const { return all_bytes_; }
    const std::string& path() const { return settings_.path; }

private:
    struct Compressor;

    explicit BlockWriter(FileSettings settings);
    base::Expected<void> open_file();
    base::Expected<void> write(std::string_view bytes);

    FileSettings settings_;
    FileHeader header_;
    base::Descriptor file_;
    std::unique_ptr<Compressor> compressor_;
    std::string buffer_;
    uint64_t size_ = 0;
    uint64_t all_bytes_ = 0;
    uint32_t sequence_ = 0;
};

}  // namespace ttmem::recording
