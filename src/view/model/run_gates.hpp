// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a run must keep to: the checks of 'ttmem run', for its exit code and for the reports that CI systems read.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "view/model/run.hpp"

namespace ttmem::view {

struct PeakLimit {
    census::Kind kind = census::Kind::dram;
    uint64_t bytes = 0;
};

struct RunGates {
    bool fail_on_leak = false;
    bool fail_on_failure = false;
    bool require_tracked = false;
    bool allow_untracked = false;
    std::vector<PeakLimit> max_peaks;
    std::optional<uint64_t> min_headroom;
    std::optional<RunView> baseline;  // an earlier report
    double tolerance = 0;             // a part of each peak of the baseline: 0.02 is 2 %

    bool is_any() const {
        return fail_on_leak || fail_on_failure || require_tracked || !max_peaks.empty() || min_headroom ||
               baseline;
    }
};

// Whether bytes may be missing from a peak. The other reasons concern names, cores, history and numbers of devices.
bool may_hide_bytes(const census::Inexactness& inexactness);

// One result per gate, in the order above. Where nothing was tracked, the only gate is whether that is allowed.
std::vector<GateResult> check_gates(const RunView& view, const RunGates& gates);

// The gates as JUnit XML, a test case each, and the report as Markdown.
std::string run_junit(const RunView& view);
std::string run_markdown(const RunView& view);

}  // namespace ttmem::view
