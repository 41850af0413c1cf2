// SPDX-License-Identifier: Apache-2.0
#pragma once

// One command from its start to its end, as 'ttmem run' shows it: how it ended, the most that it held, what it left behind
// and what failed.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "census/failures.hpp"
#include "census/figures.hpp"
#include "view/json/json.hpp"
#include "view/model/origin.hpp"

namespace ttmem::view {

// Allocations of one kind and name that were live when their process ended. Bytes are over all devices of an allocation.
struct Leftover {
    census::Kind kind = census::Kind::dram;
    std::string name;  // empty: it has none
    uint64_t used = 0;
    uint64_t requested = 0;
    uint64_t count = 0;

    bool operator==(const Leftover&) const = default;
};

// A peak that was not to be passed, and was.
struct ExceededPeak {
    uint32_t device = 0;
    census::Kind kind = census::Kind::dram;
    uint64_t peak = 0;
    uint64_t limit = 0;

    bool operator==(const ExceededPeak&) const = default;
};

// A limit that may or may not have been passed.
struct UndecidedPeak {
    uint32_t device = 0;
    census::Kind kind = census::Kind::dram;
    uint64_t peak = 0;                // a lower bound
    std::optional<uint64_t> at_most;  // an upper bound; absent: the figures are inexact
    uint64_t limit = 0;

    bool operator==(const UndecidedPeak&) const = default;
};

// The least room between circular buffers and L1 buffers on a device: that of its fullest core at any time.
struct LeastHeadroom {
    uint32_t device = 0;
    std::optional<int64_t> headroom = {};  // an upper bound; absent: the size of L1 is not known
    std::optional<int64_t> at_least = {};  // a lower bound; absent: it is not known
    uint64_t missing = 0;                  // events that were not seen

    bool operator==(const LeastHeadroom&) const = default;
};

// What one process held at most under a name when it had requested most of that kind.
struct PeakLayer {
    census::Kind kind = census::Kind::dram;
    std::string name;  // empty: it has none
    uint64_t requested = 0;

    bool operator==(const PeakLayer&) const = default;
};

// A bank of L1_SMALL is on each core, and l1_small_size is per core.
struct SmallBanks {
    uint32_t device = 0;
    uint32_t banks = 0;

    bool operator==(const SmallBanks&) const = default;
};

// A check of the run (run_gates.hpp).
struct GateResult {
    std::string name;
    bool passed = true;
    std::string text;  // what was found

    bool operator==(const GateResult&) const = default;
};

struct RunView {
    Origin origin;
    std::vector<std::string> command;
    std::optional<int> exit_code;  // absent: a signal ended it
    std::optional<int> signal;
    uint64_t lived_ns = 0;
    census::Figures figures;     // devices with their peaks, and the processes that were tracked
    std::vector<Leftover> left;  // by kind, the most first
    std::vector<census::FailureFigures> failures;  // the last first
    std::vector<census::FailureCounts> failure_counts;
    std::vector<ExceededPeak> exceeded;
    std::vector<UndecidedPeak> undecided;
    std::vector<LeastHeadroom> least_headroom;
    std::vector<PeakLayer> peak_by_name;  // by kind, the most first
    std::vector<SmallBanks> small_banks;
    std::vector<GateResult> gates;
    std::vector<std::string> missing_facts;  // facts that its tt-metal does not give

    bool is_exact() const { return figures.inexact.empty(); }
    bool is_tracked() const { return !figures.processes.empty(); }
    // Buffers that nobody freed. Circular buffers and kernels belong to programs, which a cache may keep to the end.
    bool has_leak() const;
    bool operator==(const RunView&) const = default;
};

extern template struct JsonForm<RunView>;

}  // namespace ttmem::view
