// SPDX-License-Identifier: Apache-2.0
#pragma once

// Parameters of the addresses of the daemon that are no questions: /v1/health, /v1/recording, /v1/stream and /metrics.

#include <cstdint>
#include <optional>

#include "census/device_id_set.hpp"
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

struct RecordingQuery {
    std::optional<uint32_t> pid;
    census::DeviceIdSet device;
    std::optional<uint64_t> max_bytes;

    bool operator==(const RecordingQuery&) const = default;
};

extern template struct UrlForm<HealthQuery>;
extern template struct UrlForm<RecordingQuery>;
extern template struct UrlForm<ViewStreamQuery>;
extern template struct UrlForm<MetricsQuery>;

}  // namespace ttmem::view
