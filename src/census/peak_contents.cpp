// SPDX-License-Identifier: Apache-2.0
#include "census/peak_contents.hpp"

#include <algorithm>
#include <cassert>
#include <map>
#include <tuple>
#include <utility>

#include "census/ring_history.hpp"
#include "census/selection.hpp"

namespace ttmem::census {

namespace {

using segment::EventType;
using segment::SlotRef;

constexpr uint64_t kLostTicks = 15;  // a record lacks these bits of its time

// Larger sizes and names exist in hostile ledgers only. With these bounds no sum over all slots overflows.
uint64_t bounded_bytes(uint64_t bytes) { return std::min(bytes, segment::kMaxAllocationBytes); }
uint16_t bounded_name(uint32_t name) { return name < segment::kMaxNames ? static_cast<uint16_t>(name) : 0; }

// A record of an allocation that counts.
struct PeakChange {
    uint64_t ticks = 0;
    uint64_t generation = 0;
    uint64_t requested = 0;
    uint32_t slot = 0;
    uint16_t name = 0;
    bool is_free = false;
    bool is_after_free = false;  // within its ticks it comes after all allocations

    auto order() const { return std::tuple(ticks, is_after_free, slot, generation); }
};

// A live allocation that the rings should have a record of.
struct RecentAllocation {
    uint64_t ticks = 0;
    uint64_t generation = 0;
    uint64_t requested = 0;
    uint32_t slot = 0;
    uint16_t name = 0;
};

class SumsByName {
public:
    struct NameSum {
        uint64_t requested = 0;
        uint64_t count = 0;
    };

    void add(uint16_t name, uint64_t requested) {
        sums_.resize(std::max<size_t>(sums_.size(), size_t{name} + 1));
        sums_[name].requested += requested;
        ++sums_[name].count;
        all_.requested += requested;
        ++all_.count;
    }

    // False if this was not there: the ledger and the record of an allocation have different names or sizes.
    bool remove(uint16_t name, uint64_t requested) {
        if (name >= sums_.size() || sums_[name].count == 0 || sums_[name].requested < requested) {
            return false;
        }
        sums_[name].requested -= requested;
        --sums_[name].count;
        all_.requested -= requested;
        --all_.count;
        return true;
    }

    bool apply(const PeakChange& change) {
        if (change.is_free) {
            return remove(change.name, change.requested);
        }
        add(change.name, change.requested);
        return true;
    }

    const NameSum& all() const { return all_; }

    // The names, largest first.
    std::vector<std::pair<uint16_t, NameSum>> largest() const {
        std::vector<std::pair<uint16_t, NameSum>> result;
        for (size_t name = 0; name < sums_.size(); ++name) {
            if (sums_[name].count != 0) {
                result.emplace_back(static_cast<uint16_t>(name), sums_[name]);
            }
        }
        std::stable_sort(result.begin(), result.end(), [](const auto& a, const auto& b) {
            return std::tuple(a.second.requested, a.second.count) >
                   std::tuple(b.second.requested, b.second.count);
        });
        return result;
    }

private:
    std::vector<NameSum> sums_;  // by number of the name
    NameSum all_;
};

// The search in one ledger. A writer changes the ledger before it writes the record, so the rings are read to the present after
// the ledger: events until then are in the records, whether or not the scan saw them.
class PeakSearch {
public:
    PeakSearch(const Selection& selection, const SelectedLedger& ledger, const PeakQuery& query,
               uint64_t most_records)
        : ledger_(ledger),
          sets_(selection.reports()[ledger.report].totals.sets),
          kind_(query.kind),
          has_device_(query.device.has_value()),
          most_records_(most_records),
          opened_ticks_(ledger.sets.size(), UINT64_MAX) {
        for (const segment::SetTotals& set : sets_) {
            if (set.index < opened_ticks_.size()) {
                opened_ticks_[set.index] = set.set.opened_ticks;
            }
        }
    }

