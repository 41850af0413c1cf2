// SPDX-License-Identifier: Apache-2.0
#include "census/post_mortem.hpp"

#include <time.h>

#include <algorithm>

namespace ttmem::census {

namespace {

constexpr char kInDoubt[] = "an event was in flight at its death: it may be missing here";

uint64_t ns_since(uint64_t epoch_ns) {
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    const uint64_t now_ns =
        static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
    return now_ns > epoch_ns ? now_ns - epoch_ns : 0;
}

// A host on which it is alone: every question can then be asked about it.
Census census_of(const Dead& dead, const SharedDeviceIds& ids) {
    Census census;
    census.processes.push_back(dead.process);
    census.processes.back().state = State::dead;
    census.device_ids = ids;
    return census;
}

std::vector<InFlight> find_in_flight(const segment::Reader& ledger) {
    std::vector<InFlight> found;
    for (const segment::WriterState& writer : ledger.writers()) {
        if (writer.intent == 0) {
            continue;
        }
        // It names the generation to which the event takes the slot: odd is live, even is free.
        const segment::SlotRef ref = segment::SlotRef::unpack(writer.intent);
        const bool allocates = segment::is_live(ref.generation);
        found.push_back(
            {writer.thread, allocates ? "allocate" : "free", !allocates, ref.slot, ref.generation});
    }
    if (found.empty()) {
        return found;
    }
    ledger.for_each_live([&](segment::SlotRef live, const segment::Allocation&) {
        for (InFlight& event : found) {
            const bool allocates = segment::is_live(event.generation);
            const uint64_t looked_for =
                allocates ? event.generation : (event.generation - 1) & segment::kGenerationMask;
            if (event.slot == live.slot && looked_for == live.generation) {
                event.is_in_ledger = allocates;
            }
        }
        return true;
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

// From ages of now to those at a death.
void take_off(uint64_t& age_ns, uint64_t since_death_ns) {
    age_ns = age_ns > since_death_ns ? age_ns - since_death_ns : 0;
}

// The summary, and why it is not exact.
PostMortemSummary look_at(const Dead& dead, const Census& census, std::vector<Inexactness>& inexact) {
    const segment::Reader& ledger = *dead.process.ledger;
    Figures figures = count(census, Depth::pools);
    PostMortemSummary summary;
    summary.process = std::move(figures.processes.at(0));
    summary.died_ns = dead.died_ns;
    ledger.for_each_live([&](segment::SlotRef, const segment::Allocation&) {
        ++summary.allocations;
        return true;
    });
    summary.failures = failures_of(ledger);
    summary.in_flight = in_flight_of(ledger);
    inexact = std::move(figures.inexact);
    if (summary.in_flight != 0) {
        inexact.push_back({summary.process.pid, kInDoubt, summary.in_flight, false});
    }
    summary.exact = inexact.empty();
    return summary;
}

}  // namespace

PostMortemSummary summarise(const Dead& dead, const SharedDeviceIds& ids) {
    std::vector<Inexactness> inexact;
    return look_at(dead, census_of(dead, ids), inexact);
}

PostMortem examine(const Dead& dead, const SharedDeviceIds& ids, const PostMortemLimits& limits) {
    const Census census = census_of(dead, ids);
    PostMortem result;
    result.summary = look_at(dead, census, result.inexact);
    result.in_flight = find_in_flight(*dead.process.ledger);

    // None of these questions names a device or a process, so none can be about one that is not there.
    result.by_kind = list_groups(census, {.group = GroupBy::kind})->groups;
    GroupPage names = *list_groups(census, {.limit = limits.names, .group = GroupBy::name});
    result.by_name = std::move(names.groups);
    result.names = names.total;
    result.largest = list_allocations(census, {.limit = limits.allocations})->allocations;
    FailurePage failures = *list_failures(census, {.limit = limits.failures});
    result.failures = std::move(failures.failures);
    result.failure_counts =
        failures.counts.empty() ? FailureCounts{dead.process.identity.pid, 0, 0, 0} : failures.counts.front();

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
