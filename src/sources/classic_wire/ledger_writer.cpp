// SPDX-License-Identifier: Apache-2.0
#include "sources/classic_wire/ledger_writer.hpp"

#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <cerrno>
#include <cstring>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

namespace ttmem::sources::classic_wire {

using base::Error;
using segment::AllocationKind;
using segment::Inexact;
using segment::kNoEntry;
using segment::RegionId;
using segment::SegmentWriter;

namespace {

// Differs from the name of a segment: a reader attributes a segment to the process that holds it open, and the daemon
// holds this one for a client.
constexpr char kMemfdName[] = "ttmem-classic";

// Slots are added by doubling, then in steps.
constexpr uint32_t kFewestSlotsAtOnce = 64;
constexpr uint32_t kMostSlotsAtOnce = 1024;
constexpr size_t kFewestBuckets = segment::kPage / sizeof(uint32_t);

constexpr uint32_t kSmallestRing = 1024;     // records
constexpr uint64_t kLedgersToExpect = 64;    // of one user: so many rings of that size must fit
constexpr uint64_t kObjectBytes = 8 * 1024;  // the objects of a ledger's writer and reader, and their handles

// Allocates the memory now, so that a shortage is an error and not a signal at the first store. Needs Linux 5.14.
bool populate(unsigned char* memory, uint64_t offset, uint64_t length) {
    const uint64_t from = offset / segment::kPage * segment::kPage;
    const uint64_t to = segment::round_to_page(offset + length);
    return madvise(memory + from, to - from, MADV_POPULATE_WRITE) == 0 || errno == EINVAL;
}

// What every ledger needs at once. A reader reads a ring only if all of it is populated.
constexpr std::array kFirstRegions = {RegionId::names, RegionId::writers, RegionId::rings};

uint64_t first_bytes(const segment::Sizes& sizes) {
    uint64_t bytes = kObjectBytes + segment::round_to_page(sizeof(segment::Header));
    for (const RegionId id : kFirstRegions) {
        bytes += segment::round_to_page(SegmentWriter::region_of(sizes, id).bytes());
    }
    return bytes;
}

bool populate_first(unsigned char* memory, const segment::Sizes& sizes) {
    bool done = populate(memory, 0, sizeof(segment::Header));
    for (const RegionId id : kFirstRegions) {
        const segment::Region region = SegmentWriter::region_of(sizes, id);
        done = done && populate(memory, region.offset, region.bytes());
    }
    return done;
}

}  // namespace

class LedgerWriter::LedgerEntries {
public:
    LedgerEntries(LedgerWriter& ledger, uint32_t newest) : ledger_(ledger), newest_(newest) {}

