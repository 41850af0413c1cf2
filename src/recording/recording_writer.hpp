// SPDX-License-Identifier: Apache-2.0
#pragma once

// Records the processes of a host. Its caller finds the processes, sees their ends and decides how often to read.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "census/census.hpp"
#include "recording/block_writer.hpp"
#include "recording/facts.hpp"
#include "recording/process_recorder.hpp"
#include "recording/recording_file.hpp"
#include "recording/totals_recorder.hpp"

namespace ttmem::recording {

struct RecorderTotals {
    uint64_t events = 0;
    uint64_t lost = 0;
    uint64_t without_details = 0;  // allocations of which only the record in the ring could be read
    uint64_t processes = 0;
    uint64_t bytes = 0;
};

class RecordingWriter {
public:
    static base::Expected<RecordingWriter> create(std::unique_ptr<RecordingTarget> target);
    static base::Expected<RecordingWriter> create(FileSettings settings);

    // What the host is. Written where it has changed.
    base::Expected<void> set_host(const HostFactsRecord& facts);

    // Returns the number of the process in the recording.
    base::Expected<uint32_t> add(const census::Process& process, ProcessRecorder::StartState from);
    // Only its totals, once per second where they change: its details are not for the reader of the recording.
    base::Expected<uint32_t> add_totals(const census::Process& process);
    // Its last events and its last ledger.
    base::Expected<void> end(uint32_t number);

    // Reads new events of all processes, and writes what has waited for a second. Returns the number of events.
    base::Expected<uint64_t> follow();

    // Writes a last ledger of every process. The recording is complete.
    base::Expected<void> finish();

    RecorderTotals totals() const;

private:
    struct Followed {
        ProcessFactsRecord facts;
        uint64_t first_ns = 0;
        ProcessRecorder recorder;
    };
    struct FollowedTotals {
        ProcessFactsRecord facts;
        uint64_t first_ns = 0;
        TotalsRecorder recorder;
    };

    explicit RecordingWriter(BlockWriter file) : file_(std::move(file)) {}

    base::Expected<void> write_host();
    base::Expected<void> write_process(uint32_t number, const ProcessFactsRecord& facts, uint64_t first_ns);
    base::Expected<void> write_end(uint32_t number);
    base::Expected<void> begin_part();
    base::Expected<void> follow_totals(uint64_t now_ns);
    void add_to_past(const ProcessRecorder& recorder);

    BlockWriter file_;
    HostFactsRecord host_;
    std::map<uint32_t, Followed> processes_;     // by number
    std::map<uint32_t, FollowedTotals> totals_;  // by number
    uint64_t next_totals_ns_ = 0;
    uint32_t last_number_ = 0;
    RecorderTotals past_;  // of processes that have ended
};

}  // namespace ttmem::recording
