// SPDX-License-Identifier: Apache-2.0
#pragma once

// The host as the daemon knows it, for one asker.

#include <functional>

#include "daemon/api/permissions.hpp"
#include "daemon/budgets.hpp"
#include "daemon/database/history_keeper.hpp"
#include "daemon/watch/card_store.hpp"
#include "daemon/watch/post_mortems.hpp"
#include "daemon/watch/process_table.hpp"
#include "history/event_history.hpp"
#include "view/questions/host.hpp"

namespace ttmem::daemon {

struct HostDependencies {
    const ProcessTable& process_table;
    history::EventHistory& history;
    const PostMortems& post_mortems;
    const CardStore& cards;
    const HistoryKeeper& kept;
    std::function<void(view::SelfView&)> describe_self;  // what only the program knows; called on a worker
};

// Sets the fields that describe the budgets.
void describe(const Budgets& budgets, view::SelfView& self);

class DaemonHost : public view::Host {
public:
    // The dependencies must outlive the host.
    DaemonHost(const HostDependencies& dependencies, Permissions permissions)
        : dependencies_(dependencies), permissions_(permissions) {}

    view::Origin origin() const override;
    census::Census census() const override { return dependencies_.process_table.census(); }
    void annotate(census::Figures& figures) const override;
    bool may_see(uint32_t uid) const override { return permissions_.may_see(uid); }
    base::Expected<view::DeadProcesses> dead_processes() const override;
    base::Expected<view::EventsView> events(const view::EventQuery& query) const override;
    base::Expected<view::HistoryView> history(const view::HistoryQuery& query) const override;
    base::Expected<view::SelfView> self() const override;
    view::KeptPast past(uint64_t since) const override;
    view::PastDeaths past_deaths(const view::PostMortemListQuery& query) const override;
    base::Expected<std::optional<census::PostMortem>> past_death(uint32_t pid) const override;
    base::Expected<view::ProcessHistoryView> process_history(
        const view::ProcessHistoryQuery& query) const override;
    view::KeptCards kept_cards(uint64_t limit, uint64_t most_blocks) const override;
    const history::NameSamples* name_samples() const override {
        return &dependencies_.history.name_samples();
    }

private:
    // Adds what is on disk from before the samples in memory.
    void add_kept_series(const view::HistoryQuery& query, view::HistoryView& view) const;

    const HostDependencies& dependencies_;
    Permissions permissions_;
};

}  // namespace ttmem::daemon
