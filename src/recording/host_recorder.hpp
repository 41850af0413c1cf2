// SPDX-License-Identifier: Apache-2.0
#pragma once

// Records the processes of a host that are wanted, from a census that its caller takes from time to time.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "census/census.hpp"
#include "census/device_id_set.hpp"
#include "recording/recording_writer.hpp"

namespace ttmem::recording {

struct RecordingScope {
    std::optional<uint32_t> pid = {};  // only this process
    census::DeviceIdSet devices = {};  // only processes that use one of these; empty: all
    // Whose details the reader of the recording may see. Of others it has totals. Absent: of all.
    std::function<bool(uint32_t uid)> may_see = {};
};

// Waits between two readings of the rings. A ring has 16,384 records: at a million events per second it is full after 16 ms.
class ReadingPace {
public:
    // After a reading that found this many events.
    uint64_t next_wait_ms(uint64_t events);

private:
    static constexpr uint64_t kShortestMs = 4;
    static constexpr uint64_t kLongestMs = 16;
    uint64_t wait_ms_ = kShortestMs;
};

class HostRecorder {
public:
    // How often a daemon calls update(): processes come and go.
    static constexpr uint64_t kUpdateNs = 100'000'000;

    // `facts`: the host and the recording program. The writer must outlive the recorder.
    HostRecorder(RecordingWriter& writer, RecordingScope scope, HostFactsRecord facts)
        : writer_(writer), scope_(std::move(scope)), facts_(std::move(facts)) {}

    // Adds wanted processes that are new, and ends those that are not there any more. Processes that begin after the first call are
    // recorded from their first event.
    base::Expected<void> update(census::Census now);

    // The only wanted process has ended.
    bool is_over() const { return scope_.pid && !is_first_ && followed_.empty(); }
    bool is_empty() const { return followed_.empty(); }

private:
    using Ledger = std::shared_ptr<const segment::Reader>;

    bool is_wanted(const census::Census& now, const census::Process& process) const;
    base::Expected<uint32_t> add(const census::Process& process);

    RecordingWriter& writer_;
    const RecordingScope scope_;
    HostFactsRecord facts_;
    std::map<Ledger, uint32_t> followed_;  // numbers in the recording
    uint64_t started_ns_ = 0;
    bool is_first_ = true;
};

// The devices of the driver and those of these processes, with the numbers that other views show.
void describe_devices(const census::Census& census, HostFactsRecord& facts);

}  // namespace ttmem::recording
