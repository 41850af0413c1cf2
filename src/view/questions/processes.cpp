// SPDX-License-Identifier: Apache-2.0
#include "view/questions/processes.hpp"

#include <algorithm>

#include "view/json/json_document.hpp"
#include "view/model/devices.hpp"
#include "view/questions/url.hpp"

namespace ttmem::view {

void fields(auto& io, Like<ProcessQuery> auto& query) {
    io("pid", query.pid, "only this process");
    io("device", query.device, "only processes that hold one of the devices with these ids");
}

void fields(auto& io, Like<ProcessView> auto& view) {
    head(io, view.origin);
    io.derived("exact", view.is_exact(), "nothing is missing and nothing is in doubt");
    io("inexact", view.inexact, "why it is not exact");
    io("processes_missed", view.processes_missed, kMissedMeaning);
    io.rows("processes", view.processes, "the processes, by pid");
}

template struct UrlForm<ProcessQuery>;
template struct JsonForm<ProcessView>;

base::Expected<ProcessView> Processes::answer(const Host& host, const ProcessQuery& query) {
    census::Figures figures = census::compute_figures(host.census(), census::Depth::pools);
    host.annotate(figures);
    drop_processes(figures.processes, figures.inexact, [&](const census::ProcessFigures& process) {
        const bool is_on_device =
            query.device.empty() ||
            std::any_of(process.devices.begin(), process.devices.end(),
                        [&](const auto& held) { return query.device.selects(held.id); });
        return (query.pid && process.pid != *query.pid) || !is_on_device;
    });
    return ProcessView{host.origin(), std::move(figures.inexact), std::move(figures.processes),
                       figures.processes_missed};
}

}  // namespace ttmem::view
