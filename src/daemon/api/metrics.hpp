// SPDX-License-Identifier: Apache-2.0
#pragma once

// The figures of a host as Prometheus metrics (docs/METRICS.md). Unknown values have no series; they are never 0. There are few
// label values: only the series of processes, which are optional, have a pid.

#include <cstddef>
#include <string>

#include "census/figures.hpp"
#include "daemon/watch/post_mortems.hpp"
#include "history/event_history.hpp"
#include "view/questions/questions.hpp"

namespace ttmem::daemon {

// The values of one scrape, read at the same time.
struct Readings {
    census::Figures figures;
    view::SelfView self;
    history::FailureTotals failures{};
    DeathCounts deaths;
};

// With more processes, those that hold most are included. A metric counts the others.
constexpr size_t kMostProcessSeries = 1024;
constexpr size_t kMostDeviceEntries = 4096;  // of all of them together

enum class ProcessSeries : bool { no, yes };

constexpr char kMetricsType[] = "text/plain; version=0.0.4; charset=utf-8";

std::string to_metrics(const Readings& readings, ProcessSeries processes);

}  // namespace ttmem::daemon
