// SPDX-License-Identifier: Apache-2.0
#pragma once

// The figures of a host in the words of Prometheus (docs/METRICS.md). What is not known has no series, and never a 0.
// Label values are few: a pid or a reason with a number in it becomes none, but for the series of processes, which
// somebody must ask for.

#include <cstddef>
#include <string>

#include "census/figures.hpp"
#include "daemon/chronicle.hpp"
#include "daemon/post_mortems.hpp"
#include "view/chronicle.hpp"

namespace ttmem::daemon {

// All that one scrape tells, read at one moment.
struct Readings {
    census::Figures figures;
    view::SelfView self;
    FailureTotals failures{};
    PostMortems::Deaths deaths;
};

// The series of so many processes, those that hold most. A metric says how many were left out.
constexpr size_t kMostProcessSeries = 1024;

enum class ProcessSeries : bool { no, yes };

constexpr char kMetricsType[] = "text/plain; version=0.0.4; charset=utf-8";

std::string to_metrics(const Readings& readings, ProcessSeries processes);

}  // namespace ttmem::daemon
