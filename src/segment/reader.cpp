// SPDX-License-Identifier: Apache-2.0
#include "segment/reader.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>

#include "base/text.hpp"
#include "segment/writer.hpp"

namespace ttmem::segment {

using base::Error;

namespace {

constexpr int kQuietTries = 4;
constexpr uint32_t kMaxNameDepth =
    kMaxScopeDepth + 2;  // a path of scopes, a tag on it, and one more to find its end

// All rows of a list together may have very many bytes of names.
constexpr size_t kMaxPathBytes = 1024;
constexpr char kCutPath[] = "\u2026/";

// What a region must be so that this reader can walk it. A later writer may use longer strides, on the same alignment.
// The number of entries is bounded by the width of the numbers that name them.
struct RegionRule {
    RegionId id;
    uint32_t least_stride;
    uint32_t alignment;
    uint32_t least_count;
    uint32_t most_count;
};
constexpr RegionRule kRegionRules[kRegions] = {
    {RegionId::devices, sizeof(DeviceSlot), alignof(DeviceSlot), 1, kMaxDevices},
    {RegionId::sets, sizeof(SetSlot), alignof(SetSlot), 1, 256},
    {RegionId::core_sets, sizeof(CoreSetSlot), alignof(CoreSetSlot), 1, 65'536},
    {RegionId::pools, sizeof(Pool), alignof(Pool), 1, 256 * kKindsPerSet},
    {RegionId::tallies, sizeof(Tally), alignof(Tally), 1, kMaxWriters},
    {RegionId::names, sizeof(Name), alignof(Name), 1, kMaxNames},
    {RegionId::failures, sizeof(FailureSlot), alignof(FailureSlot), kFailureTypes* kFailuresPerType,
     UINT32_MAX},
    {RegionId::writers, sizeof(WriterLine), alignof(WriterLine), 1, kMaxWriters},
    {RegionId::rings, sizeof(RingRecord), alignof(RingRecord), 1, kMaxWriters},
    {RegionId::ledger, sizeof(LedgerSlot), alignof(LedgerSlot), 1, kMaxSlots},
    {RegionId::cards, kCardWords * sizeof(Word), alignof(Word), 0, UINT32_MAX},
    {RegionId::chips, sizeof(ChipCounters), alignof(ChipCounters), 0, kMaxDevices},
    {RegionId::marks, kMarkWords * sizeof(Word), alignof(Word), 0, UINT32_MAX},
};

bool fits(const Region& region, const RegionRule& need, uint64_t size) {
    return region.offset % 64 == 0 && region.offset >= sizeof(Header) &&
           region.stride % need.alignment == 0 && region.stride >= need.least_stride &&
           region.count >= need.least_count && region.count <= need.most_count && region.offset <= size &&
           region.bytes() <= size - region.offset;
}

template <class Slot>
bool read_slot(const Slot* slot, uint64_t (&payload)[Slot::kPayloadWords]) {
    return slot != nullptr && slot->read(payload) != 0;
}

}  // namespace

uint64_t Cursor::kept() const {
    return std::accumulate(rings.begin(), rings.end(), uint64_t{0},
                           [](uint64_t sum, auto& r) { return sum + r.kept; });
}

uint64_t Cursor::lost() const {
    return std::accumulate(rings.begin(), rings.end(), uint64_t{0},
                           [](uint64_t sum, auto& r) { return sum + r.lost; });
}

base::Expected<Reader> Reader::open(base::Descriptor file, std::shared_ptr<const void> mapping) {
    auto memory = Memory::map(std::move(file), std::move(mapping));
    if (!memory) {
        return tl::unexpected(std::move(memory.error()));
    }
    Reader reader(std::move(*memory));
    if (auto problem = reader.check()) {
        return tl::unexpected(std::move(*problem));
    }
    return reader;
}

base::Expected<Reader> Reader::over(const void* start, size_t size) {
    Reader reader(Memory::over(start, size));
    if (auto problem = reader.check()) {
        return tl::unexpected(std::move(*problem));
    }
    return reader;
}

// Copies from the header, once, all that later reads depend on.
std::optional<Error> Reader::check() {
    if (memory_.at(0, sizeof(Header)) == nullptr) {
        return Error{Error::Code::unfinished, "is empty"};
    }
    const Header& from = header();
    // SYNC POINT: with the last store of the writer that made the segment.
    const uint64_t magic = from.magic.load(std::memory_order_acquire);
    if (magic == 0) {
        return Error{Error::Code::unfinished, "is not finished"};
    }
    if (magic != kMagic) {
        return Error{Error::Code::refused, "does not start with the magic of a segment"};
    }
    // From here on the header does not change, but a hostile one may: one copy, then only the copy.
    Header copy{};
    std::memcpy(static_cast<void*>(&copy.version), &from.version,
                offsetof(Header, devices_used) - offsetof(Header, version));
    if (copy.version != kSegmentVersion) {
        const bool is_newer = copy.version > kSegmentVersion;
        return Error{Error::Code::refused,
                     "version " + std::to_string(copy.version) + ", this program reads " +
                         std::to_string(kSegmentVersion) +
                         (is_newer ? ": upgrade ttmem" : ": upgrade the libttmem of that process")};
    }
    if (copy.segment_bytes != memory_.size() || copy.header_bytes < sizeof(Header)) {
        return Error{Error::Code::refused, "claims " + std::to_string(copy.segment_bytes) +
                                               " bytes, and has " + std::to_string(memory_.size())};
    }
    for (const RegionRule& need : kRegionRules) {
        Region& region = region_[static_cast<uint32_t>(need.id)];
        region = copy.region[static_cast<uint32_t>(need.id)];
        if (need.least_count == 0 && region.count == 0) {
            region = {};  // an earlier writer, or one without
            continue;
        }
        if (!fits(region, need, memory_.size())) {
            return Error{Error::Code::refused, "has a region table that does not fit it"};
        }
    }
    const Region& rings = region(RegionId::rings);
    ring_capacity_ = rings.stride / sizeof(RingRecord);
    const uint64_t pools = uint64_t{region(RegionId::sets).count} * kKindsPerSet;
    if (!std::has_single_bit(ring_capacity_) || rings.count < region(RegionId::writers).count ||
        region(RegionId::tallies).count < region(RegionId::writers).count ||
        region(RegionId::tallies).stride < pools * sizeof(Tally) || region(RegionId::pools).count < pools) {
        return Error{Error::Code::refused, "has a region table that contradicts itself"};
    }
    pid_ = copy.pid;
    start_time_ = copy.start_time;
    clock_kind_ =
        copy.clock_kind == static_cast<uint32_t>(ClockKind::tsc) ? ClockKind::tsc : ClockKind::monotonic_ns;
    clock_then_ = {copy.clock_ticks, copy.clock_monotonic_ns};
    return std::nullopt;
}

template <class T>
const T* Reader::entry(RegionId id, uint64_t index) const {
    const Region& in = region(id);
    if (index >= in.count) {
        return nullptr;
    }
    return reinterpret_cast<const T*>(memory_.at(in.offset + index * in.stride, sizeof(T)));
}

uint32_t Reader::used(const Word Header::*mark, RegionId id) const {
    const uint64_t value = (header().*mark).load(std::memory_order_acquire);
    return static_cast<uint32_t>(std::min<uint64_t>(value, region(id).count));
}

std::vector<std::optional<ttmem_device_info>> Reader::devices() const {
    std::vector<std::optional<ttmem_device_info>> result(used(&Header::devices_used, RegionId::devices));
    for (size_t i = 0; i < result.size(); ++i) {
        uint64_t payload[DeviceSlot::kPayloadWords];
        if (read_slot(entry<DeviceSlot>(RegionId::devices, i), payload)) {
            ttmem_device_info info;
            std::memcpy(&info, payload, sizeof info);
            result[i] = info;
        }
    }
    return result;
}

std::vector<SetTotals> Reader::sets() const {
    std::vector<SetTotals> result;
    const uint32_t count = used(&Header::sets_used, RegionId::sets);
    for (uint32_t i = 0; i < count; ++i) {
        const auto* slot = entry<SetSlot>(RegionId::sets, i);
        uint64_t payload[SetSlot::kPayloadWords];
        const uint64_t generation = slot == nullptr ? 0 : slot->read(payload);
        if (generation != 0) {
            SetTotals set;
            set.index = i;
            set.generation = generation;
            std::memcpy(&set.set, payload, sizeof set.set);
            result.push_back(set);
        }
    }
    return result;
}

// SYNC POINT: with BasicEventWriter::count().
void Reader::add_pools(std::vector<SetTotals>& sets) const {
    const Region& pools = region(RegionId::pools);
    uint64_t hole_end = 0;
    for (SetTotals& set : sets) {
        for (uint32_t kind = 0; kind < kKinds; ++kind) {
            const uint64_t index = uint64_t{set.index} * kKindsPerSet + kind;
            const uint64_t offset = pools.offset + index * pools.stride;
            if (offset < hole_end) {
                continue;
            }
            const auto* pool = entry<Pool>(RegionId::pools, index);
            if (pool == nullptr) {
                hole_end = memory_.next_data(offset, memory_.size());
                continue;
            }
            set.pools[kind].used = pool->used.load(std::memory_order_acquire);
            set.pools[kind].peak = pool->peak.load(std::memory_order_relaxed);
        }
    }
}

// SYNC POINT: with BasicChipPeaks, which works inside an event.
void Reader::add_chips(Totals& totals) const {
    totals.chips.assign(region(RegionId::chips).count, std::nullopt);
    uint64_t kept = 0;
    for (uint32_t i = 0; i < totals.chips.size(); ++i) {
        const auto* chip = entry<ChipCounters>(RegionId::chips, i);
        if (chip == nullptr || chip->is_kept.load(std::memory_order_relaxed) == 0) {
            continue;
        }
        kept |= uint64_t{1} << i;
        ChipPeaksOfKinds& peaks = totals.chips[i].emplace();
        for (uint32_t kind = 0; kind < kChipKinds; ++kind) {
            peaks[kind] = chip->kind[kind].peak.load(std::memory_order_relaxed);
        }
    }
    std::array<ChipPeaksOfKinds, kMaxDevices> sums{};
    for (const SetTotals& set : totals.sets) {
        for (uint32_t kind = 0; kind < kKinds && (set.set.members & kept) != 0; ++kind) {
            const auto* pool = entry<Pool>(RegionId::pools, uint64_t{set.index} * kKindsPerSet + kind);
            const uint64_t since = pool == nullptr ? 0 : pool->since.load(std::memory_order_relaxed);
            for (uint64_t left = since == 0 ? 0 : set.set.members & kept; left != 0; left &= left - 1) {
                uint64_t& sum = sums[static_cast<size_t>(std::countr_zero(left))][chip_kind(kind)];
                sum = sum + since < sum ? UINT64_MAX : sum + since;
            }
        }
    }
    for (size_t i = 0; i < totals.chips.size(); ++i) {
        for (size_t kind = 0; totals.chips[i] && kind < kChipKinds; ++kind) {
            (*totals.chips[i])[kind] = std::max((*totals.chips[i])[kind], sums[i][kind]);
        }
    }
}

namespace {

// SYNC POINT: with BasicEventWriter::count().
void add_tally(PoolTotals& totals, const Tally& tally) {
    totals.requested += tally.requested.load(std::memory_order_acquire);
    totals.count += tally.count.load(std::memory_order_acquire);
    totals.reserved_unknown += tally.reserved_unknown.load(std::memory_order_acquire);
    totals.planned += tally.planned_and_views.load(std::memory_order_acquire);
}

// A thread counts below zero what it frees of others, so the two halves may only be taken apart after the sum.
void split_planned_and_views(std::vector<SetTotals>& sets) {
    for (SetTotals& set : sets) {
        for (PoolTotals& pool : set.pools) {
            pool.views = pool.planned >> 32;
            pool.planned = static_cast<uint32_t>(pool.planned);
        }
    }
}

// For the same reason a part of the sum means nothing.
void drop_tallies(std::vector<SetTotals>& sets) {
    for (SetTotals& set : sets) {
        for (PoolTotals& pool : set.pools) {
            pool = PoolTotals{.used = pool.used, .requested = pool.used, .peak = pool.peak};
        }
    }
}

}  // namespace

// Adds the counters of every thread; false where the work ran out, and then it adds none.
bool Reader::add_tallies(std::vector<SetTotals>& sets, uint32_t writers, uint64_t& work) const {
    const Region& tallies = region(RegionId::tallies);
    uint64_t hole_end = 0;
    for (uint32_t line = 0; line < writers; ++line) {
        for (SetTotals& set : sets) {
            if (work == 0) {
                drop_tallies(sets);
                return false;
            }
            --work;
            const uint64_t offset = tallies.offset + uint64_t{line} * tallies.stride +
                                    uint64_t{set.index} * kKindsPerSet * sizeof(Tally);
            if (offset < hole_end) {
                continue;
            }
            const auto* tally = reinterpret_cast<const Tally*>(memory_.at(offset, kKinds * sizeof(Tally)));
            if (tally == nullptr) {
                work -= std::min(work, kQuestionWork);
                hole_end = memory_.next_data(offset, memory_.size());
                continue;
            }
            for (uint32_t kind = 0; kind < kKinds; ++kind) {
                add_tally(set.pools[kind], tally[kind]);
            }
        }
    }
    split_planned_and_views(sets);
    return true;
}

namespace {

// No event in flight, and none since: then the counters read in between are those of one moment.
bool is_quiet(const std::vector<WriterState>& before, const std::vector<WriterState>& after) {
    return std::equal(before.begin(), before.end(), after.begin(), after.end(),
                      [](const WriterState& a, const WriterState& b) {
                          return is_quiet(LineView{a.written, a.intent}, LineView{b.written, b.intent});
                      });
}

bool same_sets(const std::vector<SetTotals>& a, const std::vector<SetTotals>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const SetTotals& x, const SetTotals& y) {
        return x.index == y.index && x.generation == y.generation;
    });
}

}  // namespace

