// SPDX-License-Identifier: Apache-2.0
#include "view/questions/status.hpp"

#include "view/json/json_document.hpp"
#include "view/model/resident_bytes.hpp"
#include "view/questions/url.hpp"

namespace ttmem::view {

void fields(auto& io, Like<StatusQuery> auto& query) {
    io("scan", query.scan,
       "`false`: only what counters report, at once; `largest_free` and `l1_worst_core` are then null");
    io("rss", query.rss, "`true`: also the host memory of each process");
}

void fields(auto& io, Like<View> auto& view) {
    head(io, view.origin);
    io.derived("exact", view.is_exact(), "nothing is missing and nothing is in doubt");
    io("inexact", view.figures.inexact, "why it is not exact");
    io("processes_missed", view.figures.processes_missed, kMissedMeaning);
    io("meshes", view.figures.meshes, "meshes that live processes describe, the largest first");
    io.rows("devices", view.figures.devices, "all devices, by id");
    io.rows("processes", view.figures.processes, "all processes that hold devices, by pid");
}

template struct UrlForm<StatusQuery>;
template struct JsonForm<View>;

base::Expected<View> Status::answer(const Host& host, const StatusQuery& query) {
    const census::Depth depth = query.scan ? census::Depth::ledgers : census::Depth::pools;
    const census::Census census = host.census();
    View view{host.origin(), census::compute_figures(census, depth)};
    host.annotate(view.figures);
    if (query.rss) {
        read_resident_bytes(view.figures, census);
    }
    return view;
}

}  // namespace ttmem::view
