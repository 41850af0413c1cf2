// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads a segment that another process writes, and that may be hostile. Everything is copied before it is checked, every
// index is checked against bounds that were copied once, and every loop ends: nothing in a segment can crash or hang a
// reader, or make it grow. Longer entries and unknown regions of a later writer are skipped. Several threads may use one
// reader at the same time.

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "segment/clock.hpp"
#include "segment/layout.hpp"
#include "segment/memory.hpp"
#include "ttmem/ttmem.h"

namespace ttmem::segment {

// What a pool holds now.
struct PoolTotals {
    uint64_t used = 0;
    uint64_t requested = 0;
    uint64_t peak = 0;
    uint64_t count = 0;
    uint64_t planned = 0;
    uint64_t views = 0;
    uint64_t reserved_unknown = 0;

    bool operator==(const PoolTotals&) const = default;
};

struct SetTotals {
    uint32_t index = 0;
    uint64_t generation = 0;
    DeviceSet set;
    std::array<PoolTotals, kKinds> pools{};

    bool is_open() const { return set.closed_ticks == 0; }
};

using ChipPeaksOfKinds = std::array<uint64_t, kChipKinds>;  // by chip_kind()

struct Totals {
    std::vector<SetTotals> sets;
    // By index of the device table: the highest sum over all sets. Nothing where the writer does not keep them.
    std::vector<std::optional<ChipPeaksOfKinds>> chips;
    bool settling = false;  // events were recorded meanwhile: the figures are not those of one moment
    // The work ran out: `used` and `peak` hold, `requested` equals `used`, and the rest is not known.
    bool is_cut = false;
};

struct WriterState {
    uint32_t line = 0;
    uint32_t thread = 0;  // 0: no thread's now
    uint64_t written = 0;
    uint64_t intent = 0;  // 0, or the SlotRef of the event in flight
};

// Where a reader is in all the rings of a segment.
struct Cursor {
    std::vector<RingPosition> rings;
    uint32_t first = 0;  // the ring to begin with, so that none is always the last

    uint64_t kept() const;
    uint64_t lost() const;
};

using CoreMask = std::array<uint16_t, 16>;  // bit x of row y

// What a bank held when a request failed.
struct CardBlock {
    SlotRef slot;
    Allocation allocation;
};
struct CardContents {
    CardHead head;
    std::vector<CardGap> gaps;      // the largest free blocks, by address
    std::vector<CardSum> sums;      // the most first
    std::vector<Event> events;      // the oldest first
    std::vector<CardBlock> blocks;  // by address, unless the segment is hostile
};

// What each name held at a moment that the process named.
struct MarkContents {
    MarkHead head;
    std::vector<MarkTotal> totals;
};

class Reader {
public:
    // `mapping` is that of a process which has mapped the whole file already (Memory::map()).
    static base::Expected<Reader> open(base::Descriptor file, std::shared_ptr<const void> mapping = nullptr);
    static base::Expected<Reader> over(const void* start, size_t size);

    // The process that the segment claims to belong to. Only the kernel knows whether that is true.
    uint32_t pid() const { return pid_; }
    uint64_t start_time() const { return start_time_; }
    Clock clock() const { return {clock_kind_, clock_then_, Clock::now(clock_kind_)}; }

    // By index of the device table; nothing where there is none, or it is just being changed.
    std::vector<std::optional<ttmem_device_info>> devices() const;

    // Every set, open or closed, whose entry is not used again yet; without its pools.
    std::vector<SetTotals> sets() const;

    // The pools of every set, from the counters: exact when neither settling nor cut. Each block of counters of one set and
    // one thread takes 1 of `work`, and each question to the kernel kQuestionWork; a hostile segment may have very many.
    Totals totals(uint64_t& work) const;
    Totals totals() const;
    static constexpr uint64_t kQuestionWork = 16;

    // What totals() and devices() would have to read now, from the header alone: blocks of counters, and devices. A hostile
    // segment may have more of them a moment later.
    uint64_t totals_work() const;

    // The same sums from the ledger, without peaks. The counters must equal them, and after a death only they hold.
    Totals totals_from_ledger() const;

