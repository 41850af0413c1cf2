// SPDX-License-Identifier: Apache-2.0
#include "daemon/api/daemon_host.hpp"

#include <set>
#include <tuple>
#include <utility>

#include "daemon/watch/history_views.hpp"
#include "view/questions/events.hpp"
#include "view/questions/history.hpp"
#include "view/questions/self.hpp"

namespace ttmem::daemon {

void describe(const Budgets& budgets, view::SelfView& self) {
    for (const BudgetUse& use : budgets.uses()) {
        const BudgetLimit& limit = budgets.limit(use.budget);
        self.budgets.push_back({std::string(name_of(use.budget)), use.used, use.largest_share, limit.per_user,
                                limit.total, use.refused});
    }
}

view::Origin DaemonHost::origin() const {
    view::Origin origin = view::read_here();
    origin.source = view::OriginSource::daemon;
    return origin;
}

void DaemonHost::annotate(census::Figures& figures) const {
    dependencies_.history.annotate(figures);
    figures.processes_missed = dependencies_.process_table.missed();
}

base::Expected<view::DeadProcesses> DaemonHost::dead_processes() const {
    view::DeadProcesses result;
    result.dropped = dependencies_.post_mortems.dropped();
    result.missed = dependencies_.process_table.missed();
    for (census::DeadProcess& dead : dependencies_.post_mortems.newest_first()) {
        if (may_see(dead.process.identity.uid)) {
            result.newest_first.push_back(std::move(dead));
        } else {
            result.hidden.push_back(dead.process.identity);
        }
    }
    return result;
}

base::Expected<view::EventsView> DaemonHost::events(const view::EventQuery& query) const {
    view::EventsView view =
        list_events(dependencies_.history, query, [this](uint32_t uid) { return may_see(uid); });
    view.origin = origin();
    return view;
}

base::Expected<view::HistoryView> DaemonHost::history(const view::HistoryQuery& query) const {
    view::HistoryView view{origin(), list_series(dependencies_.history, query)};
    view.dropped =
        dependencies_.history.read_samples([](const history::Samples& samples) { return samples.dropped(); });
    add_kept_series(query, view);
    return view;
}

base::Expected<view::SelfView> DaemonHost::self() const {
    view::SelfView self;
    self.origin = origin();
    self.processes = dependencies_.process_table.size();
    self.post_mortems = dependencies_.post_mortems.size();
    describe(dependencies_.history, self);
    self.history = dependencies_.kept.status();
    dependencies_.describe_self(self);
    return self;
}

// A living process has its cards itself.
view::KeptCards DaemonHost::kept_cards(uint64_t limit, uint64_t most_blocks) const {
    std::set<std::pair<uint32_t, uint64_t>> living;
    for (const census::Process& process : dependencies_.process_table.census().processes) {
        living.emplace(process.identity.pid, process.identity.start_time);
    }
    const CardStore& store = dependencies_.cards;
    CardStore::Page page = store.read(
        [&](uint32_t uid, const CardStore::CardKey& key) {
            return permissions_.may_see(uid) && living.count({std::get<0>(key), std::get<1>(key)}) == 0;
        },
        limit, most_blocks);
    return {std::move(page.newest_first), page.total, store.lost(), store.problem()};
}

}  // namespace ttmem::daemon
