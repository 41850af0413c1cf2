// SPDX-License-Identifier: Apache-2.0
#pragma once

// Builds the metric families of metrics.cpp. A family without series still has its HELP and TYPE lines, so that authors of queries
// find every name.

#include <prometheus/metric_family.h>

#include <string>
#include <vector>

#include "census/figures.hpp"

namespace ttmem::daemon {

using Family = prometheus::MetricFamily;
using Families = std::vector<Family>;
using Labels = std::vector<prometheus::ClientMetric::Label>;

inline Family gauge(std::string name, std::string help) {
    return {std::move(name), std::move(help), prometheus::MetricType::Gauge, {}};
}
inline Family counter(std::string name, std::string help) {
    return {std::move(name), std::move(help), prometheus::MetricType::Counter, {}};
}

template <class Number>
void add(Family& family, Labels labels, Number value) {
    prometheus::ClientMetric& metric = family.metric.emplace_back();
    metric.label = std::move(labels);
    (family.type == prometheus::MetricType::Counter ? metric.counter.value : metric.gauge.value) =
        static_cast<double>(value);
}

// Memory figures of devices, and telemetry of the driver.
void add_memory(Families& families, const std::vector<census::DeviceFigures>& devices);
void add_telemetry(Families& families, const std::vector<census::DeviceFigures>& devices);

}  // namespace ttmem::daemon
