// SPDX-License-Identifier: Apache-2.0
#include "view/questions/growth.hpp"

#include <algorithm>
#include <cassert>
#include <map>
#include <utility>

#include "census/selection.hpp"
#include "history/name_samples.hpp"
#include "view/json/json_document.hpp"
#include "view/questions/filters.hpp"
#include "view/questions/url.hpp"

namespace ttmem::view {

void fields(auto& io, Like<GrowthQuery> auto& query) {
    io("device", query.device, kDevicesMeaning);
    io("pid", query.pid, "only this process");
    io("kind", query.kind, kKindsMeaning);
    io("name", query.name, kNameMeaning);
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
    io.derived("bytes_are", std::string("per device; a mesh allocation counts once"), "what bytes mean");
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

class GrowthSums {
public:
    GrowthSums(const census::Selection& selection, const census::SelectedLedger& ledger,
               const GrowthQuery& query, const base::NamePattern& pattern, Sums& sums)
        : selection_(selection),
          ledger_(ledger),
          query_(query),
          names_(ledger.reader(), pattern),
          sums_(sums) {}

    void add(const census::NameTotals& totals, uint64_t NameGrowth::*sum) {
        for (const census::NameTotal& total : totals.totals) {
            if (query_.kind.selects(total.kind) && is_on_device(totals.members_of(total)) &&
                names_.matches(total.name)) {
                const std::string name = ledger_.reader().name(total.name);
                NameGrowth& growth = sums_[{name, total.kind}];
                growth.name = name;
                growth.kind = total.kind;
                growth.*sum += total.used;
            }
        }
    }

private:
    bool is_on_device(uint64_t members) const {
        const auto positions =
            query_.device ? selection_.table().positions(ledger_.report, members) : std::vector<size_t>();
        return !query_.device || std::any_of(positions.begin(), positions.end(),
                                             [&](size_t one) { return selection_.selects(one); });
    }

    const census::Selection& selection_;
    const census::SelectedLedger& ledger_;
    const GrowthQuery& query_;
    census::NameFilter names_;
    Sums& sums_;
};

}  // namespace

base::Expected<GrowthView> Growth::answer(const Host& host, const GrowthQuery& query) {
    const history::NameSamples* samples = host.name_samples();
    if (samples == nullptr) {
        return needs_daemon();
    }
    const auto visible = host.visible(query.pid, query.device);
    if (!visible) {
        return tl::unexpected(visible.error());
    }
    const auto selection = census::Selection::of(
        visible->census, {.device = query.device, .pid = query.pid, .name = query.name});
    if (!selection) {
        return tl::unexpected(selection.error());
    }
    const auto pattern = base::NamePattern::parse(query.name);
    assert(pattern);  // the selection has it too
    GrowthView view;
    visible->describe(view, host.origin());
    const uint64_t now = view.origin.time_ns;
    const uint64_t then = now - std::min(now, kMinuteNs);
    Sums sums;
    for (const census::SelectedLedger& ledger : selection->ledgers()) {
        const census::Process& process = *ledger.process;
        if (process.is_beyond_share) {
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
        GrowthSums of_process(*selection, ledger, query, *pattern, sums);
        of_process.add(*totals, &NameGrowth::now);
        if (before) {
            of_process.add(*before->totals, &NameGrowth::before);
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
