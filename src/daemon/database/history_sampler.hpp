// SPDX-License-Identifier: Apache-2.0
#pragma once

// Collects the highest used bytes between two writes: per device and kind, and per process and kind over all its devices.
// Thread-safe; nobody waits for a disk here.

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "census/census.hpp"
#include "census/figures.hpp"
#include "daemon/database/history_rows.hpp"
#include "history/samples.hpp"

namespace ttmem::daemon {

class HistorySampler {
public:
    // A user may begin the series of so many processes between two writes; those of further ones begin later.
    static constexpr size_t kNewProcessesPerUser = 64;

    void add(uint64_t boot_ns, const census::Census& census, const census::Figures& figures,
             const history::Samples& samples);

    // Moves what was collected since the last call into the batch.
    void take(HistoryBatch& batch);

private:
    // The kinds that the process has ever used, one bit each; null if it has to wait.
    uint8_t* kinds_of(const ProcessStart& key, uint32_t uid);

    std::mutex mutex_;
    std::optional<uint64_t> began_boot_ns_;
    std::map<history::Samples::SeriesKey, DeviceRow> devices_;
    std::map<ProcessStart, ProcessRow> processes_;
    std::map<ProcessStart, uint8_t> known_;     // processes with series, and their kinds
    std::map<uint32_t, size_t> new_processes_;  // by user, since the last call of take()
};

}  // namespace ttmem::daemon
