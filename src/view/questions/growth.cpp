// SPDX-License-Identifier: Apache-2.0
#include "view/questions/growth.hpp"

#include <map>
#include <utility>

#include "history/name_samples.hpp"
#include "view/json/json_document.hpp"
#include "view/questions/filters.hpp"
#include "view/questions/url.hpp"

namespace ttmem::view {

void fields(auto& io, Like<GrowthQuery> auto& query) {
    io("pid", query.pid, "only this process");
    io("kind", query.kind, kKindsMeaning);
    io("name", query.name, "only names that contain this text (case-sensitive)");
    io.limit("limit", query.limit, "maximum number of names");
}

void fields(auto& io, Like<NameGrowth> auto& name) {
    io.unless_empty("name", name.name, "the full name");
    io("kind", name.kind, "the kind of memory");
    io("before", name.before, "reserved bytes then");
    io("now", name.now, "reserved bytes now");
    io.derived("grown", name.grown(), "the difference; negative: it shrank");
}

void fields(auto& io, Like<GrowthView> auto& view) {
    list_head(io, view);
    io.derived("bytes_are", std::string("on each device of an allocation, counted once"), "what bytes mean");
    io("span_ns", view.span_ns, "the longest time between the two readings; about a minute if it is known");
    io("unsampled", view.unsampled, "processes of which no earlier reading is known; they are left out");
    io("total", view.total, "names whose bytes have changed");
    io.derived("left_out", view.left_out(), "names that are not listed");
    io.rows("growth", view.names, "what grew most comes first");
}

template struct UrlForm<GrowthQuery>;
template struct JsonForm<GrowthView>;

namespace {

constexpr uint64_t kMinuteNs = 60'000'000'000;

using Sums = std::map<std::pair<std::string, census::Kind>, NameGrowth>;

void add_totals(const segment::Reader& ledger, const std::vector<census::NameTotal>& totals,
                const GrowthQuery& query, uint64_t NameGrowth::*sum, Sums& sums) {
    for (const census::NameTotal& total : totals) {
        const std::string name = ledger.name(total.name);
        if (!query.kind.selects(total.kind) || name.find(query.name) == std::string::npos) {
            continue;
        }
        NameGrowth& growth = sums[{name, total.kind}];
        growth.name = name;
        growth.kind = total.kind;
        growth.*sum += total.used;
    }
}

}  // namespace

base::Expected<GrowthView> Growth::answer(const Host& host, const GrowthQuery& query) {
    const history::NameSamples* samples = host.name_samples();
    if (samples == nullptr) {
        return needs_daemon();
    }
    const auto visible = host.visible(query.pid);
    if (!visible) {
        return tl::unexpected(visible.error());
    }
    GrowthView view;
    visible->describe(view, host.origin());
    const uint64_t now = view.origin.time_ns;
    const uint64_t then = now - std::min(now, kMinuteNs);
    Sums sums;
    for (const census::Process& process : visible->census.processes) {
        if (process.is_hidden || process.is_beyond_share ||
            (query.pid && process.identity.pid != *query.pid)) {
            continue;
        }
        const bool is_new = process.identity.start_time_ns >= then;
        const auto before = is_new ? std::nullopt : samples->before(process.identity, then);
        const auto totals = census::totals_by_name(*process.ledger, history::NameSamples::kMostPerProcess,
                                                   process.slots_to_scan);
        if (!totals || (!before && !is_new)) {
            ++view.unsampled;
            continue;
        }
        const uint64_t since = before ? before->time_ns : process.identity.start_time_ns;
        view.span_ns = std::max(view.span_ns, now - std::min(now, since));
        add_totals(*process.ledger, *totals, query, &NameGrowth::now, sums);
        if (before) {
            add_totals(*process.ledger, *before->totals, query, &NameGrowth::before, sums);
        }
    }
    for (auto& [key, growth] : sums) {
        if (growth.grown() != 0) {
            view.names.push_back(std::move(growth));
        }
    }
    view.total = view.names.size();
    std::stable_sort(view.names.begin(), view.names.end(),
                     [](const NameGrowth& a, const NameGrowth& b) { return a.grown() > b.grown(); });
    if (query.limit != 0 && view.names.size() > query.limit) {
        view.names.resize(query.limit);
    }
    return view;
}

}  // namespace ttmem::view
