// SPDX-License-Identifier: Apache-2.0
#include "tests/crash/verdict.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <set>

#include "segment/reader.hpp"
#include "tests/crash/victim.hpp"
#include "tests/support/oracle.hpp"

namespace ttmem::crash {

using segment::Allocation;
using segment::Event;
using segment::EventType;
using segment::Reader;
using segment::SlotRef;

namespace {

constexpr uint32_t kEntries = kMostThreads * kEntriesPerThread;

// Reads the bytes directly, because the reader does not show the generation of a free slot.
class Raw {
public:
    explicit Raw(int file) {
        struct stat info {};
        fstat(file, &info);
        size_ = static_cast<size_t>(info.st_size);
        start_ = static_cast<unsigned char*>(mmap(nullptr, size_, PROT_READ, MAP_SHARED, file, 0));
    }
    ~Raw() { munmap(start_, size_); }
    Raw(const Raw&) = delete;
    Raw& operator=(const Raw&) = delete;

    const segment::Header& header() const { return *reinterpret_cast<const segment::Header*>(start_); }
    uint64_t generation(uint32_t slot) const { return at(slot).generation(); }
    // The current or last owner of the slot. A free slot keeps its payload until it is reused.
    uint64_t last_owner(uint32_t slot) const {
        uint64_t payload[segment::LedgerSlot::kPayloadWords];
        for (size_t i = 0; i < segment::LedgerSlot::kPayloadWords; ++i) {
            payload[i] = at(slot).word[1 + i].load();
        }
        return segment::decode_allocation(payload).owner;
    }

private:
    const segment::LedgerSlot& at(uint32_t slot) const {
        const auto& region = header().region[static_cast<uint32_t>(segment::RegionId::ledger)];
        return reinterpret_cast<const segment::LedgerSlot*>(start_ + region.offset)[slot];
    }

    size_t size_ = 0;
    unsigned char* start_ = nullptr;
};

class Examination {
public:
    Examination(const Reader& reader, const Raw& raw, const SharedLog& log)
        : reader_(reader), raw_(raw), log_(log) {}

    Verdict run() {
        read_ledger();
        check_entries();
        check_rings();
        check_intents();
        check_pools();
        verdict_.live = ledger_.size();
        verdict_.names_used = raw_.header().names_used.load();
        return std::move(verdict_);
    }

private:
    void complain(const std::string& text) {
        if (verdict_.problems.size() < 10) {
            verdict_.problems.push_back(text);
        }
    }
    void read_ledger();
    void check_entries();
    void check_rings();
    void check_record(uint32_t line, const Event& event);
    void check_intents();
    std::optional<InFlight> examine_intent(uint32_t worker, SlotRef event);
    void check_pools();