    uint32_t newest() const { return newest_; }
    uint32_t older(uint32_t slot) const { return ledger_.keyed_[slot].older; }
    AllocationKind kind(uint32_t slot) const { return ledger_.kind_of(slot); }
    void add_reference(uint32_t slot) { ++ledger_.keyed_[slot].references; }
    bool has_other_kind(uint32_t slot) const { return ledger_.keyed_[slot].has_other_kind != 0; }

private:
    LedgerWriter& ledger_;
    uint32_t newest_;
};

segment::Sizes LedgerWriter::sizes_for(const LedgerBudget& budget) {
    segment::Sizes sizes = kSizes;
    while (sizes.ring_records > kSmallestRing &&
           !budget.has_room(kLedgersToExpect * sizes.ring_records * sizeof(segment::RingRecord))) {
        sizes.ring_records /= 2;
    }
    return sizes;
}

base::Expected<LedgerWriter::NewLedger> LedgerWriter::make(uint32_t pid, uint64_t start_time,
                                                           const segment::Sizes& sizes,
                                                           std::shared_ptr<LedgerBudget> budget) {
    const auto failed = [](const char* what) {
        return base::error(Error::Code::failed,
                           std::string("no ledger for it: can't ") + what + ": " + std::strerror(errno));
    };
    LedgerAccount account(std::move(budget));
    if (!account.take(first_bytes(sizes))) {
        return base::error(Error::Code::refused,
                           "no ledger for it: its user's memory for classic clients is used up");
    }
    const uint64_t bytes = SegmentWriter::bytes_of(sizes);
    base::Descriptor file(memfd_create(kMemfdName, MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (!file || ftruncate(file.get(), static_cast<off_t>(bytes)) != 0) {
        return failed("make its file");
    }
    void* map = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
    if (map == MAP_FAILED) {
        return failed("map its file");
    }
    auto* memory = static_cast<unsigned char*>(map);
    // Its reader may outlive the writer.
    const std::shared_ptr<void> mapping(map, [bytes](void* start) { munmap(start, bytes); });
    const auto id = segments::examine_file(file);
    if (fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL) !=
            0 ||
        !id || !populate_first(memory, sizes)) {
        return failed("take memory for it");
    }
    std::unique_ptr<LedgerWriter> writer(
        new LedgerWriter(mapping, sizes, pid, start_time, std::move(account)));
    auto reader = segment::Reader::open(std::move(file), mapping);
    if (!reader) {
        return base::error(reader.error().code, "no ledger for it: it " + reader.error().text);
    }
    return NewLedger{std::move(writer), std::move(*reader), *id};
}

LedgerWriter::LedgerWriter(std::shared_ptr<void> mapping, const segment::Sizes& sizes, uint32_t pid,
                           uint64_t start_time, LedgerAccount account)
    : account_(std::move(account)),
      mapping_(std::move(mapping)),
      memory_(static_cast<unsigned char*>(mapping_.get())),
      sizes_(sizes),
      writer_(memory_, sizes, pid, start_time),
      label_(writer_.add_name("classic wire")) {
    for (uint32_t id = 0; id < provided_.size(); ++id) {
        provided_[id] = writer_.header().region[id].offset;
    }
}

LedgerWriter::Outcome LedgerWriter::apply(const WireRequest& request, uint64_t now_ns) {
    now_ = now_ns;
    switch (static_cast<MessageType>(request.type)) {
        case MessageType::allocate:
            return begin(request, KeyedClass::buffer, segment::buffer_kind(request.buffer_type));
        case MessageType::free:
            return end(request, KeyedClass::buffer);
        case MessageType::cb_allocate:
            return begin(request, KeyedClass::cb, TTMEM_CB);
        case MessageType::cb_free:
            return end(request, KeyedClass::cb);
        case MessageType::kernel_load:
            return begin(request, KeyedClass::kernel, segment::kernel_kind(request.buffer_type));
        case MessageType::kernel_unload:
            return end(request, KeyedClass::kernel);
        default:
            return Outcome::done;
    }
}

LedgerWriter::Outcome LedgerWriter::refuse(Inexact why) {
    writer_.count(why);
    return Outcome::not_recorded;
}

LedgerWriter::Outcome LedgerWriter::begin(const WireRequest& request, KeyedClass of, uint32_t kind) {
    if (kind == segment::kNoKind) {
        return refuse(Inexact::unknown_kind);
    }
    if (request.size > segment::kMaxAllocationBytes) {
        return refuse(Inexact::implausible_size);
    }
    auto set = set_of(request.device);
    if (!set) {
        if (const auto why = add_set(request.device)) {
            return refuse(*why);
        }
        set = set_of(request.device);
        assert(set);
    }
    segment::Allocation a;
    a.kind = static_cast<AllocationKind>(kind);
    a.set = *set;
    a.address = request.buffer;
    a.requested = request.size;
    a.reserved = request.size;
    a.owner = of == KeyedClass::kernel ? request.buffer : 0;
    a.flags = segment::keyed_flags(of, request.buffer);

    const LedgerKey key = key_of(request, *set, of);
    uint32_t* link = link_of(key);
    LedgerEntries entries(*this, link == nullptr ? kNoEntry : *link);
    if (absorbs(entries, of, a.kind, request.buffer)) {
        return Outcome::done;
    }
    if (first_free_ == kNoEntry) {
        if (const auto why = add_slots()) {
            return refuse(*why);
        }
        link = link_of(key);  // the lists may have moved
    }
    assert(link != nullptr && first_free_ < keyed_.size());
    const uint32_t slot = std::exchange(first_free_, keyed_[first_free_].next);
    const uint32_t older = *link;
    assert(older != slot);
    const bool has_older = older != kNoEntry;
    const bool has_other_kind = has_older && (kind_of(older) != a.kind || keyed_[older].has_other_kind != 0);
    keyed_[slot] = {1, has_other_kind ? 1u : 0u, older, has_older ? keyed_[older].next : kNoEntry};
    *link = slot;
    a.ticks = now_;
    writer_.allocate(slot, a);
    return Outcome::done;
}

LedgerWriter::Outcome LedgerWriter::end(const WireRequest& request, KeyedClass of) {
    const auto set = set_of(request.device);
    uint32_t* const link = set ? link_of(key_of(request, *set, of)) : nullptr;
    if (link == nullptr || *link == kNoEntry) {
        return unknown_free(request);
    }
    const segment::KeyedMatch match = match_to_free(LedgerEntries(*this, *link), of);
    if (match.ambiguous) {
        writer_.count(Inexact::ambiguous_free);
    }
    assert(match.entry == *link);
    KeyedSlot& freed = keyed_[match.entry];
    assert(freed.references != 0);
    if (--freed.references != 0) {
        return Outcome::done;
    }
    if (freed.older == kNoEntry) {
        *link = freed.next;
    } else {
        keyed_[freed.older].next = freed.next;
        *link = freed.older;
    }
    freed.next = std::exchange(first_free_, match.entry);
    writer_.free(match.entry, now_);
    return Outcome::done;
}

LedgerWriter::Outcome LedgerWriter::unknown_free(const WireRequest& request) {
    writer_.count(Inexact::unknown_free);
    const uint64_t entry = writer_.next_failure(segment::FailureType::unknown_free);
    if (provide(RegionId::failures, entry * sizeof(segment::FailureSlot),
                (entry + 1) * sizeof(segment::FailureSlot))) {
        return Outcome::unknown_free;  // no memory for the list of failures: only counted
    }
    segment::Failure failure;
    failure.type = static_cast<uint8_t>(segment::FailureType::unknown_free);
    failure.ticks = now_;
    failure.address = request.buffer;
    failure.has_device = 1;
    failure.device = request.device;
    writer_.add_failure(failure);
    return Outcome::unknown_free;
}

// ---- the index by key ------------------------------------------------------------------------------------------------

LedgerKey LedgerWriter::key_of(const WireRequest& request, uint8_t set, KeyedClass of) {
    return {request.buffer, of == KeyedClass::cb ? request.size : 0, set, of};
}

// The slot itself holds the key. Nobody but this writer can change it: the file is sealed.
LedgerKey LedgerWriter::key_of(uint32_t slot) const {
    const uint64_t what = writer_.word_of(slot, segment::kWhatWord);
    const KeyedClass of = segment::keyed_class_of(segment::kind_in(what));
    return {writer_.word_of(slot, segment::kAddressWord),
            of == KeyedClass::cb ? writer_.word_of(slot, segment::kRequestedWord) : 0, segment::set_in(what),
            of};
}

AllocationKind LedgerWriter::kind_of(uint32_t slot) const {
    return segment::kind_in(writer_.word_of(slot, segment::kWhatWord));
}

// The link to the newest slot of the key; where there is none, the end of the list to which it belongs. Null: no slots yet.
uint32_t* LedgerWriter::link_of(const LedgerKey& key) {
    if (buckets_.size() == 0) {
        return nullptr;
    }
    uint32_t* link = &buckets_[hash_(key) & (buckets_.size() - 1)];
    while (*link != kNoEntry && key_of(*link) != key) {
        link = &keyed_[*link].next;
    }
    return link;
}

// ---- memory ----------------------------------------------------------------------------------------------------------

// Gives the bytes from `begin` to `end` of a region their memory. The pages of a region are provided in order.
std::optional<Inexact> LedgerWriter::provide(RegionId id, uint64_t begin, uint64_t end) {
    const segment::Region& region = writer_.header().region[static_cast<uint32_t>(id)];
    uint64_t& provided = provided_[static_cast<uint32_t>(id)];
    const uint64_t to = segment::round_to_page(region.offset + end);
    if (to <= provided) {
        return std::nullopt;
    }
    assert(begin < end && end <= region.bytes());
    const uint64_t from = std::max(provided, (region.offset + begin) / segment::kPage * segment::kPage);
    if (!account_.take(to - from)) {
        return Inexact::ledger_full;
    }
    if (!populate(memory_, from, to - from)) {
        account_.give_back(to - from);
        return Inexact::no_host_memory;
    }
    provided = to;
    return std::nullopt;
}

std::optional<uint8_t> LedgerWriter::set_of(int32_t device) const {
    const auto known = std::find(devices_.begin(), devices_.end(), device);
    return known == devices_.end() ? std::nullopt
                                   : std::optional(static_cast<uint8_t>(known - devices_.begin()));
}

std::optional<Inexact> LedgerWriter::add_set(int32_t device) {
    static_assert(kMostDevices <= segment::kMaxDevices);
    if (device < 0 || static_cast<uint32_t>(device) >= kMostDevices) {
        return Inexact::unknown_device;
    }
    assert(devices_.size() < segment::kMaxDevices);
    const uint64_t count = devices_.size() + 1;
    const uint64_t pools = count * segment::kKindsPerSet;
    for (const auto& [id, end] : {std::pair(RegionId::devices, count * sizeof(segment::DeviceSlot)),
                                  std::pair(RegionId::sets, count * sizeof(segment::SetSlot)),
                                  std::pair(RegionId::pools, pools * sizeof(segment::Pool)),
                                  std::pair(RegionId::tallies, pools * sizeof(segment::Tally))}) {
        if (const auto why = provide(id, 0, end)) {
            return why;
        }
    }
    ttmem_device_info info{};
    info.logical_id = static_cast<uint32_t>(device);
    const uint32_t entry = writer_.add_device(info);
    assert(entry == devices_.size());
    devices_.push_back(device);
    segment::DeviceSet set;
    set.members = uint64_t{1} << entry;
    set.member[0] = static_cast<uint8_t>(entry);
    set.opened_ticks = now_;
    set.label = label_;
    [[maybe_unused]] const uint8_t index = writer_.open_set(set);
    assert(index == entry);
    return std::nullopt;
}

// Adds free slots, with their entries and buckets.
std::optional<Inexact> LedgerWriter::add_slots() {
    assert(first_free_ == kNoEntry && keyed_.size() <= sizes_.slots);
    const auto used = static_cast<uint32_t>(keyed_.size());
    const uint32_t fresh =
        std::min(std::clamp(used, kFewestSlotsAtOnce, kMostSlotsAtOnce), sizes_.slots - used);
    if (fresh == 0) {
        return Inexact::ledger_full;
    }
    const uint32_t count = used + fresh;
    if (const auto why = provide(RegionId::ledger, 0, uint64_t{count} * sizeof(segment::LedgerSlot))) {
        return why;
    }
    const size_t buckets = std::max(kFewestBuckets, std::bit_ceil(size_t{count}));
    const uint64_t more = PageArray<KeyedSlot>::bytes_for(count) - keyed_.bytes() +
                          PageArray<uint32_t>::bytes_for(buckets) - buckets_.bytes();
    if (!account_.take(more)) {
        return Inexact::ledger_full;
    }
    const uint64_t before = keyed_.bytes() + buckets_.bytes();
    if (!grow_buckets(buckets) || !grow_index(count)) {
        account_.give_back(before + more - keyed_.bytes() - buckets_.bytes());
        return Inexact::no_host_memory;
    }
    writer_.use_slots(count);
    return std::nullopt;
}

bool LedgerWriter::grow_index(uint32_t slots) {
    const auto used = static_cast<uint32_t>(keyed_.size());
    if (!keyed_.grow(slots)) {
        return false;
    }
    for (uint32_t slot = slots; slot != used; --slot) {
        keyed_[slot - 1].next = std::exchange(first_free_, slot - 1);
    }
    return true;
}

bool LedgerWriter::grow_buckets(size_t count) {
    assert(std::has_single_bit(count));
    PageArray<uint32_t> grown;
    if (count == buckets_.size()) {
        return true;
    }
    if (!grown.grow(count)) {
        return false;
    }
    std::fill(grown.begin(), grown.end(), kNoEntry);
    for (uint32_t slot : buckets_) {
        while (slot != kNoEntry) {
            const uint32_t next = keyed_[slot].next;
            keyed_[slot].next = std::exchange(grown[hash_(key_of(slot)) & (count - 1)], slot);
            slot = next;
        }
    }
    buckets_.swap(grown);
    return true;
}

}  // namespace ttmem::sources::classic_wire