Totals Reader::totals(uint64_t& work) const {
    Totals result;
    for (int attempt = 0; attempt < kQuietTries; ++attempt) {
        const std::vector<WriterState> before = writers();
        result.sets = sets();
        add_pools(result.sets);
        add_chips(result);
        result.is_cut = !add_tallies(result.sets, static_cast<uint32_t>(before.size()), work);
        result.settling = !is_quiet(before, writers()) || !same_sets(result.sets, sets());
        if (!result.settling || result.is_cut) {
            break;
        }
    }
    return result;
}

Totals Reader::totals() const {
    uint64_t unlimited = UINT64_MAX;
    return totals(unlimited);
}

uint64_t Reader::totals_work() const {
    return uint64_t{writers_used()} * used(&Header::sets_used, RegionId::sets) +
           used(&Header::devices_used, RegionId::devices);
}

Totals Reader::totals_from_ledger() const {
    Totals result;
    result.sets = sets();
    std::vector<SetTotals*> by_index(region(RegionId::sets).count, nullptr);
    for (SetTotals& set : result.sets) {
        by_index[set.index] = &set;
    }
    const std::vector<WriterState> before = writers();
    for_each_live([&](SlotRef, const Allocation& a) {
        SetTotals* set = a.set < by_index.size() ? by_index[a.set] : nullptr;
        if (set == nullptr || static_cast<uint32_t>(a.kind) >= kKinds) {
            return true;
        }
        PoolTotals& totals = set->pools[static_cast<uint32_t>(a.kind)];
        totals.used += a.used();
        totals.requested += a.counted_request();
        const bool adds = adds_bytes(a.flags);
        const bool planned = a.flags.has(AllocationFlag::planned);
        totals.count += adds ? 1u : 0u;
        totals.planned += planned ? 1u : 0u;
        totals.views += !adds && !planned ? 1u : 0u;
        totals.reserved_unknown += adds && a.flags.has(AllocationFlag::reserved_unknown) ? 1u : 0u;
        return true;
    });
    result.settling = !is_quiet(before, writers());
    return result;
}