    void run() {
        const segment::Reader& reader = ledger_.reader();
        RingHistory rings(reader, most_records_);
        rings.read([this](const segment::Event& event) { take(event); });
        scan(rings.reach());
        const segment::Clock clock = reader.clock();
        const std::vector<segment::WriterState> writers = reader.writers();
        std::vector<uint64_t> in_flight;
        for (const segment::WriterState& writer : writers) {
            if (writer.intent != 0) {
                in_flight.push_back(writer.intent);
            }
        }
        std::sort(in_flight.begin(), in_flight.end());
        std::vector<bool> is_recorded(in_flight.size());
        rings.read([&](const segment::Event& event) {
            const uint64_t slot = event.slot.pack();
            const auto found = std::lower_bound(in_flight.begin(), in_flight.end(), slot);
            if (found != in_flight.end() && *found == slot) {
                is_recorded[static_cast<size_t>(found - in_flight.begin())] = true;
            }
            take(event);
        });
        rings.expect(writers);
        reach_ = rings.reach();
        missing_ = rings.missing();
        leave_window(clock);
        order_by_slot();
        settle(clock);
        for (size_t i = 0; i < in_flight.size(); ++i) {
            const SlotRef ref = SlotRef::unpack(in_flight[i]);
            if (!is_recorded[i] && !segment::is_live(ref.generation) && !is_accounted(ref.slot)) {
                ++unsettled_;  // the ledger has lost the allocation, and no record says when
            }
        }
        find_highest();
        describe_times(clock);
    }

    // Nothing of this kind was ever there.
    bool is_empty() const {
        return highest_.all().count == 0 && unsettled_ + contradictions_ + without_devices_.size() == 0 &&
               (!reach_ || used_peak() == std::optional<uint64_t>(0));
    }

    ProcessPeak result(uint64_t now_ns, uint64_t rows) const {
        ProcessPeak result;
        result.pid = ledger_.pid();
        result.comm = ledger_.process->identity.comm;
        result.time_ns = now_ns - std::min(now_ns, highest_age_ns_);
        result.requested = highest_.all().requested;
        result.count = highest_.all().count;
        result.requested_now = requested_now_;
        result.used_peak = used_peak();
        if (reach_) {
            result.since_ns = now_ns - std::min(now_ns, reach_age_ns_);
        }
        result.missing_records = missing_;
        const auto names = highest_.largest();
        result.total = names.size();
        for (size_t i = 0; i < std::min<uint64_t>(names.size(), rows); ++i) {
            const auto& [name, sum] = names[i];
            result.names.push_back({ledger_.reader().name(name), sum.requested, sum.count});
        }
        return result;
    }

    void add_inexactness(std::vector<Inexactness>& inexact) const {
        const auto add = [&](Reason reason, uint64_t count) {
            if (count != 0) {
                inexact.push_back({ledger_.pid(), reason, count});
            }
        };
        add(Reason::settling, unsettled_);
        add(Reason::events_not_kept, missing_);
        add(Reason::records_contradict, contradictions_);
        add(Reason::sets_not_kept, without_devices_.size());
    }

private:
    bool is_of_kind(segment::AllocationKind kind) const { return kind_of(kind) == kind_; }

    void take(const segment::Event& event) {
        const bool is_change = event.type == EventType::allocate || event.type == EventType::free;
        if (!is_change || !event.adds_bytes || !is_of_kind(event.kind)) {
            return;
        }
        if (has_device_ && (event.ticks | kLostTicks) < opened_ticks_[event.set]) {
            without_devices_.push_back(event.ticks);  // of an earlier set with this number
            return;
        }
        if (!has_device_ || ledger_.sets[event.set].is_asked) {
            changes_.push_back({event.ticks, event.slot.generation, bounded_bytes(event.requested),
                                event.slot.slot, event.name, event.type == EventType::free});
        }
    }

    // What is older than all records is summed up at once: there may be very many.
    void scan(std::optional<uint64_t> reach) {
        const auto take_live = [&](SlotRef ref, const segment::Allocation& a) {
            const bool is_asked = !has_device_ || ledger_.sets[a.set].is_asked;
            if (!is_asked || !segment::adds_bytes(a.flags) || !is_of_kind(a.kind)) {
                return true;
            }
            const uint64_t ticks = a.ticks & ~kLostTicks;
            const uint64_t requested = bounded_bytes(a.requested);
            if (reach && ticks <= *reach) {
                before_.add(bounded_name(a.name), requested);
                is_before_.resize(std::max<size_t>(is_before_.size(), size_t{ref.slot} + 1));
                is_before_[ref.slot] = true;
            } else if (recent_.size() < most_records_) {
                recent_.push_back({ticks, ref.generation, requested, ref.slot, bounded_name(a.name)});
            } else {
                ++unsettled_;
            }
            return true;
        };
        ledger_.reader().for_each_live(take_live, ledger_.process->slots_to_scan);
    }

