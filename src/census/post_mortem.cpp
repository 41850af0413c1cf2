// SPDX-License-Identifier: Apache-2.0
#include "census/post_mortem.hpp"

#include <sys/wait.h>

#include <algorithm>
#include <cassert>

#include "base/pidfd.hpp"
#include "base/time.hpp"

namespace ttmem::census {

namespace {

uint64_t ns_since(uint64_t epoch_ns) {
    const uint64_t now_ns = base::realtime_ns();
    return now_ns > epoch_ns ? now_ns - epoch_ns : 0;
}

// A census with only this process, so that every query applies to it.
Census census_of(const DeadProcess& dead, const SharedDeviceIds& ids) {
    assert(dead.process.ledger && ids);
    Census census;
    census.processes.push_back(dead.process);
    census.processes.back().state = ProcessState::dead;
    census.device_ids = ids;
    return census;
}

std::vector<EventInFlight> find_in_flight(const segment::Reader& ledger) {
    std::vector<EventInFlight> found;
    for (const segment::WriterState& writer : ledger.writers()) {
        if (writer.intent == 0) {
            continue;
        }
        // The intent contains the generation of the slot after the event: odd is live, even is free.
        const segment::SlotRef ref = segment::SlotRef::unpack(writer.intent);
        const bool allocates = segment::is_live(ref.generation);
        found.push_back({writer.thread, allocates ? ActionInFlight::allocate : ActionInFlight::free,
                         !allocates, ref.slot, ref.generation});
    }
    // Slots come in ascending order, so each is compared only with the events on it: a hostile segment has as many
    // events in flight as threads.
    std::vector<EventInFlight*> by_slot;
    by_slot.reserve(found.size());
    for (EventInFlight& event : found) {
        by_slot.push_back(&event);
    }
    std::sort(by_slot.begin(), by_slot.end(),
              [](const EventInFlight* a, const EventInFlight* b) { return a->slot < b->slot; });
    size_t next = 0;
    ledger.for_each_live([&](segment::SlotRef live, const segment::Allocation&) {
        while (next < by_slot.size() && by_slot[next]->slot < live.slot) {
            ++next;
        }
        for (; next < by_slot.size() && by_slot[next]->slot == live.slot; ++next) {
            EventInFlight& event = *by_slot[next];
            const bool allocates = segment::is_live(event.generation);
            const uint64_t looked_for =
                allocates ? event.generation : (event.generation - 1) & segment::kGenerationMask;
            if (looked_for == live.generation) {
                event.is_in_ledger = allocates;
            }
        }
        return next < by_slot.size();
    });
    return found;
}

uint64_t failures_of(const segment::Reader& ledger) {
    return ledger.failure_count(FailureType::out_of_memory) + ledger.failure_count(FailureType::cb_clash) +
           ledger.failure_count(FailureType::unknown_free);
}

uint64_t in_flight_of(const segment::Reader& ledger) {
    const std::vector<segment::WriterState> writers = ledger.writers();
    return static_cast<uint64_t>(
        std::count_if(writers.begin(), writers.end(),
                      [](const segment::WriterState& writer) { return writer.intent != 0; }));
}

// Converts a current age to the age at the death.
void take_off(uint64_t& age_ns, uint64_t since_death_ns) {
    age_ns = age_ns > since_death_ns ? age_ns - since_death_ns : 0;
}

// Returns the summary, and adds the reasons for which it is not exact.
PostMortemSummary summary_of(const DeadProcess& dead, const Census& census,
                             std::vector<Inexactness>& inexact) {
    const segment::Reader& ledger = *dead.process.ledger;
    Figures figures = compute_figures(census, Depth::pools);
    assert(figures.processes.size() == 1);
    PostMortemSummary summary;
    summary.process = std::move(figures.processes.at(0));
    summary.died_ns = dead.died_ns;
    set_ending(summary, dead);
    ledger.for_each_live([&](segment::SlotRef, const segment::Allocation&) {
        ++summary.allocations;
        return true;
    });
    summary.failures = failures_of(ledger);
    summary.in_flight = in_flight_of(ledger);
    inexact = std::move(figures.inexact);
    if (summary.in_flight != 0) {
        inexact.push_back({summary.process.pid, Reason::event_in_flight, summary.in_flight});
    }
    summary.exact = inexact.empty();
    return summary;
}

}  // namespace

void set_ending(PostMortemSummary& summary, const DeadProcess& dead) {
    summary.ending = dead.ending;
    const auto status = dead.handle ? base::exit_status(*dead.handle) : std::nullopt;
    if (dead.ending != Ending::not_known || !status) {
        return;
    }
    if (WIFSIGNALED(*status)) {
        summary.ending = Ending::signal;
        summary.signal = WTERMSIG(*status);
    } else if (WIFEXITED(*status)) {
        summary.ending = Ending::exit;
        summary.exit_code = WEXITSTATUS(*status);
    }
}

PostMortemSummary summarise(const DeadProcess& dead, const SharedDeviceIds& ids,
                            std::vector<Inexactness>* inexact) {
    std::vector<Inexactness> ignored;
    return summary_of(dead, census_of(dead, ids), inexact == nullptr ? ignored : *inexact);
}

PostMortem examine(const DeadProcess& dead, const SharedDeviceIds& ids, const PostMortemLimits& limits) {
    const Census census = census_of(dead, ids);
    PostMortem result;
    result.summary = summary_of(dead, census, result.inexact);
    result.in_flight = find_in_flight(*dead.process.ledger);

    // These queries name no device or process, so they can't fail.
    auto kinds = list_groups(census, {.group = GroupBy::kind});
    auto names = list_groups(census, {.limit = limits.names, .group = GroupBy::name});
    auto largest = list_allocations(census, {.limit = limits.allocations});
    auto failures = list_failures(census, {.limit = limits.failures});
    assert(kinds && names && largest && failures);
    result.by_kind = std::move(kinds->groups);
    result.by_name = std::move(names->groups);
    result.names = names->total;
    result.largest = std::move(largest->allocations);
    result.failures = std::move(failures->failures);
    result.failure_counts = failures->counts.empty() ? FailureCounts{dead.process.identity.pid, 0, 0, 0}
                                                     : failures->counts.front();

    const uint64_t since_ns = ns_since(dead.died_ns);
    for (std::vector<Group>* groups : {&result.by_kind, &result.by_name}) {
        for (Group& group : *groups) {
            take_off(group.oldest_age_ns, since_ns);
        }
    }
    for (LiveAllocation& live : result.largest) {
        take_off(live.age_ns, since_ns);
    }
    for (FailureFigures& failure : result.failures) {
        take_off(failure.age_ns, since_ns);
    }
    return result;
}

}  // namespace ttmem::census