    const Reader& reader_;
    const Raw& raw_;
    const SharedLog& log_;
    Verdict verdict_;
    std::map<uint32_t, SlotRef> ledger_;                  // by entry
    std::map<uint32_t, std::vector<uint32_t>> in_doubt_;  // entries, by worker
    std::map<uint32_t, std::set<uint64_t>> ring_events_;  // packed SlotRefs of the kept events, by line
};

Allocation as_logged(const Entry& entry, uint32_t index) {
    Allocation a;
    a.owner = index;
    a.address = entry.address;
    a.requested = entry.requested;
    a.reserved = entry.reserved;
    a.set = entry.set;
    a.kind = entry.kind;
    a.flags = entry.flags;
    return a;
}

// Every live slot must match one allocation of the log in all fields, and each allocation appears once.
void Examination::read_ledger() {
    reader_.for_each_live([&](SlotRef ref, const Allocation& a) {
        if (a.owner >= kEntries) {
            complain("a slot has an owner that never was: " + std::to_string(a.owner));
            return true;
        }
        const auto index = static_cast<uint32_t>(a.owner);
        const Entry& entry = log_.entry[index];
        const Allocation wanted = as_logged(entry, index);
        if (a.address != wanted.address || a.requested != wanted.requested || a.reserved != wanted.reserved ||
            a.set != wanted.set || a.kind != wanted.kind || a.flags != wanted.flags ||
            reader_.name(a.name) != path_name(entry.path)) {
            complain("a slot is not as reported: owner " + std::to_string(index));
        }
        if (!ledger_.emplace(index, ref).second) {
            complain("an allocation is in the ledger twice: owner " + std::to_string(index));
        }
        return true;
    });
}

// An allocation that is not being changed must be in the ledger exactly if the log has it as live.
void Examination::check_entries() {
    for (uint32_t i = 0; i < kEntries; ++i) {
        const Entry& entry = log_.entry[i];
        const bool in_ledger = ledger_.contains(i);
        switch (entry.step.load()) {
            case Step::none:
            case Step::freed:
                if (in_ledger) {
                    complain("the ledger has what was freed: owner " + std::to_string(i));
                }
                break;
            case Step::live:
                if (!in_ledger) {
                    complain("the ledger lacks what is live: owner " + std::to_string(i));
                }
                break;
            case Step::allocating:
            case Step::freeing:
                in_doubt_[entry.by].push_back(i);
                break;
        }
    }
    for (const auto& [worker, entries] : in_doubt_) {
        if (entries.size() > 1 && log_.thread[worker].bulk.load() == 0) {
            complain("more than one event of a thread is in doubt");
        }
    }
}

void Examination::check_record(uint32_t line, const Event& event) {
    const bool is_allocation = event.type == EventType::allocate;
    if (event.type == EventType::open_set || event.type == EventType::close_set) {
        return;
    }
    if (event.type != EventType::allocate && event.type != EventType::free) {
        return complain("a record has no type that was written");
    }
    if (event.slot.slot >= reader_.slots_used() || segment::is_live(event.slot.generation) != is_allocation ||
        event.kind > segment::AllocationKind::cb || event.set >= segment::kMaxSets) {
        return complain("a record is not sound");
    }
    if (raw_.generation(event.slot.slot) < event.slot.generation) {
        complain("a record is newer than the ledger");
    }
    ring_events_[line].insert(event.slot.pack());
}

void Examination::check_rings() {
    segment::Cursor cursor;
    reader_.follow(cursor, [&](uint32_t line, const Event& event) { check_record(line, event); });
    if (cursor.kept() + cursor.lost() != reader_.events_written()) {
        complain("kept and lost records are not those that were written");
    }
    // The log has the events of completed operations. One more event may have been in progress, or several in bulk.
    uint64_t least = 1;  // the shared set was opened earlier
    uint64_t most = 1;
    for (uint32_t worker = 0; worker < kMostThreads; ++worker) {
        const uint64_t events = log_.thread[worker].events.load();
        least += events;
        most += events + std::max(uint64_t{1}, log_.thread[worker].bulk.load());
    }
    if (reader_.events_written() < least || reader_.events_written() > most) {
        complain("events written: " + std::to_string(reader_.events_written()) + ", logged between " +
                 std::to_string(least) + " and " + std::to_string(most));
    }
}

// The intent names the single event in flight. The slot shows whether the ledger has it.
std::optional<InFlight> Examination::examine_intent(uint32_t worker, SlotRef event) {
    InFlight flight;
    flight.worker = worker;
    flight.event = event;
    if (event.slot >= reader_.slots_used()) {
        complain("an intent names a slot that never was");
        return std::nullopt;
    }
    const uint64_t now = raw_.generation(event.slot);
    if (log_.thread[worker].bad_free.load() != 0) {
        flight.bad_free = true;
        if (segment::is_live(event.generation) || now < event.generation) {
            complain("an intent of a second free names what is still to come");
        }
        return flight;
    }
    if (now != event.generation && now + 1 != event.generation) {
        complain("an intent names another generation than its slot's: " + std::to_string(event.generation) +
                 ", and " + std::to_string(now));
        return std::nullopt;
    }
    flight.in_ledger = now == event.generation;
    const bool is_allocation = segment::is_live(event.generation);
    const Step step = is_allocation ? Step::allocating : Step::freeing;
    // The entry of the event: the one in the slot or, for an allocation that is not in the ledger yet, the one in
    // doubt.
    uint64_t index = kEntries;
    if (flight.in_ledger || !is_allocation) {
        index = raw_.last_owner(event.slot);
    } else if (in_doubt_[worker].size() == 1) {
        index = in_doubt_[worker].front();
    }
    if (index >= kEntries || log_.entry[index].step.load() != step || log_.entry[index].by != worker) {
        complain("an intent names what was not in doubt");
        return std::nullopt;
    }
    const auto number = static_cast<uint32_t>(index);
    if (ledger_.contains(number) != (flight.in_ledger == is_allocation)) {
        complain("an intent tells wrongly whether the ledger has its event");
    }
    flight.allocation = as_logged(log_.entry[number], number);
    return flight;
}

void Examination::check_intents() {
    std::set<uint32_t> workers;
    for (const segment::WriterState& writer : reader_.writers()) {
        if (writer.intent == 0) {
            continue;
        }
        std::optional<uint32_t> worker;
        for (uint32_t i = 0; i < kMostThreads; ++i) {
            if (writer.thread != 0 && log_.thread[i].id.load() == writer.thread) {
                worker = i;
            }
        }
        if (!worker || !workers.insert(*worker).second) {
            complain("an intent is of no thread that was at work, or a thread has two");
            continue;
        }
        if (auto flight = examine_intent(*worker, SlotRef::unpack(writer.intent))) {
            flight->in_ring = !flight->bad_free && ring_events_[writer.line].contains(writer.intent);
            if (flight->in_ring && !flight->in_ledger) {
                complain("the ring has an event that the ledger lacks");
            }
            verdict_.in_flight.push_back(*flight);
        }
    }
}

// Pools must equal the sums of the ledger, except for events in flight that the ledger has. Each figure of a pool may
// lack any of these.
bool lags(uint64_t pool, uint64_t sum, const std::vector<uint64_t>& missing) {
    for (uint32_t subset = 0; subset < 1u << missing.size(); ++subset) {
        uint64_t value = pool;
        for (size_t i = 0; i < missing.size(); ++i) {
            value += (subset >> i & 1) != 0 ? missing[i] : 0;
        }
        if (value == sum) {
            return true;
        }
    }
    return false;
}

void Examination::check_pools() {
    test::Pools pools = test::pools_of(reader_.totals());
    test::Pools sums = test::pools_of(reader_.totals_from_ledger());
    std::map<std::pair<uint32_t, segment::AllocationKind>, std::vector<test::Pools::mapped_type>> missing;
    for (InFlight& flight : verdict_.in_flight) {
        if (!flight.allocation || !flight.in_ledger) {
            continue;
        }
        const Allocation& a = *flight.allocation;
        test::Live live;
        live.set = a.set;
        live.kind = a.kind;
        live.flags = a.flags;
        live.requested = a.requested;
        live.reserved = a.reserved;
        segment::PoolTotals change = test::pools_of({live}).begin()->second;
        if (!segment::is_live(flight.event.generation)) {
            change.used = -change.used;
            change.requested = -change.requested;
            change.count = -change.count;
            change.planned = -change.planned;
            change.views = -change.views;
        }
        const std::pair<uint32_t, segment::AllocationKind> key{a.set, a.kind};
        missing[key].push_back(change);
        flight.counted = pools[key] == sums[key];
    }
    for (const auto& [key, sum] : sums) {
        pools.try_emplace(key);
    }
    for (const auto& entry : pools) {
        const segment::PoolTotals& pool = entry.second;
        const segment::PoolTotals& sum = sums[entry.first];
        const std::vector<segment::PoolTotals>& lacking = missing[entry.first];
        const auto figure_lags = [&](uint64_t segment::PoolTotals::*figure) {
            std::vector<uint64_t> changes;
            changes.reserve(lacking.size());
            for (const segment::PoolTotals& change : lacking) {
                changes.push_back(change.*figure);
            }
            return lags(pool.*figure, sum.*figure, changes);
        };
        if (!figure_lags(&segment::PoolTotals::used) || !figure_lags(&segment::PoolTotals::requested) ||
            !figure_lags(&segment::PoolTotals::count)) {
            complain("a pool differs from the ledger by more than the events in flight");
        }
        if (lacking.empty() && pool != sum) {
            complain("a pool without an event in flight differs from the ledger");
        }
    }
    for (const segment::SetTotals& set : reader_.totals().sets) {
        for (const segment::PoolTotals& pool : set.pools) {
            if (pool.peak < pool.used && verdict_.in_flight.empty()) {
                complain("a pool is above its peak");
            }
        }
    }
}

}  // namespace

Verdict examine(base::Descriptor segment, const SharedLog& log) {
    const Raw raw(segment.get());
    const auto reader = Reader::open(std::move(segment));
    if (!reader) {
        Verdict verdict;
        verdict.problems.push_back("the segment " + reader.error().text);
        return verdict;
    }
    return Examination(*reader, raw, log).run();
}

}  // namespace ttmem::crash
