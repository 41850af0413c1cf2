// SPDX-License-Identifier: Apache-2.0
#include "access/run_headroom.hpp"

#include <algorithm>

#include "census/arithmetic.hpp"
#include "census/device_facts.hpp"
#include "census/device_table.hpp"
#include "census/report.hpp"
#include "history/pace.hpp"

namespace ttmem::access {

namespace {

using census::L1Reach;
using history::Record;
using history::RecordType;

constexpr size_t kMostPerFollow = size_t{1} << 15;

bool overlap(const census::Lifetime& a, const census::Lifetime& b) {
    const auto is_before = [](const census::Lifetime& one, const census::Lifetime& other) {
        return one.ended && *one.ended < other.arrived;
    };
    return !is_before(a, b) && !is_before(b, a);
}

void widen(L1Reach& reach, const L1Reach& other) {
    reach.add_circular_buffer(other.cb_top, std::nullopt);
    if (other.lowest_buffer) {
        reach.add_buffer(*other.lowest_buffer);
    }
}

// What is known of one device.
struct DeviceHeadroom {
    std::vector<census::Lifetime> lifetimes;
    std::optional<int64_t> least;
    L1Reach reach;
    census::Bank l1;
    uint64_t missing = 0;
    bool is_shared = false;

    void add(const ProcessHeadroom& process, const census::Lifetime& lifetime, size_t entry,
             const census::Bank& bank) {
        const ProcessHeadroom::EntryHeadroom of = process.of(entry);
        missing = census::saturating_add(missing, process.missing());
        l1 = bank.is_known() ? bank : l1;
        if (of.reach.cb_top == 0 && !of.reach.lowest_buffer) {
            return;  // it had the whole L1 free
        }
        least = of.least ? std::min(*of.least, least.value_or(INT64_MAX)) : least;
        widen(reach, of.reach);
        is_shared = is_shared || std::any_of(lifetimes.begin(), lifetimes.end(),
                                             [&](const auto& other) { return overlap(other, lifetime); });
        lifetimes.push_back(lifetime);
    }

