// SPDX-License-Identifier: Apache-2.0
#include "view/questions/peak.hpp"

#include <string>
#include <utility>

#include "view/json/json_document.hpp"
#include "view/questions/filters.hpp"
#include "view/questions/url.hpp"

namespace ttmem::view {

namespace {

std::string meaning_of_bytes(const PeakView& view) {
    if (view.kind == census::Kind::cb) {
        return "on one core of each circular buffer";
    }
    return view.device ? "on device " + std::to_string(*view.device)
                       : "per device; a mesh allocation counts once";
}

}  // namespace

void fields(auto& io, Like<PeakQuery> auto& query) {
    io("device", query.device, kDeviceMeaning);
    io("pid", query.pid, "only this process");
    io("kind", query.kind, "the kind of memory; default `dram`");
    io.limit("limit", query.limit, "maximum number of names of each process");
}

void fields(auto& io, Like<census::PeakName> auto& name) {
    io.unless_empty("name", name.name, "the full name; null: without a name");
    io("requested", name.requested, "requested bytes");
    io("count", name.count, "allocations that add bytes");
}

void fields(auto& io, Like<census::ProcessPeak> auto& peak) {
    io("pid", peak.pid, "the process");
    io("comm", peak.comm, "command name");
    io("time_ns", peak.time_ns, "the first moment with the most requested bytes, since the epoch");
    io("requested", peak.requested, "requested bytes at that moment");
    io("count", peak.count, "allocations that added bytes at that moment");
    io("requested_now", peak.requested_now, "requested bytes now");
    io("used_peak", peak.used_peak,
       "the highest used bytes, exact; null: several device sets have held this kind");
    io("since_ns", peak.since_ns,
       "records before this time are missing, since the epoch; null: there are records of the whole life");
    io.derived("may_lie_earlier", peak.since_ns.has_value(),
               "`true`: the peak of the process may lie before `since_ns`");
    io("missing_records", peak.missing_records, "records that are overwritten, or too many for one answer");
    io("total", peak.total, "names at that moment");
    io.derived("left_out", peak.left_out(), "names that are not listed");
    io("by_name", peak.names, "what was live at that moment, by name, largest first");
}

void fields(auto& io, Like<PeakView> auto& view) {
    list_head(io, view);
    io("kind", view.kind, "the kind of memory");
    io("device", view.device, "only what is on this device; null: all device sets");
    io.derived("bytes_are", meaning_of_bytes(view), "what bytes mean");
    io.rows("peaks", view.peaks, "the processes that have held this kind, by pid");
}

template struct UrlForm<PeakQuery>;
template struct JsonForm<PeakView>;

base::Expected<PeakView> PeakContents::answer(const Host& host, const PeakQuery& query) {
    const auto visible = host.visible(query.pid, query.device);
    if (!visible) {
        return tl::unexpected(visible.error());
    }
    PeakView view;
    visible->describe(view, host.origin());
    auto page = census::find_peaks(visible->census, query, view.origin.time_ns,
                                   query.limit == 0 ? UINT64_MAX : kMostRows);
    if (!page) {
        return tl::unexpected(std::move(page.error()));
    }
    view.kind = query.kind;
    if (query.device) {
        view.device = visible->device;
    }
    view.inexact.insert(view.inexact.end(), page->inexact.begin(), page->inexact.end());
    view.peaks = std::move(page->processes);
    return view;
}

}  // namespace ttmem::view