void Reader::for_each_live(const std::function<bool(SlotRef, const Allocation&)>& take,
                           uint64_t slots) const {
    const Region& ledger = region(RegionId::ledger);
    const uint64_t end = ledger.offset + std::min<uint64_t>(slots, slots_used()) * ledger.stride;
    uint64_t offset = ledger.offset;
    while (offset < end) {
        const uint64_t data = memory_.data_end(offset, end);
        for (; offset + sizeof(LedgerSlot) <= data; offset += ledger.stride) {
            const auto* slot = reinterpret_cast<const LedgerSlot*>(memory_.start() + offset);
            uint64_t payload[LedgerSlot::kPayloadWords];
            const uint64_t generation = slot->read(payload);
            if (generation == 0) {
                continue;
            }
            const auto index = static_cast<uint32_t>((offset - ledger.offset) / ledger.stride);
            if (!take({index, generation & kGenerationMask}, decode_allocation(payload))) {
                return;
            }
        }
        if (offset >= end) {
            return;
        }
        // A hole: go on with the first slot that begins in data.
        const uint64_t next = memory_.next_data(std::max(offset, data), end);
        offset += std::max<uint64_t>(1, (next - offset + ledger.stride - 1) / ledger.stride) * ledger.stride;
    }
}

std::string Reader::name(uint64_t id) const {
    std::string path;
    for (uint32_t depth = 0; id != 0 && depth < kMaxNameDepth; ++depth) {
        if (path.size() > kMaxPathBytes) {
            return kCutPath + path;
        }
        const auto* name =
            id < used(&Header::names_used, RegionId::names) ? entry<Name>(RegionId::names, id) : nullptr;
        char text[kMaxNameBytes];
        uint32_t parent = 0;
        const uint32_t length = name == nullptr ? 0 : name->read(text, parent);
        if (length == 0) {
            break;
        }
        std::string part = base::printable({text, length});
        path = path.empty() ? std::move(part) : std::move(part.append(1, '/').append(path));
        id = parent < id ? parent
                         : 0;  // a name is younger than its parent; only a hostile segment has a circle
    }
    return path;
}

