// SPDX-License-Identifier: Apache-2.0
#pragma once

// What questions are answered from: a host as one asker may see it. The daemon has an implementation, direct reading another.

#include <cstdint>
#include <optional>
#include <vector>

#include "base/error.hpp"
#include "census/census.hpp"
#include "census/figures.hpp"
#include "census/post_mortem.hpp"
#include "view/model/origin.hpp"

namespace ttmem::view {

struct EventQuery;
struct EventsView;
struct HistoryQuery;
struct HistoryView;
struct SelfView;

// Processes whose details the asker may see.
struct VisibleProcesses {
    census::Census census;
    std::vector<uint32_t> hidden;  // pids of the others

    // Why a list of what they hold is not exact: their own reasons, and the hidden processes.
    std::vector<census::Inexactness> inexact() const;
};

struct DeadProcesses {
    std::vector<census::DeadProcess> newest_first;  // those that the asker may see
    uint64_t dropped = 0;                           // older ones that are no longer kept
};

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

    // An error where `pid` is a process whose details the asker may not see: an empty list would be a wrong number.
    base::Expected<VisibleProcesses> visible(std::optional<uint32_t> pid) const;

    // What only a daemon has. Without one these are the error needs_daemon().
    virtual base::Expected<DeadProcesses> dead_processes() const;
    virtual base::Expected<EventsView> events(const EventQuery& query) const;
    virtual base::Expected<HistoryView> history(const HistoryQuery& query) const;
    virtual base::Expected<SelfView> self() const;
};

tl::unexpected<base::Error> needs_daemon();

}  // namespace ttmem::view
