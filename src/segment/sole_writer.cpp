// SPDX-License-Identifier: Apache-2.0
#include "segment/sole_writer.hpp"

#include <algorithm>
#include <cstring>

#include "segment/clock.hpp"

namespace ttmem::segment {

namespace {

// Nobody else stores here. SYNC POINT: with Reader::totals().
void add(Word& word, uint64_t amount) {
    word.store(word.load(std::memory_order_relaxed) + amount, std::memory_order_release);
}

uint32_t next_index(Word& mark) { return static_cast<uint32_t>(mark.load(std::memory_order_relaxed)); }

template <class Slot, class Payload>
void publish(Slot& slot, const Payload& payload) {
    static_assert(sizeof(Payload) <= Slot::kPayloadWords * sizeof(uint64_t));
    uint64_t words[Slot::kPayloadWords] = {};
    std::memcpy(words, &payload, sizeof payload);
    if (is_live(slot.generation())) {
        slot.retire(slot.generation());
    }
    slot.publish(words, next_generation(slot.generation()));
}

}  // namespace

uint64_t SoleWriter::bytes_of(const Sizes& sizes) {
    Region table[kRegionTableEntries] = {};
    return lay_out(sizes, table);
}

Region SoleWriter::region_of(const Sizes& sizes, RegionId id) {
    Region table[kRegionTableEntries] = {};
    lay_out(sizes, table);
    return table[static_cast<uint32_t>(id)];
}

template <class T>
T* SoleWriter::region(RegionId id) const {
    return reinterpret_cast<T*>(memory_ + header_.region[static_cast<uint32_t>(id)].offset);
}

SoleWriter::SoleWriter(unsigned char* memory, const Sizes& sizes, uint32_t pid, uint64_t start_time)
    : memory_(memory),
      header_(*reinterpret_cast<Header*>(memory)),
      writer_(*reinterpret_cast<Writer*>(memory + region_of(sizes, RegionId::writers).offset)),
      ring_records_(sizes.ring_records) {
    header_.abi_version = kAbiVersion;
    header_.header_bytes = sizeof(Header);
    header_.segment_bytes = lay_out(sizes, header_.region);
    header_.pid = pid;
    header_.start_time = start_time;
    header_.clock_kind = static_cast<uint32_t>(ClockKind::monotonic_ns);
    const Moment now = Clock::now(ClockKind::monotonic_ns);
    header_.clock_ticks = now.ticks;
    header_.clock_monotonic_ns = now.monotonic_ns;
    ring_ = region<RingRecord>(RegionId::rings);
    ledger_ = region<LedgerSlot>(RegionId::ledger);
    pools_ = region<Pool>(RegionId::pools);
    tallies_ = region<Tally>(RegionId::tallies);
    // The first name and the first core set stand for none.
    header_.names_used.store(1, std::memory_order_relaxed);
    header_.core_sets_used.store(1, std::memory_order_relaxed);
    header_.writers_used.store(1, std::memory_order_relaxed);
    // SYNC POINT: with segment::Reader, which takes a segment without the magic for an unfinished one.
    header_.magic.store(kMagic, std::memory_order_release);
}

uint32_t SoleWriter::add_name(std::string_view text) {
    const uint32_t index = next_index(header_.names_used);
    const auto length = static_cast<uint32_t>(std::min<size_t>(text.size(), kMaxNameBytes));
    region<Name>(RegionId::names)[index].publish(text.data(), length, 0);
    add(header_.names_used, 1);
    return index;
}

uint32_t SoleWriter::add_device(const ttmem_device_info& info) {
    const uint32_t index = next_index(header_.devices_used);
    publish(region<DeviceSlot>(RegionId::devices)[index], info);
    add(header_.devices_used, 1);
    return index;
}

uint8_t SoleWriter::open_set(uint64_t members, uint32_t label, uint64_t ticks) {
    const uint32_t index = next_index(header_.sets_used);
    DeviceSet set;
    set.members = members;
    set.opened_ticks = ticks;
    set.label = label;
    publish(region<SetSlot>(RegionId::sets)[index], set);
    add(header_.sets_used, 1);
    return static_cast<uint8_t>(index);
}

void SoleWriter::use_slots(uint32_t count) { header_.slots_used.store(count, std::memory_order_release); }

void SoleWriter::tell(EventType type, const Allocation& a, SlotRef slot, uint64_t ticks) {
    Event event;
    event.type = type;
    event.kind = a.kind;
    event.ticks = ticks;
    event.slot = slot;
    event.address = a.address;
    event.requested = a.requested;
    event.name = static_cast<uint16_t>(a.name);
    event.set = a.set;
    event.adds_bytes = adds_bytes(a.flags);
    uint64_t record[kRecordWords];
    encode(event, record);
    append_record(ring_, ring_records_, writer_.head, record);
}

// Adds (direction 1) or takes (direction -1, modulo 2^64) what an allocation counts for.
// SYNC POINT: with Reader::totals(): who sees a counter of this event sees its intent, or its end.
void SoleWriter::count_in_pool(const Allocation& a, uint64_t direction) {
    const uint32_t index = pool_index(a.set, a.kind);
    Tally& tally = tallies_[index];
    if (!adds_bytes(a.flags)) {
        add(tally.planned_and_views, (a.flags & kPlanned) != 0 ? direction : direction << 32);
        return;
    }
    Pool& pool = pools_[index];
    add(pool.used, a.reserved * direction);
    const uint64_t level = pool.used.load(std::memory_order_relaxed);
    if (direction == 1 && level > pool.peak.load(std::memory_order_relaxed)) {
        pool.peak.store(level, std::memory_order_relaxed);
    }
    add(tally.requested, a.requested * direction);
    add(tally.count, direction);
    if ((a.flags & kReservedUnknown) != 0) {
        add(tally.reserved_unknown, direction);
    }
}

void SoleWriter::allocate(uint32_t slot, const Allocation& a) {
    LedgerSlot& target = ledger_[slot];
    const SlotRef ref{slot, next_generation(target.generation())};
    uint64_t payload[LedgerSlot::kPayloadWords];
    encode(a, ref.generation, payload);
    writer_.intent.store(ref.pack(), std::memory_order_release);
    target.publish(payload, ref.generation);
    tell(EventType::allocate, a, ref, a.ticks);
    count_in_pool(a, 1);
    writer_.intent.store(0, std::memory_order_release);
}

void SoleWriter::free(uint32_t slot, uint64_t ticks) {
    LedgerSlot& target = ledger_[slot];
    const uint64_t generation = target.generation();
    const SlotRef ended{slot, next_generation(generation)};
    const Allocation a = at(slot);
    writer_.intent.store(ended.pack(), std::memory_order_release);
    target.retire(generation);
    tell(EventType::free, a, ended, ticks);
    count_in_pool(a, UINT64_MAX);
    writer_.intent.store(0, std::memory_order_release);
}

Allocation SoleWriter::at(uint32_t slot) const {
    uint64_t payload[LedgerSlot::kPayloadWords] = {};
    ledger_[slot].read(payload);
    return decode_allocation(payload);
}

void SoleWriter::count(Inexact what) { add(header_.inexact[static_cast<uint32_t>(what)], 1); }

void SoleWriter::add_failure(const Failure& failure) {
    Word& total = header_.failures[failure.type];
    const uint32_t index =
        failure_index(static_cast<FailureType>(failure.type), total.load(std::memory_order_relaxed));
    publish(region<FailureSlot>(RegionId::failures)[index], failure);
    add(total, 1);
}

}  // namespace ttmem::segment
