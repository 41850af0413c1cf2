// SPDX-License-Identifier: Apache-2.0
#pragma once

// What questions are answered from: a host as one asker may see it. The daemon has an implementation, direct reading another.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "census/census.hpp"
#include "census/figures.hpp"
#include "census/post_mortem.hpp"
#include "view/model/hidden.hpp"
#include "view/model/kept_card.hpp"
#include "view/model/origin.hpp"
#include "view/model/past.hpp"

namespace ttmem::history {
class NameSamples;
}

namespace ttmem::view {

struct EventQuery;
struct EventsView;
struct HistoryQuery;
struct HistoryView;
struct PostMortemListQuery;
struct ProcessHistoryQuery;
struct ProcessHistoryView;
struct SelfView;

// What a list of details is made of.
struct VisibleProcesses {
    census::Census census;               // processes whose details the asker may not see are marked
    uint64_t processes = 0;              // the others
    uint32_t device = 0;                 // the id of the device asked for, if it exists
    std::vector<uint32_t> devices = {};  // the same, of all that are asked for
    // Why a list of what they hold is not exact: their own reasons, and each hidden process.
    std::vector<census::Inexactness> inexact;
    Hidden hidden;

    // The head of a list.
    void describe(auto& view, const Origin& origin) const {
        view.origin = origin;
        view.inexact = inexact;
        view.processes = processes;
        view.hidden = hidden;
    }
};

struct DeadProcesses {
    std::vector<census::DeadProcess> newest_first;  // those that the asker may see
    uint64_t dropped = 0;                           // older ones that are no longer kept
    std::vector<census::Identity> hidden = {};      // of kept ones that the asker may not see
    uint64_t missed = 0;                            // processes that ended before they could be read
};

// Processes that died, from the disk of a daemon: those that `dead_processes()` does not have.
struct PastDeaths {
    std::vector<census::PostMortemSummary> newest_first;  // that the asker may see and the query selects
    uint64_t total = 0;                                   // of them
    uint64_t hidden = 0;                                  // that the asker may not see
    uint64_t since_start = 0;                             // of all, those that died since the daemon started
};

// The answer to a question about a process that is not for the asker.
tl::unexpected<base::Error> not_for_asker(const census::Identity& process);

class Host {
public:
    virtual ~Host() = default;

    // The host now.
    virtual Origin origin() const = 0;

    // All processes, for totals.
    virtual census::Census census() const = 0;

    // Adds to figures of the census what only a history knows: peaks, rates of events.
    virtual void annotate(census::Figures& /*figures*/) const {}

    // Whether the asker may see the details of processes of this user.
    virtual bool may_see(uint32_t /*uid*/) const { return true; }

    // For a list with these filters. An error where `pid` is a process whose details the asker may not see: an empty list would
    // be a wrong number.
    base::Expected<VisibleProcesses> visible(std::optional<uint32_t> pid,
                                             const std::optional<std::string>& device = {}) const;

    // What only a daemon has. Without one these are the error needs_daemon().
    virtual base::Expected<DeadProcesses> dead_processes() const;
    virtual base::Expected<EventsView> events(const EventQuery& query) const;
    virtual base::Expected<HistoryView> history(const HistoryQuery& query) const;
    virtual base::Expected<SelfView> self() const;
    // Cards of processes that have ended, at most `limit`, with at most `most_blocks` blocks together. None without a daemon.
    virtual KeptCards kept_cards(uint64_t /*limit*/, uint64_t /*most_blocks*/) const { return {}; }
    // What a daemon keeps on disk. Nothing without one.
    virtual KeptPast past(uint64_t /*since*/) const { return {}; }
    virtual PastDeaths past_deaths(const PostMortemListQuery& /*query*/) const { return {}; }
    virtual base::Expected<std::optional<census::PostMortem>> past_death(uint32_t /*pid*/) const {
        return std::nullopt;
    }
    virtual base::Expected<ProcessHistoryView> process_history(const ProcessHistoryQuery& query) const;
    // Null without a daemon. Lives as long as the host.
    virtual const history::NameSamples* name_samples() const { return nullptr; }
};

tl::unexpected<base::Error> needs_daemon();

}  // namespace ttmem::view