std::optional<CoreMask> Reader::cores(uint16_t core_set) const {
    uint64_t payload[CoreSetSlot::kPayloadWords];
    if (core_set == 0 || core_set >= used(&Header::core_sets_used, RegionId::core_sets) ||
        !read_slot(entry<CoreSetSlot>(RegionId::core_sets, core_set), payload)) {
        return std::nullopt;
    }
    CoreMask mask{};
    std::memcpy(mask.data(), payload, sizeof mask);
    return mask;
}

uint64_t Reader::failure_count(FailureType type) const {
    return header().failures[static_cast<uint32_t>(type)].load(std::memory_order_acquire);
}

std::vector<Failure> Reader::failures() const {
    std::vector<Failure> result;
    for (uint32_t type = 0; type < kFailureTypes; ++type) {
        const auto first = result.size();
        for (uint32_t place = 0; place < kFailuresPerType; ++place) {
            uint64_t payload[FailureSlot::kPayloadWords];
            if (read_slot(entry<FailureSlot>(RegionId::failures, type * kFailuresPerType + place), payload)) {
                Failure failure;
                std::memcpy(static_cast<void*>(&failure), payload, sizeof failure);
                failure.type = static_cast<uint8_t>(type);
                result.push_back(failure);
            }
        }
        std::stable_sort(result.begin() + static_cast<ptrdiff_t>(first), result.end(),
                         [](const Failure& a, const Failure& b) { return a.ticks < b.ticks; });
    }
    return result;
}