    bool is_before_records(uint64_t ticks) const { return reach_ && ticks <= *reach_; }

    // Drops records that are not complete: before all rings have them, and after the present of `clock`.
    void leave_window(const segment::Clock& clock) {
        const auto is_outside = [&](uint64_t ticks) {
            return is_before_records(ticks) || clock.age_ns(ticks) == 0;
        };
        std::erase_if(changes_, [&](const PeakChange& change) { return is_outside(change.ticks); });
        std::erase_if(without_devices_, is_outside);
    }

    void order_by_slot() {
        std::sort(changes_.begin(), changes_.end(), [](const PeakChange& a, const PeakChange& b) {
            return std::tuple(a.slot, a.generation, a.ticks) < std::tuple(b.slot, b.generation, b.ticks);
        });
    }

    const RecentAllocation* recent_in(uint32_t slot) const {
        const auto found =
            std::lower_bound(recent_.begin(), recent_.end(), slot,
                             [](const RecentAllocation& one, uint32_t number) { return one.slot < number; });
        return found != recent_.end() && found->slot == slot ? &*found : nullptr;
    }

    bool is_before(uint32_t slot) const { return slot < is_before_.size() && is_before_[slot]; }

    bool has_changes(uint32_t slot) const {
        return std::binary_search(changed_slots_.begin(), changed_slots_.end(), slot);
    }

    bool is_accounted(uint32_t slot) const {
        return is_before(slot) || recent_in(slot) != nullptr || has_changes(slot);
    }

    // Checks the records slot by slot. The last record of a slot says what it is now, a slot without one is as in the ledger.
    void settle(const segment::Clock& clock) {
        std::vector<PeakChange> valid;
        valid.reserve(changes_.size());
        for (size_t begin = 0; begin < changes_.size();) {
            size_t end = begin;
            while (end < changes_.size() && changes_[end].slot == changes_[begin].slot) {
                ++end;
            }
            changed_slots_.push_back(changes_[begin].slot);
            settle_slot(begin, end, valid);
            begin = end;
        }
        changes_ = std::move(valid);
        for (const RecentAllocation& live : recent_) {
            if (has_changes(live.slot)) {
                continue;
            }
            if (is_before_records(live.ticks)) {
                before_.add(live.name, live.requested);
            } else if (clock.age_ns(live.ticks) != 0) {
                ++unsettled_;  // its record is not written yet
            }
        }
    }

    void settle_slot(size_t begin, size_t end, std::vector<PeakChange>& valid) {
        const size_t first = valid.size();
        for (size_t i = begin; i < end; ++i) {
            PeakChange change = changes_[i];
            const PeakChange* last = valid.size() == first ? nullptr : &valid.back();
            const bool is_live = last != nullptr && !last->is_free;
            const bool follows = last == nullptr || change.generation > last->generation;
            const bool is_known_free = is_live
                                           ? change.generation == segment::next_generation(last->generation)
                                           : last == nullptr && reach_.has_value();
            if (!follows || change.is_free == segment::is_live(change.generation) ||
                (change.is_free && !is_known_free)) {
                ++contradictions_;
                continue;
            }
            if (!change.is_free && is_live) {
                ++contradictions_;  // the allocation before was never freed
                valid.pop_back();
                last = valid.size() == first ? nullptr : &valid.back();
            }
            change.is_after_free = change.is_free;
            if (last != nullptr && change.ticks <= last->ticks) {  // generations have the order of the slot
                change.ticks = last->ticks;
                change.is_after_free = change.is_free || last->is_after_free;
            }
            if (change.is_free && is_live) {
                valid.back().name = change.name;  // its last name
                valid.back().requested = change.requested;
            } else if (change.is_free && !is_before(change.slot)) {
                before_.add(change.name, change.requested);
            } else if (!change.is_free && last == nullptr && is_before(change.slot)) {
                ++contradictions_;  // the ledger has an earlier allocation there
            }
            valid.push_back(change);
        }
        if (valid.size() != first && !valid.back().is_free) {
            PeakChange& live = valid.back();
            const RecentAllocation* now = recent_in(live.slot);
            if (now != nullptr && now->generation == live.generation) {
                live.name = now->name;  // it may have another name by now
            }
        }
    }