    view::LeastHeadroom row(uint32_t id) const {
        view::LeastHeadroom row{.device = id, .missing = missing};
        row.headroom = lifetimes.empty() ? census::worst_core({}, l1, 0).headroom : least;
        if (missing == 0) {
            row.at_least = is_shared ? census::worst_core(reach, l1, 0).headroom : row.headroom;
        }
        return row;
    }
};

}  // namespace

ProcessHeadroom::ProcessHeadroom(std::shared_ptr<const segment::Reader> ledger)
    : ledger_(std::move(ledger)),
      log_(2 * kMostPerFollow),
      follower_(*ledger_, 0, history::Follower::StartPosition::beginning) {}

uint64_t ProcessHeadroom::follow() {
    const uint64_t complete_until = newest_;  // a thread publishes an event before this reader comes again
    const uint64_t events = follower_.follow(*ledger_, log_, kMostPerFollow);
    for (++taken_; const Record* record = log_.at(taken_); ++taken_) {
        take(*record);
    }
    --taken_;
    apply_until(complete_until);
    return events;
}

void ProcessHeadroom::finish() {
    while (follow() != 0) {
    }
    apply_until(UINT64_MAX);
}

void ProcessHeadroom::take(const Record& record) {
    if (record.type == RecordType::gap) {
        // What was freed meanwhile is not known, so nothing is taken for granted. The least headroom since is an upper bound.
        apply_until(UINT64_MAX);
        applied_ = newest_;
        live_.clear();
        sets_.clear();
        return;
    }
    const segment::Event& event = record.event;
    newest_ = std::max(newest_, event.ticks);
    const bool is_change = record.type == RecordType::allocation || record.type == RecordType::free;
    const bool is_in_l1 =
        event.kind == segment::AllocationKind::l1 || event.kind == segment::AllocationKind::cb;
    if (!is_change || !is_in_l1 || !event.adds_bytes) {
        return;
    }
    if (record.set == 0 || event.ticks < applied_) {
        ++misplaced_;
    }
    waiting_.push_back(record);
}

void ProcessHeadroom::apply_until(uint64_t ticks) {
    std::stable_sort(waiting_.begin(), waiting_.end(),
                     [](const Record& a, const Record& b) { return a.event.ticks < b.event.ticks; });
    const auto end = std::find_if(waiting_.begin(), waiting_.end(),
                                  [&](const Record& record) { return record.event.ticks > ticks; });
    std::for_each(waiting_.begin(), end, [this](const Record& record) { apply(record); });
    waiting_.erase(waiting_.begin(), end);
    applied_ = std::max(applied_, std::min(ticks, newest_));
}

void ProcessHeadroom::apply(const Record& record) {
    remove(record.event.slot.slot);
    if (record.type == RecordType::allocation) {
        add(record);
    }
}

void ProcessHeadroom::add(const Record& record) {
    const auto version = follower_.sets().version(record.set);
    if (!version) {
        return;
    }
    const segment::Event& event = record.event;
    const bool is_circular = event.kind == segment::AllocationKind::cb;
    const uint64_t address =
        is_circular ? census::saturating_add(event.address, event.requested) : event.address;
    live_[event.slot.slot] = {record.set, is_circular, address};
    SetEdges& set = sets_[record.set];
    set.members = version->members;
    auto& edges = is_circular ? set.circular : set.buffers;
    edges.insert(address);
    if (address == (is_circular ? *edges.rbegin() : *edges.begin())) {
        note_least(set.members);
    }
}

void ProcessHeadroom::remove(uint32_t slot) {
    const auto found = live_.find(slot);
    if (found == live_.end()) {
        return;
    }
    const auto set = sets_.find(found->second.set);
    auto& edges = found->second.is_circular ? set->second.circular : set->second.buffers;
    edges.erase(edges.find(found->second.address));
    if (set->second.buffers.empty() && set->second.circular.empty()) {
        sets_.erase(set);
    }
    live_.erase(found);
}

void ProcessHeadroom::note_least(uint64_t members) {
    const auto devices = ledger_->devices();
    for (size_t entry = 0; entry < devices.size(); ++entry) {
        if ((members >> entry & 1) == 0 || !devices[entry]) {
            continue;
        }
        L1Reach now;
        for (const auto& [number, set] : sets_) {
            if ((set.members >> entry & 1) != 0) {
                now.add_circular_buffer(set.circular.empty() ? 0 : *set.circular.rbegin(), std::nullopt);
                if (!set.buffers.empty()) {
                    now.add_buffer(*set.buffers.begin());
                }
            }
        }
        EntryHeadroom& of = entries_[entry];
        widen(of.reach, now);
        const auto headroom =
            census::worst_core(now, census::bank_of(*devices[entry], census::Kind::l1), 0).headroom;
        of.least = headroom ? std::min(*headroom, of.least.value_or(INT64_MAX)) : of.least;
    }
}

ProcessHeadroom::EntryHeadroom ProcessHeadroom::of(size_t entry) const {
    const auto found = entries_.find(entry);
    return found == entries_.end() ? EntryHeadroom() : found->second;
}

int RunHeadroom::follow(const census::Census& census) {
    uint64_t most = 0;
    for (const census::Process& process : census.processes) {
        auto& known = processes_[{process.identity.pid, process.identity.start_time}];
        if (!known) {
            known = std::make_unique<ProcessHeadroom>(process.ledger);
        }
        most = std::max(most, known->follow());
    }
    // A busy process fills an eighth of a ring between two scans at most, one that is idle is seen after the longest busy wait.
    return static_cast<int>(most >= history::Pace::kEventsPerScan ? history::Pace::kShortest.count()
                                                                  : history::Pace::kLongestBusy.count());
}

std::vector<view::LeastHeadroom> RunHeadroom::finish(const census::Census& census) {
    follow(census);
    const std::vector<census::Report> reports = census::read_reports(census);
    const census::DeviceTable table(census, reports);
    std::map<size_t, DeviceHeadroom> devices;
    for (size_t i = 0; i < reports.size(); ++i) {
        const census::Identity& who = reports[i].process->identity;
        ProcessHeadroom& process = *processes_.at({who.pid, who.start_time});
        process.finish();
        for (size_t entry = 0; entry < reports[i].devices.size(); ++entry) {
            if (const auto position = table.position(i, entry)) {
                devices[*position].add(process, reports[i].process->lifetime, entry,
                                       census::bank_of(*reports[i].devices[entry], census::Kind::l1));
            }
        }
    }
    std::vector<view::LeastHeadroom> rows;
    rows.reserve(devices.size());
    for (const auto& [position, device] : devices) {
        rows.push_back(device.row(table.devices()[position].id));
    }
    return rows;
}

}  // namespace ttmem::access