uint64_t Reader::card_count() const { return header().cards.load(std::memory_order_acquire); }

std::vector<uint64_t> Reader::card_numbers() const {
    const uint64_t count = card_count();
    std::vector<uint64_t> numbers;
    for (uint64_t number = 1; number <= std::min<uint64_t>(count, kFirstCards); ++number) {
        numbers.push_back(number);
    }
    for (uint64_t number = std::max<uint64_t>(kFirstCards, count - std::min<uint64_t>(count, kLastCards)) + 1;
         number <= count && number != 0; ++number) {
        numbers.push_back(number);
    }
    return numbers;
}

namespace {

// Copies words of a card. SYNC POINT: with the writer of cards, which stores each of them with release.
template <class T>
T copy_words(const Word* from) {
    static_assert(sizeof(T) % sizeof(uint64_t) == 0);
    uint64_t words[sizeof(T) / sizeof(uint64_t)];
    for (size_t i = 0; i < sizeof(T) / sizeof(uint64_t); ++i) {
        words[i] = from[i].load(std::memory_order_acquire);
    }
    T object;
    std::memcpy(static_cast<void*>(&object), words, sizeof object);
    return object;
}

Event copy_event(const Word* from) {
    uint64_t record[kRecordWords];
    for (size_t i = 0; i < kRecordWords; ++i) {
        record[i] = from[i].load(std::memory_order_acquire);
    }
    return decode_event(record);
}

CardBlock copy_block(const Word* from) {
    uint64_t payload[kLedgerPayloadWords];
    for (size_t i = 0; i < kLedgerPayloadWords; ++i) {
        payload[i] = from[1 + i].load(std::memory_order_acquire);
    }
    return {SlotRef::unpack(from[0].load(std::memory_order_acquire)), decode_allocation(payload)};
}

// The counts that a head claims may be anything.
void bound_counts(CardHead& head) {
    head.gaps = std::min(head.gaps, kCardGaps);
    head.sums = std::min(head.sums, kCardSums);
    head.events = std::min(head.events, kCardEvents);
    head.blocks = std::min(head.blocks, kCardBlocks);
}

}  // namespace

