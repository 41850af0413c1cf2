// SPDX-License-Identifier: Apache-2.0
#pragma once

// Parameters of the addresses of the daemon that are no questions: /v1/health, /v1/stream and /metrics.

#include <cstdint>

#include "view/questions/question.hpp"

namespace ttmem::view {

struct HealthQuery {
    bool operator==(const HealthQuery&) const = default;
};

struct ViewStreamQuery {
    uint64_t interval_ms = 0;

    bool operator==(const ViewStreamQuery&) const = default;
};

struct MetricsQuery {
    bool processes = false;

    bool operator==(const MetricsQuery&) const = default;
};

extern template struct UrlForm<HealthQuery>;
extern template struct UrlForm<ViewStreamQuery>;
extern template struct UrlForm<MetricsQuery>;

}  // namespace ttmem::view
