// SPDX-License-Identifier: Apache-2.0
#include "recording/segment_image.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <utility>

namespace ttmem::recording {

using base::Error;
using segment::Allocation;
using segment::EventType;
using segment::RegionId;

namespace {

// Differs from the name of a segment, which a reader would attribute to this process.
constexpr char kImageName[] = "ttmem-recording";

template <class Mark>
void raise_mark(Mark& mark, uint64_t used) {
    if (mark.load(std::memory_order_relaxed) < used) {
        mark.store(used, std::memory_order_release);
    }
}

void store_words(segment::Word* to, const void* object, size_t length) {
    for (size_t i = 0; i * sizeof(uint64_t) < length; ++i) {
        uint64_t word = 0;
        std::memcpy(&word, static_cast<const char*>(object) + i * sizeof word, sizeof word);
        to[i].store(word, std::memory_order_release);
    }
}

}  // namespace

base::Expected<SegmentImage> SegmentImage::make(uint32_t pid, uint64_t start_time, uint32_t slots,
                                                uint32_t ring_records) {
    segment::Sizes sizes;
    sizes.names = segment::kMaxNames;
    sizes.writers = 1;
    sizes.ring_records =
        std::bit_ceil(std::clamp(ring_records, segment::kMinRingRecords, segment::kMaxRingRecords));
    sizes.slots = std::clamp(slots, segment::kMinSlots, segment::kMaxSlots);
    sizes.cards = segment::kCards;
    const uint64_t bytes = segment::SegmentWriter::bytes_of(sizes);
    const auto failed = [](const char* what) {
        return base::error(Error::Code::failed,
                           std::string("can't ") + what + " for a recorded process: " + std::strerror(errno));
    };
    base::Descriptor file(memfd_create(kImageName, MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (!file || ftruncate(file.get(), static_cast<off_t>(bytes)) != 0) {
        return failed("make memory");
    }
    void* map = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
    if (map == MAP_FAILED) {
        return failed("map memory");
    }
    std::shared_ptr<void> mapping(map, [bytes](void* start) { munmap(start, bytes); });
    if (fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL) !=
        0) {
        return failed("seal memory");
    }
    // A reader reads a ring only if all of it exists.
    const segment::Region rings = segment::SegmentWriter::region_of(sizes, RegionId::rings);
    auto* memory = static_cast<unsigned char*>(map);
    for (uint64_t offset = 0; offset < rings.bytes(); offset += segment::kPage) {
        static_cast<volatile unsigned char*>(memory)[rings.offset + offset] = 0;
    }
    return SegmentImage(std::move(file), std::move(mapping), sizes, pid, start_time);
}

SegmentImage::SegmentImage(base::Descriptor file, std::shared_ptr<void> mapping, const segment::Sizes& sizes,
                           uint32_t pid, uint64_t start_time)
    : file_(std::move(file)),
      mapping_(std::move(mapping)),
      sizes_(sizes),
      writer_(static_cast<unsigned char*>(mapping_.get()), sizes, pid, start_time),
      loud_{writer_.region<segment::WriterLine>(RegionId::writers),
            writer_.region<segment::RingRecord>(RegionId::rings),
            uint64_t{sizes.ring_records} - 1,
            writer_.region<segment::LedgerSlot>(RegionId::ledger),
            writer_.region<segment::Pool>(RegionId::pools),
            writer_.region<segment::Tally>(RegionId::tallies)},
      quiet_{loud_.line, loud_.ring, loud_.ring_mask, loud_.ledger, loud_.pools, loud_.tallies} {}

base::Expected<segment::Reader> SegmentImage::reader(uint64_t now_ns) const {
    base::Descriptor file(fcntl(file_.get(), F_DUPFD_CLOEXEC, 0));
    auto reader = segment::Reader::open(std::move(file), mapping_);
    if (reader) {
        reader->set_now({now_ns, now_ns});
    }
    return reader;
}

uint64_t SegmentImage::used(segment::AllocationKind kind) const {
    uint64_t sum = 0;
    const auto& header = *static_cast<const segment::Header*>(mapping_.get());
    const uint64_t sets = header.sets_used.load(std::memory_order_relaxed);
    for (uint32_t set = 0; set < sets; ++set) {
        sum += loud_.pools[segment::pool_index(set, kind)].used.load(std::memory_order_relaxed);
    }
    return sum;
}

bool SegmentImage::use_slot(uint32_t slot) {
    if (slot >= sizes_.slots) {
        return false;
    }
    raise_mark(writer_.header().slots_used, uint64_t{slot} + 1);
    return true;
}

template <class Writer>
void SegmentImage::free(Writer& writer, uint32_t slot, uint64_t time_ns) {
    const uint64_t generation = writer.ledger[slot].generation();
    uint64_t what = 0;
    if (segment::is_live(generation)) {
        writer.free({slot, generation & segment::kGenerationMask}, time_ns, what);
    }
}

template <class Writer>
void SegmentImage::allocate(Writer& writer, const RecordedEvent& event) {
    free(quiet_, event.slot, event.time_ns);  // its own free was lost
    Allocation a = event.allocation;
    a.ticks = event.time_ns;
    a.set = a.set < segment::kMaxSets ? a.set : uint8_t{segment::kMaxSets - 1};  // a damaged file
    writer.allocate(event.slot, a);
}

void SegmentImage::apply(const RecordedEvent& event) {
    if (event.is_late) {
        return;
    }
    switch (event.type) {
        case EventType::allocate:
            if (use_slot(event.slot)) {
                allocate(loud_, event);
            }
            return;
        case EventType::free:
            if (use_slot(event.slot)) {
                free(loud_, event.slot, event.time_ns);
            }
            return;
        case EventType::open_set:
        case EventType::close_set:
        case EventType::failure:
            break;
    }
    segment::Event record;
    record.type = event.type;
    record.kind = event.allocation.kind;
    record.ticks = event.time_ns;
    record.slot = {event.slot & 0xff'ffffu, 0};
    record.requested = event.allocation.requested;
    record.name = static_cast<uint16_t>(event.allocation.name);
    record.set = event.allocation.set;
    record.failure = event.failure;
    loud_.append(record);
    if (event.type == EventType::failure) {
        segment::add_alone(writer_.header().failures[static_cast<uint32_t>(event.failure)], 1);
    }
}

void SegmentImage::set_peak(uint32_t pool, uint64_t bytes) {
    if (pool < segment::kMaxPools) {
        loud_.pools[pool].peak.store(bytes, std::memory_order_relaxed);
    }
}

void SegmentImage::set_totals(uint32_t pool, const segment::PoolTotals& totals) {
    if (pool >= segment::kMaxPools) {
        return;
    }
    loud_.pools[pool].used.store(totals.used, std::memory_order_relaxed);
    loud_.pools[pool].peak.store(totals.peak, std::memory_order_relaxed);
    segment::Tally& tally = loud_.tallies[pool];
    tally.requested.store(totals.requested, std::memory_order_relaxed);
    tally.count.store(totals.count, std::memory_order_relaxed);
    tally.planned_and_views.store(totals.views << 32 | (totals.planned & UINT32_MAX),
                                  std::memory_order_relaxed);
    tally.reserved_unknown.store(totals.reserved_unknown, std::memory_order_relaxed);
}

void SegmentImage::clear_totals() {
    for (uint32_t pool = 0; pool < segment::kMaxPools; ++pool) {
        set_totals(pool, {});
    }
}

bool SegmentImage::has_device(uint32_t index) {
    return index < writer_.header().devices_used.load(std::memory_order_relaxed);
}

void SegmentImage::apply(const TableEntry& entry) {
    segment::Header& header = writer_.header();
    const auto publish = [&]<class Slot, class Object>(std::type_identity<Slot>, RegionId region,
                                                       Object object, uint32_t count, auto& mark) {
        if (entry.index < count) {
            words_from_bytes(entry.bytes, static_cast<void*>(&object), sizeof object);
            segment::publish_object(writer_.region<Slot>(region)[entry.index], object);
            raise_mark(mark, uint64_t{entry.index} + 1);
        }
    };
    ByteReader from(entry.bytes);
    switch (entry.table) {
        case TableId::devices:
            publish(std::type_identity<segment::DeviceSlot>(), RegionId::devices, ttmem_device_info{},
                    segment::kMaxDevices, header.devices_used);
            break;
        case TableId::sets:
            publish(std::type_identity<segment::SetSlot>(), RegionId::sets, segment::DeviceSet{},
                    segment::kMaxSets, header.sets_used);
            break;
        case TableId::core_sets:
            publish(std::type_identity<segment::CoreSetSlot>(), RegionId::core_sets, segment::CoreMask{},
                    segment::kMaxCoreSets, header.core_sets_used);
            break;
        case TableId::failures:
            if (entry.index < segment::kFailureTypes * segment::kFailuresPerType) {
                segment::Failure failure;
                words_from_bytes(entry.bytes, static_cast<void*>(&failure), sizeof failure);
                segment::publish_object(writer_.region<segment::FailureSlot>(RegionId::failures)[entry.index],
                                        failure);
            }
            break;
        case TableId::names:
            if (entry.index != 0 && entry.index < sizes_.names) {
                const uint64_t parent = from.number();
                const std::string_view text =
                    std::string_view(entry.bytes).substr(entry.bytes.size() - from.left());
                writer_.region<segment::Name>(RegionId::names)[entry.index].publish(
                    text.data(), static_cast<uint32_t>(std::min<size_t>(text.size(), segment::kMaxNameBytes)),
                    static_cast<uint32_t>(parent));
                raise_mark(header.names_used, uint64_t{entry.index} + 1);
            }
            break;
        case TableId::pools:
            set_peak(entry.index, from.number());
            break;
        case TableId::pool_totals:
            set_totals(entry.index, totals_from_bytes(entry.bytes));
            break;
        case TableId::inexact:
            if (entry.index < segment::kInexactCounters) {
                header.inexact[entry.index].store(from.number(), std::memory_order_relaxed);
            }
            break;
        case TableId::failure_totals:
            if (entry.index < segment::kFailureTypes) {
                header.failures[entry.index].store(from.number(), std::memory_order_relaxed);
            }
            break;
        case TableId::cards:
            apply_card(entry);
            break;
        case TableId::marks:
            apply_mark(entry);
            break;
        default:
            break;  // of a newer recorder
    }
}

void SegmentImage::apply_card(const TableEntry& entry) {
    if (entry.index == 0) {
        return;
    }
    const segment::CardContents card = card_from_bytes(entry.bytes);
    const segment::Region region = segment::SegmentWriter::region_of(sizes_, RegionId::cards);
    auto* const words = writer_.region<segment::Word>(RegionId::cards) +
                        uint64_t{segment::card_index(entry.index)} * (region.stride / sizeof(segment::Word));
    const auto store = [&](size_t at, const void* object, size_t length) {
        store_words(words + at, object, length);
    };
    segment::CardHead head = card.head;
    head.number = entry.index;
    store(1, &head, sizeof head);
    for (size_t i = 0; i < card.gaps.size(); ++i) {
        store(segment::kCardGapsWord + i * 2, &card.gaps[i], sizeof card.gaps[i]);
    }
    for (size_t i = 0; i < card.sums.size(); ++i) {
        store(segment::kCardSumsWord + i * 2, &card.sums[i], sizeof card.sums[i]);
    }
    for (size_t i = 0; i < card.events.size(); ++i) {
        uint64_t record[segment::kRecordWords];
        segment::encode(card.events[i], record);
        store(segment::kCardEventsWord + i * segment::kRecordWords, record, sizeof record);
    }
    for (size_t i = 0; i < card.blocks.size(); ++i) {
        uint64_t block[segment::kCardBlockWords];
        uint64_t payload[segment::kLedgerPayloadWords];
        segment::encode(card.blocks[i].allocation, card.blocks[i].slot.generation, payload);
        block[0] = card.blocks[i].slot.pack();
        std::copy(std::begin(payload), std::end(payload), block + 1);
        store(segment::kCardBlocksWord + i * segment::kCardBlockWords, block, sizeof block);
    }
    // A reader needs the parts of fixed size to exist, whether or not they are in use.
    for (size_t i = 1 + segment::kCardHeadWords; i < segment::kCardBlocksWord;
         i += segment::kPage / sizeof(uint64_t)) {
        words[i].store(words[i].load(std::memory_order_relaxed), std::memory_order_relaxed);
    }
    words[segment::kCardBlocksWord - 1].store(
        words[segment::kCardBlocksWord - 1].load(std::memory_order_relaxed), std::memory_order_relaxed);
    words[0].store(words[0].load(std::memory_order_relaxed) / 2 * 2 + 1, std::memory_order_release);
    raise_mark(writer_.header().cards, entry.index);
}

void SegmentImage::apply_mark(const TableEntry& entry) {
    if (entry.index == 0) {
        return;
    }
    segment::MarkContents mark = mark_from_bytes(entry.bytes);
    mark.head.number = entry.index;
    const segment::Region region = segment::SegmentWriter::region_of(sizes_, RegionId::marks);
    auto* const words = writer_.region<segment::Word>(RegionId::marks) +
                        uint64_t{segment::mark_index(entry.index)} * (region.stride / sizeof(segment::Word));
    store_words(words + 1, &mark.head, sizeof mark.head);
    for (size_t i = 0; i < mark.totals.size(); ++i) {
        store_words(words + segment::kMarkTotalsWord + i * segment::kMarkTotalWords, &mark.totals[i],
                    sizeof mark.totals[i]);
    }
    words[0].store(words[0].load(std::memory_order_relaxed) / 2 * 2 + 1, std::memory_order_release);
    raise_mark(writer_.header().marks, entry.index);
}

void SegmentImage::LedgerUpdate::free_until(uint32_t slot) {
    const auto used =
        static_cast<uint32_t>(image_.writer_.header().slots_used.load(std::memory_order_relaxed));
    for (; next_ < std::min(slot, used); ++next_) {
        image_.free(image_.quiet_, next_, 0);
    }
}

void SegmentImage::LedgerUpdate::add(const RecordedEvent& allocation) {
    free_until(allocation.slot);
    if (image_.use_slot(allocation.slot)) {
        image_.allocate(image_.quiet_, allocation);
        next_ = std::max(next_, allocation.slot + 1);
    }
}

void SegmentImage::LedgerUpdate::finish() { free_until(UINT32_MAX); }

}  // namespace ttmem::recording
