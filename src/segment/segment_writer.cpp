// SPDX-License-Identifier: Apache-2.0
#include "segment/segment_writer.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstdint>
#include <cstring>

#include "segment/clock.hpp"

namespace ttmem::segment {

namespace {

uint32_t next_index(const Word& mark) { return static_cast<uint32_t>(mark.load(std::memory_order_relaxed)); }

// How many entries a region has room for.
[[maybe_unused]] uint32_t room(const Header& header, RegionId id) {
    return header.region[static_cast<uint32_t>(id)].count;
}

}  // namespace

uint64_t SegmentWriter::bytes_of(const Sizes& sizes) {
    Region table[kRegionTableEntries] = {};
    return lay_out(sizes, table);
}

Region SegmentWriter::region_of(const Sizes& sizes, RegionId id) {
    Region table[kRegionTableEntries] = {};
    lay_out(sizes, table);
    return table[static_cast<uint32_t>(id)];
}

SegmentWriter::SegmentWriter(unsigned char* memory, const Sizes& sizes, uint32_t pid, uint64_t start_time)
    : memory_(memory), header_(*reinterpret_cast<Header*>(memory)) {
    assert(reinterpret_cast<uintptr_t>(memory) % alignof(Header) == 0);
    assert(std::has_single_bit(sizes.ring_records));  // its mask is one less
    header_.version = kSegmentVersion;
    header_.header_bytes = sizeof(Header);
    header_.segment_bytes = lay_out(sizes, header_.region);
    header_.pid = pid;
    header_.start_time = start_time;
    header_.clock_kind = static_cast<uint32_t>(ClockKind::monotonic_ns);
    const Moment now = Clock::now(ClockKind::monotonic_ns);
    header_.clock_ticks = now.ticks;
    header_.clock_monotonic_ns = now.monotonic_ns;
    events_ = {region<WriterLine>(RegionId::writers), region<RingRecord>(RegionId::rings),
               uint64_t{sizes.ring_records} - 1,      region<LedgerSlot>(RegionId::ledger),
               region<Pool>(RegionId::pools),         region<Tally>(RegionId::tallies)};
    // The first name and the first core set stand for none.
    header_.names_used.store(1, std::memory_order_relaxed);
    header_.core_sets_used.store(1, std::memory_order_relaxed);
    header_.writers_used.store(1, std::memory_order_relaxed);
    // SYNC POINT: with Reader::check(), which takes a segment without the magic for an unfinished one.
    header_.magic.store(kMagic, std::memory_order_release);
}

uint32_t SegmentWriter::add_name(std::string_view text, uint32_t parent) {
    const uint32_t index = next_index(header_.names_used);
    assert(index < room(header_, RegionId::names) && parent < index);
    const auto length = static_cast<uint32_t>(std::min<size_t>(text.size(), kMaxNameBytes));
    region<Name>(RegionId::names)[index].publish(text.data(), length, parent);
    add_alone(header_.names_used, 1);
    return index;
}

uint32_t SegmentWriter::add_device(const ttmem_device_info& info) {
    const uint32_t index = next_index(header_.devices_used);
    assert(index < room(header_, RegionId::devices));
    publish_object(region<DeviceSlot>(RegionId::devices)[index], info);
    add_alone(header_.devices_used, 1);
    return index;
}

uint8_t SegmentWriter::open_set(const DeviceSet& set) {
    const uint32_t index = next_index(header_.sets_used);
    assert(index < room(header_, RegionId::sets));
    publish_object(region<SetSlot>(RegionId::sets)[index], set);
    add_alone(header_.sets_used, 1);
    return static_cast<uint8_t>(index);
}

uint16_t SegmentWriter::add_core_set(const uint16_t (&rows)[16]) {
    const uint32_t index = next_index(header_.core_sets_used);
    assert(index < room(header_, RegionId::core_sets));
    publish_object(region<CoreSetSlot>(RegionId::core_sets)[index], rows);
    add_alone(header_.core_sets_used, 1);
    return static_cast<uint16_t>(index);
}

void SegmentWriter::use_slots(uint32_t count) {
    assert(count <= room(header_, RegionId::ledger));
    header_.slots_used.store(count, std::memory_order_release);
}

void SegmentWriter::free(uint32_t slot, uint64_t ticks) {
    assert(slot < next_index(header_.slots_used));
    assert(is_live(region<LedgerSlot>(RegionId::ledger)[slot].generation()));
    uint64_t what = 0;
    events_.free({slot, region<LedgerSlot>(RegionId::ledger)[slot].generation()}, ticks, what);
}

void SegmentWriter::count(Inexact what) { add_alone(header_.inexact[static_cast<uint32_t>(what)], 1); }

uint32_t SegmentWriter::next_failure(FailureType type) const {
    return failure_index(type, header_.failures[static_cast<uint32_t>(type)].load(std::memory_order_relaxed));
}

void SegmentWriter::add_failure(const Failure& failure) {
    write_failure(header_, region<FailureSlot>(RegionId::failures), failure);
}

}  // namespace ttmem::segment
