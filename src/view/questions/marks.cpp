// SPDX-License-Identifier: Apache-2.0
#include "view/questions/marks.hpp"

#include <utility>

#include "census/selection.hpp"
#include "view/json/json_document.hpp"
#include "view/questions/url.hpp"

namespace ttmem::view {

void fields(auto& io, Like<MarkQuery> auto& query) {
    io("pid", query.pid, "only this process");
    io.limit("limit", query.limit, "maximum number of marks");
}

void fields(auto& io, Like<MarkView> auto& mark) {
    io("pid", mark.pid, "the process");
    io("number", mark.number, "1: the first mark of the process");
    io("time_ns", mark.time_ns, "when, in ns since the epoch");
    io("name", mark.name, "its name");
}

void fields(auto& io, Like<MarkListView> auto& view) {
    list_head(io, view);
    io("total", view.total, "marks that these processes made");
    io.derived("left_out", view.left_out(),
               "marks that are not listed; a process keeps its first and its last ones");
    io.rows("moments", view.moments, "the newest comes first");
}

template struct UrlForm<MarkQuery>;
template struct JsonForm<MarkListView>;

base::Expected<MarkListView> MarkList::answer(const Host& host, const MarkQuery& query) {
    const auto visible = host.visible(query.pid);
    if (!visible) {
        return tl::unexpected(visible.error());
    }
    const auto selection = census::Selection::of(visible->census, {.pid = query.pid});
    if (!selection) {
        return tl::unexpected(selection.error());
    }
    MarkListView view;
    visible->describe(view, host.origin());
    for (const census::SelectedLedger& ledger : selection->ledgers()) {
        const segment::Reader& reader = ledger.reader();
        view.total += reader.mark_count();
        for (const segment::MarkContents& mark : reader.marks()) {
            const uint64_t age_ns = ledger.clock.age_ns(mark.head.ticks);
            view.moments.push_back({ledger.pid(), mark.head.number,
                                    view.origin.time_ns - std::min(view.origin.time_ns, age_ns),
                                    reader.name(mark.head.name)});
        }
    }
    std::stable_sort(view.moments.begin(), view.moments.end(),
                     [](const MarkView& a, const MarkView& b) { return a.time_ns > b.time_ns; });
    if (query.limit != 0 && view.moments.size() > query.limit) {
        view.moments.resize(query.limit);
    }
    return view;
}

}  // namespace ttmem::view