std::optional<CardContents> Reader::card(uint64_t number) const {
    const Region& cards = region(RegionId::cards);
    const uint32_t index = number == 0 ? UINT32_MAX : card_index(number);
    if (index >= cards.count) {
        return std::nullopt;
    }
    const uint64_t offset = cards.offset + uint64_t{index} * cards.stride;
    const auto* words = reinterpret_cast<const Word*>(memory_.at(offset, kCardBlocksWord * sizeof(Word)));
    const uint64_t generation = words == nullptr ? 0 : words[0].load(SlotOrders::generation_load);
    if (!is_live(generation)) {
        return std::nullopt;
    }
    CardContents card;
    card.head = copy_words<CardHead>(words + 1);
    bound_counts(card.head);
    if (card.head.number != number ||
        memory_.at(offset + kCardBlocksWord * sizeof(Word),
                   uint64_t{card.head.blocks} * kCardBlockWords * sizeof(Word)) == nullptr) {
        return std::nullopt;
    }
    for (uint32_t i = 0; i < card.head.gaps; ++i) {
        card.gaps.push_back(copy_words<CardGap>(words + kCardGapsWord + size_t{i} * 2));
    }
    for (uint32_t i = 0; i < card.head.sums; ++i) {
        card.sums.push_back(copy_words<CardSum>(words + kCardSumsWord + size_t{i} * 2));
    }
    for (uint32_t i = 0; i < card.head.events; ++i) {
        card.events.push_back(copy_event(words + kCardEventsWord + i * kRecordWords));
    }
    card.blocks.reserve(card.head.blocks);
    for (uint32_t i = 0; i < card.head.blocks; ++i) {
        card.blocks.push_back(copy_block(words + kCardBlocksWord + i * kCardBlockWords));
    }
    return words[0].load(SlotOrders::recheck_load) == generation ? std::optional(std::move(card))
                                                                 : std::nullopt;
}

