// SPDX-License-Identifier: Apache-2.0
#include "view/questions/process_history.hpp"

#include "base/time.hpp"
#include "view/json/json_document.hpp"
#include "view/questions/filters.hpp"
#include "view/questions/sample_fields.hpp"
#include "view/questions/url.hpp"

namespace ttmem::view {

void fields(auto& io, Like<ProcessHistoryQuery> auto& query) {
    io.required("pid", query.pid, "the process; all that had this id");
    io("kind", query.kind, kKindsMeaning);
    io("since", query.since, "only samples from this time on, in ns since the epoch");
    io("step", query.step, "only the highest sample of each N seconds");
}

void fields(auto& io, Like<ProcessSeriesView> auto& series) {
    io("start_time_ns", series.start_time_ns, "when the process started, since the epoch");
    io("comm", series.comm, "its command name");
    io("uid", series.uid, "its user id");
    io("user", series.user, "its user name");
    io("kind", series.kind, "the kind of memory");
    io("samples", series.samples, "the oldest first");
}

void fields(auto& io, Like<ProcessHistoryView> auto& view) {
    head(io, view.origin);
    exactness(io, view);
    io("pid", view.pid, "the process");
    io.rows("series", view.series, "one per kind, of the last process with this id first");
}

// As long as those of devices.
template <>
struct JsonStyle<ProcessHistoryView> {
    static constexpr int indent = kOnOneLine;
    static constexpr int row_indent = kOnOneLine;
    static constexpr bool has_schema = true;
};

template struct UrlForm<ProcessHistoryQuery>;
template struct JsonForm<ProcessHistoryView>;

base::Expected<ProcessHistoryView> ProcessHistory::answer(const Host& host,
                                                          const ProcessHistoryQuery& query) {
    auto view = host.process_history(query);
    if (!view) {
        return view;
    }
    for (ProcessSeriesView& series : view->series) {
        history::keep_highest(series.samples, query.step * base::kNsPerSecond);
    }
    if (const KeptPast past = host.past(UINT64_MAX); !past.problem.empty()) {
        view->inexact.push_back({0, census::Reason::history_not_kept, past.lost, past.problem});
    }
    return view;
}

}  // namespace ttmem::view
