// SPDX-License-Identifier: Apache-2.0
#pragma once

// The workings of metrics.cpp: families of metrics, one by one. A family without a series has its HELP and TYPE all
// the same, so that who writes a query finds every name.

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

// What a device has given away, and what the driver says of it.
void add_memory(Families& families, const std::vector<census::DeviceFigures>& devices);
void add_telemetry(Families& families, const std::vector<census::DeviceFigures>& devices);

}  // namespace ttmem::daemon
