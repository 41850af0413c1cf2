// SPDX-License-Identifier: Apache-2.0
#pragma once

// What each process held under each name in the last minute and a half, for "what grew". One thread adds; any thread reads.

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "census/name_totals.hpp"
#include "census/process.hpp"

namespace ttmem::history {

class NameSamples {
public:
    static constexpr uint64_t kStepNs = 10'000'000'000;
    static constexpr uint64_t kSpanNs = 90'000'000'000;
    // Processes choose their names, so the number of totals in a sample is limited. A process beyond that has no sample.
    static constexpr size_t kMostPerProcess = 4096;
    static constexpr size_t kMostPerUser = 32'768;
    static constexpr size_t kMostPerSample = 65'536;

    struct NameBaseline {
        uint64_t time_ns = 0;  // since the epoch
        std::shared_ptr<const census::NameTotals> totals;
    };

    // Adds a sample, unless the last one is not older than a step. A pass that takes long is made less often. It reads what lists
    // read of each ledger (census/scan_shares.hpp); a process beyond its user's share has no sample.
    void add(uint64_t time_ns, const std::vector<census::Process>& processes);

    // The newest sample of the process that is not newer than that time, else its oldest. Absent: it has none.
    std::optional<NameBaseline> before(const census::Identity& process, uint64_t time_ns) const;

private:
    using SampledProcess = std::pair<uint32_t, uint64_t>;  // pid, start time
    struct NameSample {
        uint64_t time_ns = 0;
        std::map<SampledProcess, std::shared_ptr<const census::NameTotals>> processes;
    };

    mutable std::mutex mutex_;
    std::deque<NameSample> samples_;  // oldest first
    uint64_t next_ns_ = 0;            // used by the adding thread only
};

}  // namespace ttmem::history
