// SPDX-License-Identifier: Apache-2.0
#include "view/questions/routes.hpp"

#include "view/questions/url.hpp"

namespace ttmem::view {

void fields(auto& /*io*/, Like<HealthQuery> auto& /*query*/) {}

void fields(auto& io, Like<ViewStreamQuery> auto& query) {
    io("interval_ms", query.interval_ms, "minimum time between two messages");
}

void fields(auto& io, Like<MetricsQuery> auto& query) {
    io("processes", query.processes, "`true`: series per process too; not over TCP without the token");
}

void fields(auto& io, Like<RecordingQuery> auto& query) {
    io("pid", query.pid, "only this process");
    io("device", query.device, "only processes that use one of these devices");
    io("max_bytes", query.max_bytes, "a part ends at half of this size");
}

template struct UrlForm<HealthQuery>;
template struct UrlForm<RecordingQuery>;
template struct UrlForm<ViewStreamQuery>;
template struct UrlForm<MetricsQuery>;

}  // namespace ttmem::view
