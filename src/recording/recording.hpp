// SPDX-License-Identifier: Apache-2.0
#pragma once

// A recording that is read: its files, processes and blocks. Times are monotonic nanoseconds of the recorded host.

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "recording/block_reader.hpp"
#include "recording/block_summary.hpp"
#include "recording/facts.hpp"

namespace ttmem::recording {

// A block and the file that it is in.
struct BlockPlace {
    const BlockReader* file = nullptr;
    const StoredBlock* block = nullptr;
    // Damaged blocks, of whatever process, between this block and the one before of its process.
    uint64_t missing_before = 0;
    // Null if it is not known: of a recorder that was killed, or of an older one.
    const BlockSummary* summary = nullptr;

    const BlockHeader& header() const { return block->header; }
    BlockType type() const { return static_cast<BlockType>(block->header.type); }
    base::Expected<std::string> read() const { return file->read(*block); }
};

struct RecordedProcess {
    uint32_t number = 0;
    ProcessFactsRecord facts;
    uint64_t first_ns = 0;
    std::optional<uint64_t> ended_ns;
    std::vector<BlockPlace> blocks;  // ledgers and events, in the order of the file
    uint64_t missing_at_end = 0;     // damaged blocks after the last one
};

class Recording {
public:
    // Opens the file and, if there is one, the earlier part beside it. Of the folder of a flight recorder: all parts of the newest
    // recording in it, or of an earlier one; Error::Code::gone if there are not so many.
    static base::Expected<std::shared_ptr<const Recording>> open(const std::string& path, size_t earlier = 0);

    const std::string& path() const { return path_; }
    const HostFactsRecord& host() const { return host_; }
    const std::vector<RecordedProcess>& processes() const { return processes_; }  // by number

    uint64_t first_ns() const { return first_ns_; }
    uint64_t last_ns() const { return last_ns_; }
    uint64_t epoch_ns(uint64_t time_ns) const { return time_ns + epoch_offset_ns_; }
    uint64_t from_epoch_ns(uint64_t epoch_ns) const { return epoch_ns - epoch_offset_ns_; }

    uint64_t events() const { return events_; }
    uint64_t lost() const { return lost_; }
    uint64_t bytes() const { return bytes_; }
    // It was ended on purpose. Else the recorder was killed, still runs, or the file was cut.
    bool is_finished() const { return is_finished_; }
    // Sentences about what is missing: "the recording was cut: its last block lacks its end (17 bytes)".
    const std::vector<std::string>& problems() const { return problems_; }

private:
    base::Expected<void> add_file(const std::string& path);
    base::Expected<void> add_folder(const std::string& path, size_t earlier);
    void read_blocks(const BlockReader& file);
    void read_process(const BlockPlace& place);
    void read_summaries(const BlockPlace& place, RecordedProcess& process);
    void note_missing(uint64_t blocks);
    RecordedProcess* find(uint32_t number);

    std::string path_;
    std::vector<std::unique_ptr<BlockReader>> files_;  // the oldest first
    HostFactsRecord host_;
    std::vector<RecordedProcess> processes_;
    std::deque<BlockSummary> summaries_;
    uint64_t first_ns_ = 0;
    uint64_t last_ns_ = 0;
    uint64_t epoch_offset_ns_ = 0;
    uint64_t events_ = 0;
    uint64_t lost_ = 0;
    uint64_t bytes_ = 0;
    bool is_finished_ = false;
    std::vector<std::string> problems_;
};

}  // namespace ttmem::recording
