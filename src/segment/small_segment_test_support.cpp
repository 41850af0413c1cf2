// SPDX-License-Identifier: Apache-2.0
#include "segment/small_segment_test_support.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

namespace ttmem::segment {

namespace {

constexpr size_t kAlignment = 64;

uint64_t round_up(uint64_t value, uint64_t step) { return (value + step - 1) / step * step; }

template <class Slot, class Payload>
void publish(Slot& slot, const Payload& payload, uint64_t generation) {
    uint64_t words[Slot::kPayloadWords] = {};
    static_assert(sizeof payload <= sizeof words);
    std::memcpy(words, &payload, sizeof payload);
    slot.publish(words, generation);
}

void raise(Word& mark, uint64_t least) { mark.store(std::max(mark.load(), least)); }

// A test whose setup fails must not pass.
void require(bool good) {
    if (!good) {
        std::abort();
    }
}

}  // namespace

int all_seals() { return F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL; }

Shape::Shape() {
    count_of(RegionId::devices) = 3;
    count_of(RegionId::sets) = 4;
    count_of(RegionId::core_sets) = 4;
    count_of(RegionId::pools) = 4 * kKindsPerSet;
    count_of(RegionId::tallies) = 2;
    count_of(RegionId::names) = 8;
    count_of(RegionId::failures) = kFailureTypes * kFailuresPerType;
    count_of(RegionId::writers) = 2;
    count_of(RegionId::rings) = 2;
    count_of(RegionId::ledger) = 48;
    count_of(RegionId::cards) = 2;
    count_of(RegionId::chips) = 3;
    count_of(RegionId::marks) = 2;
}

void SmallSegment::Unmap::operator()(unsigned char* memory) const {
    ::operator delete (memory, std::align_val_t{kAlignment});
}

SmallSegment::SmallSegment(const Shape& shape) {
    const size_t strides[kRegions] = {
        sizeof(DeviceSlot),
        sizeof(SetSlot),
        sizeof(CoreSetSlot),
        sizeof(Pool),
        sizeof(Tally) * kKindsPerSet * shape.count[static_cast<uint32_t>(RegionId::sets)],
        sizeof(Name),
        sizeof(FailureSlot),
        sizeof(WriterLine),
        sizeof(RingRecord) * shape.ring_records,
        sizeof(LedgerSlot),
        kCardBytes,
        sizeof(ChipCounters),
        kMarkBytes,
    };
    Region table[kRegionTableEntries] = {};
    const uint64_t first = round_up(sizeof(Header) + shape.extra_header, kAlignment);
    uint64_t offset = round_up(first + shape.unknown_region, kAlignment);
    for (uint32_t i = 0; i < kRegions; ++i) {
        table[i] = {offset, static_cast<uint32_t>(strides[i]) + shape.extra[i], shape.count[i]};
        offset = round_up(offset + table[i].bytes(), kAlignment);
    }
    size_ = round_to_page(offset);
    bytes_.reset(static_cast<unsigned char*>(::operator new (size_, std::align_val_t{kAlignment})));
    std::memset(bytes_.get(), 0, size_);
    if (shape.unknown_region != 0) {
        table[kRegions] = {first, shape.unknown_region, 1};
        std::memset(bytes_.get() + first, 0xff, shape.unknown_region);
    }
    header().magic.store(kMagic);
    header().version = kSegmentVersion;
    header().header_bytes = static_cast<uint32_t>(sizeof(Header)) + shape.extra_header;
    header().segment_bytes = size_;
    header().pid = 4242;
    header().start_time = 777;
    header().clock_kind = static_cast<uint32_t>(ClockKind::monotonic_ns);
    std::memcpy(header().region, table, sizeof table);
    header().names_used.store(1);
    header().core_sets_used.store(1);
}

void SmallSegment::put_name(uint32_t id, const std::string& text, uint32_t parent) {
    entry<Name>(RegionId::names, id).publish(text.data(), static_cast<uint32_t>(text.size()), parent);
    raise(header().names_used, id + 1);
}

void SmallSegment::put_set(uint32_t index, uint64_t members, uint64_t closed_ticks) {
    DeviceSet set;
    set.members = members;
    set.opened_ticks = 1;
    set.closed_ticks = closed_ticks;
    set.label = 1;
    publish(entry<SetSlot>(RegionId::sets, index), set, 1);
    raise(header().sets_used, index + 1);
}

void SmallSegment::put_allocation(uint32_t slot, const Allocation& a, uint64_t generation) {
    uint64_t payload[LedgerSlot::kPayloadWords];
    encode(a, generation, payload);
    entry<LedgerSlot>(RegionId::ledger, slot).publish(payload, generation);
    raise(header().slots_used, slot + 1);
    raise(header().writers_used, 1);
    Tally& share = tally(0, a.set, a.kind);
    if (a.flags.has(AllocationFlag::planned)) {
        share.planned_and_views.fetch_add(1);
    } else if (a.flags.has(AllocationFlag::view)) {
        share.planned_and_views.fetch_add(uint64_t{1} << 32);
    } else {
        Pool& pool = entry<Pool>(RegionId::pools, pool_index(a.set, a.kind));
        raise(pool.peak, pool.used.fetch_add(a.reserved) + a.reserved);
        share.requested.fetch_add(a.requested);
        share.count.fetch_add(1);
        share.reserved_unknown.fetch_add(a.flags.has(AllocationFlag::reserved_unknown) ? 1 : 0);
    }
}

void SmallSegment::put_event(uint32_t line, const Event& event) {
    uint64_t record[kRecordWords];
    encode(event, record);
    const uint64_t capacity = region(RegionId::rings).stride / sizeof(RingRecord);
    append_record(&entry<RingRecord>(RegionId::rings, line), capacity,
                  entry<WriterLine>(RegionId::writers, line).head, record);
    raise(header().writers_used, line + 1);
}

void SmallSegment::put_failure(FailureType type, uint64_t number, uint64_t ticks) {
    Failure failure;
    failure.ticks = ticks;
    failure.type = static_cast<uint8_t>(type);
    failure.address = number;
    FailureSlot& slot = entry<FailureSlot>(RegionId::failures, failure_index(type, number));
    publish(slot, failure, (slot.generation() | 1) + 2);
    raise(header().failures[static_cast<uint32_t>(type)], number + 1);
}

void SmallSegment::put_card(uint64_t number, uint32_t blocks) {
    auto* words = &entry<Word>(RegionId::cards, card_index(number));
    const auto put = [&](size_t word, const auto& object) {
        uint64_t values[sizeof object / sizeof(uint64_t)];
        std::memcpy(values, &object, sizeof object);
        for (size_t i = 0; i < sizeof object / sizeof(uint64_t); ++i) {
            words[word + i].store(values[i]);
        }
    };
    CardHead head;
    head.number = number;
    head.failure.ticks = 20;
    head.failure.card = number;
    head.bank_base = 0x1000;
    head.bank_size = 0x10'0000;
    head.banks = 12;
    head.live = blocks;
    head.gaps = head.sums = head.events = 1;
    head.blocks = blocks;
    put(1, head);
    put(kCardGapsWord, CardGap{0x2000, 64});
    put(kCardSumsWord, CardSum{3, blocks, 128});
    Event event;
    event.ticks = 16;
    event.address = 0x3000;
    uint64_t record[kRecordWords];
    encode(event, record);
    put(kCardEventsWord, record);
    for (uint32_t i = 0; i < blocks; ++i) {
        Allocation a;
        a.address = 0x1000 + uint64_t{i} * 32;
        a.reserved = 32;
        a.name = 3;
        uint64_t payload[kLedgerPayloadWords];
        encode(a, 1, payload);
        words[kCardBlocksWord + i * kCardBlockWords].store(SlotRef{i, 1}.pack());
        put(kCardBlocksWord + i * kCardBlockWords + 1, payload);
    }
    words[0].store((words[0].load() | 1) + 2);
    raise(header().cards, number);
}

void SmallSegment::fill() {
    ttmem_device_info info{};
    info.asic_id = 0xa51c;
    info.arch = TTMEM_ARCH_WORMHOLE_B0;
    std::memcpy(info.board, "n300", 4);
    info.memory[TTMEM_DRAM] = {1'048'640, 1'072'693'184, 12'872'318'208, 12, 32, TTMEM_BOTTOM_UP, 0};
    publish(entry<DeviceSlot>(RegionId::devices, 0), info, 1);
    header().devices_used.store(1);
    put_name(1, "device 0", 0);
    put_name(2, "decoder.3", 0);
    put_name(3, "ttnn::matmul", 2);
    put_set(0, 1);
    put_set(1, 1, 5);
    const CoreMask mask{0xff, 0xff};
    publish(entry<CoreSetSlot>(RegionId::core_sets, 1), mask, 1);
    header().core_sets_used.store(2);
    entry<WriterLine>(RegionId::writers, 0).thread.store(4242);
    for (uint32_t slot = 0; slot < 8; ++slot) {
        Allocation a;
        a.address = uint64_t{0x1000} * slot;
        a.requested = uint64_t{100} * slot;
        a.reserved = uint64_t{128} * slot;
        a.ticks = 10 + slot;
        a.owner = slot;
        a.name = slot % 4;
        a.thread = 4242;
        a.kind = static_cast<AllocationKind>(slot);
        a.core_set = a.kind == AllocationKind::cb ? 1 : 0;
        a.flags = slot == 3   ? AllocationFlag::planned
                  : slot == 4 ? AllocationFlag::view
                  : slot == 6 ? AllocationFlag::reserved_unknown
                              : AllocationFlag::none;
        put_allocation(slot, a);
        put_event(0, {EventType::allocate, a.kind, a.ticks, {slot, 1}, a.address, a.requested, 0, 0});
    }
    put_failure(FailureType::out_of_memory, 0, 20);
    put_failure(FailureType::unknown_free, 0, 21);
    put_card(1, 3);
    header().inexact[static_cast<uint32_t>(Inexact::unknown_free)].store(1);
}

Reader read(SmallSegment& segment) {
    auto reader = segment.read();
    if (!reader) {
        std::fprintf(stderr, "a small segment can't be read: %s\n", reader.error().text.c_str());
        std::abort();
    }
    return std::move(*reader);
}

base::Descriptor make_memfd(const void* bytes, size_t length, uint64_t size, int seals) {
    base::Descriptor file(memfd_create(kMemfdName, MFD_CLOEXEC | MFD_ALLOW_SEALING));
    require(file && ftruncate(file.get(), static_cast<off_t>(size)) == 0);
    static constexpr unsigned char kZeros[kPage] = {};
    for (size_t at = 0; at < length; at += kPage) {
        const auto* from = static_cast<const unsigned char*>(bytes) + at;
        const size_t part = std::min<size_t>(kPage, length - at);
        if (std::memcmp(from, kZeros, part) != 0) {
            require(pwrite(file.get(), from, part, static_cast<off_t>(at)) == static_cast<ssize_t>(part));
        }
    }
    require(seals == kNoSeals || fcntl(file.get(), F_ADD_SEALS, seals) == 0);
    return file;
}

base::Descriptor SmallSegment::memfd(int seals) { return make_memfd(bytes(), size(), size(), seals); }

}  // namespace ttmem::segment
