// SPDX-License-Identifier: Apache-2.0
#pragma once

// Metric families, and their text in the exposition format of Prometheus. A family without series still has its HELP and TYPE
// lines, so that authors of queries find every name.

#include <string>
#include <utility>
#include <vector>

#include "census/figures.hpp"

namespace ttmem::daemon {

enum class MetricType : bool { gauge, counter };

using Labels = std::vector<std::pair<std::string, std::string>>;

struct MetricSeries {
    Labels labels;
    double value = 0;
};

struct Family {
    std::string name;
    std::string help;
    MetricType type = MetricType::gauge;
    std::vector<MetricSeries> series;
};
using Families = std::vector<Family>;

inline Family gauge(std::string name, std::string help) {
    return {std::move(name), std::move(help), MetricType::gauge, {}};
}
inline Family counter(std::string name, std::string help) {
    return {std::move(name), std::move(help), MetricType::counter, {}};
}

template <class Number>
void add(Family& family, Labels labels, Number value) {
    family.series.push_back({std::move(labels), static_cast<double>(value)});
}

std::string to_text(const Families& families);

// Memory figures of devices, and telemetry of the driver.
void add_memory(Families& families, const std::vector<census::DeviceFigures>& devices);
void add_telemetry(Families& families, const std::vector<census::DeviceFigures>& devices);

}  // namespace ttmem::daemon