    // Calls `take` for every live allocation in the first `slots` slots, in their order, until it returns false. A hostile
    // segment may have more slots at every call.
    void for_each_live(const std::function<bool(SlotRef, const Allocation&)>& take,
                       uint64_t slots = UINT64_MAX) const;

    // "decoder.3/ttnn::matmul", safe for a terminal; empty for 0 and for an unknown id. A very long one lacks its beginning.
    std::string name(uint64_t id) const;
    std::optional<CoreMask> cores(uint16_t core_set) const;

    // The failures that are kept, oldest first within each type, and the total of a type.
    std::vector<Failure> failures() const;
    uint64_t failure_count(FailureType type) const;

    // The card with this number. Nothing where it is not kept any more, or is just being written.
    std::optional<CardContents> card(uint64_t number) const;
    // The numbers of the cards that may be kept, the oldest first, and how many there ever were.
    std::vector<uint64_t> card_numbers() const;
    uint64_t card_count() const;

    // The marks that are kept, the oldest first, and how many there ever were.
    std::vector<MarkContents> marks() const;
    uint64_t mark_count() const;

    uint64_t inexact(Inexact what) const;

    std::vector<WriterState> writers() const;

    // Passes the events since the cursor to `take`, ring by ring, and stops after about `most`: a hostile segment can hold
    // very many. The next call goes on where this one stopped.
    template <class Take>  // void(uint32_t line, const Event&); a template, since events come by the million
    void follow(Cursor& cursor, const Take& take, uint64_t most = UINT64_MAX) const;

    // A cursor at the present: nothing before it counts as lost.
    Cursor cursor_at_end() const;

    uint32_t ring_capacity() const { return ring_capacity_; }
    // The host memory that the segment takes; holes take none.
    uint64_t resident_bytes() const { return memory_.resident_bytes(); }

    uint32_t slots_used() const;
    uint64_t events_written() const;

private:
    explicit Reader(Memory memory) : memory_(std::move(memory)) {}

    std::optional<base::Error> check();
    const Region& region(RegionId id) const { return region_[static_cast<uint32_t>(id)]; }
    uint32_t used(const Word Header::*mark, RegionId id) const;
    const Header& header() const { return *reinterpret_cast<const Header*>(memory_.start()); }
    template <class T>
    const T* entry(RegionId id, uint64_t index) const;
    // Both take the sets in the order of their index: then memory is read in order, and the kernel is asked about each hole once.
    void add_pools(std::vector<SetTotals>& sets) const;
    void add_chips(Totals& totals) const;
    std::optional<MarkContents> mark(uint64_t number) const;
    bool add_tallies(std::vector<SetTotals>& sets, uint32_t writers, uint64_t& work) const;

    struct Ring {
        const RingRecord* records = nullptr;  // null: it can't be read
        const Word* head = nullptr;
    };
    uint32_t writers_used() const { return used(&Header::writers_used, RegionId::writers); }
    Ring ring(uint32_t line) const;

    Memory memory_;
    std::array<Region, kRegions> region_{};
    uint32_t pid_ = 0;
    uint64_t start_time_ = 0;
    ClockKind clock_kind_ = ClockKind::monotonic_ns;
    Moment clock_then_;
    uint32_t ring_capacity_ = 0;
};

template <class Take>
void Reader::follow(Cursor& cursor, const Take& take, uint64_t most) const {
    const uint32_t lines = writers_used();
    if (cursor.rings.size() < lines) {
        cursor.rings.resize(lines);
    }
    for (uint32_t i = 0; i < lines; ++i) {
        const uint32_t line = (cursor.first + i) % lines;
        const Ring from = ring(line);
        if (from.records == nullptr) {
            continue;
        }
        RingPosition& position = cursor.rings[line];
        const uint64_t before = position.next;
        follow_ring(
            from.records, ring_capacity_, *from.head, position,
            [&](const uint64_t(&record)[kRecordWords]) { take(line, decode_event(record)); }, most);
        most -= std::min({most, position.next - before, uint64_t{ring_capacity_}});
        if (most == 0) {
            cursor.first = line + 1;
            return;
        }
    }
}

}  // namespace ttmem::segment