uint64_t Reader::mark_count() const { return header().marks.load(std::memory_order_acquire); }

std::optional<MarkContents> Reader::mark(uint64_t number) const {
    const Region& marks = region(RegionId::marks);
    const uint32_t index = mark_index(number);
    if (index >= marks.count) {
        return std::nullopt;
    }
    const uint64_t offset = marks.offset + uint64_t{index} * marks.stride;
    const auto* words = reinterpret_cast<const Word*>(memory_.at(offset, kMarkTotalsWord * sizeof(Word)));
    const uint64_t generation = words == nullptr ? 0 : words[0].load(SlotOrders::generation_load);
    if (!is_live(generation)) {
        return std::nullopt;
    }
    MarkContents mark;
    mark.head = copy_words<MarkHead>(words + 1);
    mark.head.totals = std::min(mark.head.totals, kMarkTotals);
    if (mark.head.number != number ||
        memory_.at(offset, (kMarkTotalsWord + mark.head.totals * kMarkTotalWords) * sizeof(Word)) ==
            nullptr) {
        return std::nullopt;
    }
    mark.totals.reserve(mark.head.totals);
    for (size_t i = 0; i < mark.head.totals; ++i) {
        mark.totals.push_back(copy_words<MarkTotal>(words + kMarkTotalsWord + i * kMarkTotalWords));
    }
    return words[0].load(SlotOrders::recheck_load) == generation ? std::optional(std::move(mark))
                                                                 : std::nullopt;
}

std::vector<MarkContents> Reader::marks() const {
    const uint64_t count = mark_count();
    std::vector<MarkContents> result;
    const auto add = [&](uint64_t number) {
        if (auto one = mark(number)) {
            result.push_back(std::move(*one));
        }
    };
    for (uint64_t number = 1; number <= std::min<uint64_t>(count, kFirstMarks); ++number) {
        add(number);
    }
    for (uint64_t number = std::max<uint64_t>(kFirstMarks, count - std::min<uint64_t>(count, kLastMarks)) + 1;
         number <= count && number != 0; ++number) {
        add(number);
    }
    return result;
}

uint64_t Reader::inexact(Inexact what) const {
    return header().inexact[static_cast<uint32_t>(what)].load(std::memory_order_relaxed);
}

std::vector<WriterState> Reader::writers() const {
    std::vector<WriterState> result(used(&Header::writers_used, RegionId::writers));
    for (uint32_t line = 0; line < result.size(); ++line) {
        result[line].line = line;
        if (const auto* writer = entry<WriterLine>(RegionId::writers, line)) {
            const LineView view = read_line(*writer);
            result[line].written = view.head;
            result[line].intent = view.intent;
            result[line].thread = static_cast<uint32_t>(writer->thread.load(std::memory_order_relaxed));
        }
    }
    return result;
}

Reader::Ring Reader::ring(uint32_t line) const {
    const Region& rings = region(RegionId::rings);
    const auto* writer = entry<WriterLine>(RegionId::writers, line);
    const auto* records = reinterpret_cast<const RingRecord*>(
        memory_.at(rings.offset + uint64_t{line} * rings.stride, rings.stride));
    return writer == nullptr ? Ring{} : Ring{records, &writer->head};
}

Cursor Reader::cursor_at_end() const {
    Cursor cursor;
    for (const WriterState& writer : writers()) {
        cursor.rings.push_back({writer.written, 0, 0});
    }
    return cursor;
}

uint32_t Reader::slots_used() const { return used(&Header::slots_used, RegionId::ledger); }

uint64_t Reader::events_written() const {
    uint64_t sum = 0;
    for (const WriterState& writer : writers()) {
        sum += writer.written;
    }
    return sum;
}

}  // namespace ttmem::segment
