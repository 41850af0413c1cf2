// SPDX-License-Identifier: Apache-2.0
#pragma once

// Records the processes of a host into one file. Its caller finds the processes, sees their ends and decides how often to read.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "census/census.hpp"
#include "recording/block_writer.hpp"
#include "recording/facts.hpp"
#include "recording/process_recorder.hpp"

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
    static base::Expected<RecordingWriter> create(FileSettings settings);

    // What the host is. Written where it has changed.
    base::Expected<void> set_host(const HostFactsRecord& facts);

    // Returns the number of the process in the recording.
    base::Expected<uint32_t> add(const census::Process& process, ProcessRecorder::StartState from);
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

    explicit RecordingWriter(BlockWriter file) : file_(std::move(file)) {}

    base::Expected<void> write_host();
    base::Expected<void> write_process(uint32_t number, const Followed& followed);
    base::Expected<void> begin_part();
    void add_to_past(const ProcessRecorder& recorder);

    BlockWriter file_;
    HostFactsRecord host_;
    std::map<uint32_t, Followed> processes_;  // by number
    uint32_t last_number_ = 0;
    RecorderTotals past_;  // of processes that have ended
};

}  // namespace ttmem::recording