    void find_highest() {
        std::sort(changes_.begin(), changes_.end(),
                  [](const PeakChange& a, const PeakChange& b) { return a.order() < b.order(); });
        SumsByName sums = before_;
        uint64_t highest = sums.all().requested;
        size_t end = 0;
        for (size_t i = 0; i < changes_.size(); ++i) {
            unsettled_ += sums.apply(changes_[i]) ? 0u : 1u;
            if (sums.all().requested > highest) {
                highest = sums.all().requested;
                end = i + 1;
            }
        }
        requested_now_ = sums.all().requested;
        highest_ = std::move(before_);
        for (size_t i = 0; i < end; ++i) {
            highest_.apply(changes_[i]);
        }
        assert(highest_.all().requested == highest);
        highest_ticks_ = end == 0 ? reach_.value_or(0) : changes_[end - 1].ticks;
    }

    void describe_times(const segment::Clock& clock) {
        highest_age_ns_ = clock.age_ns(highest_ticks_);
        reach_age_ns_ = reach_ ? clock.age_ns(*reach_) : 0;
    }

    std::optional<uint64_t> used_peak() const {
        std::optional<uint64_t> only;
        for (const segment::SetTotals& set : sets_) {
            if (set.generation != 1) {
                return std::nullopt;  // an earlier set with this number had a peak of its own
            }
            for (size_t kind = 0; kind < set.pools.size(); ++kind) {
                const bool is_asked = !has_device_ || ledger_.sets[set.index].is_asked;
                if (is_asked && is_of_kind(static_cast<segment::AllocationKind>(kind)) &&
                    set.pools[kind].peak != 0) {
                    if (only) {
                        return std::nullopt;
                    }
                    only = set.pools[kind].peak;
                }
            }
        }
        return only.value_or(0);
    }

    const SelectedLedger& ledger_;
    const std::vector<segment::SetTotals>& sets_;
    Kind kind_;
    bool has_device_;
    uint64_t most_records_;
    std::vector<uint64_t> opened_ticks_;  // by set
    std::vector<PeakChange> changes_;
    std::vector<uint64_t> without_devices_;  // ticks of changes on unknown devices
    std::vector<uint32_t> changed_slots_;    // ascending
    std::vector<RecentAllocation> recent_;   // by slot
    SumsByName before_;                      // live before the first change
    std::vector<bool> is_before_;            // by slot: the ledger has it, and it is in before_
    std::optional<uint64_t> reach_;
    uint64_t missing_ = 0;
    uint64_t unsettled_ = 0;
    uint64_t contradictions_ = 0;
    SumsByName highest_;
    uint64_t requested_now_ = 0;
    uint64_t highest_ticks_ = 0;
    uint64_t highest_age_ns_ = 0;
    uint64_t reach_age_ns_ = 0;
};

}  // namespace

base::Expected<PeakPage> find_peaks(const Census& census, const PeakQuery& query, uint64_t now_ns,
                                    uint64_t most_rows, uint64_t most_records) {
    const auto selection = Selection::of(census, {.device = query.device, .pid = query.pid});
    if (!selection) {
        return tl::unexpected(selection.error());
    }
    if (selection->has_several_devices()) {
        return base::error(base::Error::Code::refused,
                           "a peak is that of one device, not of " + *query.device);
    }
    std::map<uint32_t, uint64_t> ledgers_of;  // by user
    for (const SelectedLedger& ledger : selection->ledgers()) {
        ++ledgers_of[ledger.process->identity.uid];
    }
    PeakPage page;
    for (const SelectedLedger& ledger : selection->ledgers()) {
        if (ledger.process->is_beyond_share) {
            continue;
        }
        PeakSearch search(*selection, ledger, query, most_records / ledgers_of[ledger.process->identity.uid]);
        search.run();
        if (search.is_empty()) {
            continue;
        }
        search.add_inexactness(page.inexact);
        page.processes.push_back(
            search.result(now_ns, std::min(query.limit == 0 ? UINT64_MAX : query.limit, most_rows)));
        most_rows -= page.processes.back().names.size();
    }
    return page;
}

}  // namespace ttmem::census
