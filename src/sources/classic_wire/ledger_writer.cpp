// SPDX-License-Identifier: Apache-2.0
#include "sources/classic_wire/ledger_writer.hpp"

#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

namespace ttmem::sources::classic_wire {

using base::Error;
using segment::Inexact;
using segment::Kind;
using segment::RegionId;

namespace {

// Not the name by which segments are looked for: those are of the process that holds them open, and this one is not.
constexpr char kMemfdName[] = "ttmem-classic";
constexpr uint32_t kNoSlot = UINT32_MAX;
constexpr uint32_t kNoKind = UINT32_MAX;
constexpr uint32_t kSlotsAtOnce = 1024;

// Takes the memory now, where a shortage is an error; at the first store it would be a signal. Kernels before 5.14 can't.
bool populate(unsigned char* memory, uint64_t offset, uint64_t length) {
    const uint64_t from = offset / segment::kPage * segment::kPage;
    const uint64_t to = segment::round_to_page(offset + length);
    return madvise(memory + from, to - from, MADV_POPULATE_WRITE) == 0 || errno == EINVAL;
}

// All but the ledger, which grows. A reader looks at a ring only where all of it is there.
bool populate_tables(unsigned char* memory, const segment::Sizes& sizes) {
    bool done = populate(memory, 0, sizeof(segment::Header));
    for (const RegionId id : {RegionId::devices, RegionId::sets, RegionId::pools, RegionId::tallies,
                              RegionId::names, RegionId::failures, RegionId::writers, RegionId::rings}) {
        const segment::Region region = segment::SoleWriter::region_of(sizes, id);
        done = done && populate(memory, region.offset, region.bytes());
    }
    return done;
}

uint32_t buffer_kind(uint8_t type) { return type <= TTMEM_TRACE ? type : kNoKind; }
uint32_t kernel_kind(uint8_t type) { return type <= 2 ? uint32_t{TTMEM_KERNEL_APPLICATION} + type : kNoKind; }

}  // namespace

size_t LedgerWriter::Hash::operator()(const Key& key) const {
    uint64_t mixed = key.id ^ key.size << 20 ^ uint64_t { key.set } << 56 ^ uint64_t(key.what) << 54;
    mixed *= 0x9e37'79b9'7f4a'7c15;
    return mixed ^ mixed >> 32;
}

base::Expected<LedgerWriter::Made> LedgerWriter::make(uint32_t pid, uint64_t start_time,
                                                      const segment::Sizes& sizes) {
    const auto failed = [](const char* what) {
        return base::error(Error::Code::failed,
                           std::string("no ledger for it: can't ") + what + ": " + std::strerror(errno));
    };
    const uint64_t bytes = segment::SoleWriter::bytes_of(sizes);
    base::Descriptor file(memfd_create(kMemfdName, MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (!file || ftruncate(file.get(), static_cast<off_t>(bytes)) != 0) {
        return failed("make its file");
    }
    void* map = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
    if (map == MAP_FAILED) {
        return failed("map its file");
    }
    auto* memory = static_cast<unsigned char*>(map);
    const auto id = segments::file_id(file);
    if (fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL) !=
            0 ||
        !id || !populate_tables(memory, sizes)) {
        const int problem = errno;
        munmap(map, bytes);
        errno = problem;
        return failed("take memory for it");
    }
    std::unique_ptr<LedgerWriter> writer(new LedgerWriter(memory, sizes, pid, start_time));
    auto reader = segment::Reader::open(std::move(file));
    if (!reader) {
        return base::error(reader.error().code, "no ledger for it: it " + reader.error().text);
    }
    return Made{std::move(writer), std::move(*reader), *id};
}

LedgerWriter::LedgerWriter(unsigned char* memory, const segment::Sizes& sizes, uint32_t pid,
                           uint64_t start_time)
    : memory_(memory),
      sizes_(sizes),
      writer_(memory, sizes, pid, start_time),
      label_(writer_.add_name("classic wire")) {}

LedgerWriter::~LedgerWriter() { munmap(memory_, segment::SoleWriter::bytes_of(sizes_)); }

LedgerWriter::Outcome LedgerWriter::apply(const Request& request, uint64_t now_ns) {
    now_ = now_ns;
    switch (static_cast<Type>(request.type)) {
        case Type::allocate:
            return begin(request, Class::buffer, buffer_kind(request.buffer_type));
        case Type::free:
            return end(request, Class::buffer);
        case Type::cb_allocate:
            return begin(request, Class::cb, TTMEM_CB);
        case Type::cb_free:
            return end(request, Class::cb);
        case Type::kernel_load:
            return begin(request, Class::kernel, kernel_kind(request.buffer_type));
        case Type::kernel_unload:
            return end(request, Class::kernel);
        default:
            return Outcome::done;
    }
}

LedgerWriter::Outcome LedgerWriter::refuse(Inexact why) {
    writer_.count(why);
    return Outcome::not_recorded;
}

LedgerWriter::Outcome LedgerWriter::begin(const Request& request, Class what, uint32_t kind) {
    if (kind == kNoKind) {
        return refuse(Inexact::unknown_kind);
    }
    if (request.size > segment::kMaxAllocationBytes) {
        return refuse(Inexact::implausible_size);
    }
    const auto set = set_of(request.device);
    if (!set) {
        return refuse(request.device < 0 ? Inexact::unknown_device : Inexact::devices_full);
    }
    segment::Allocation a;
    a.kind = static_cast<Kind>(kind);
    a.set = *set;
    a.address = request.buffer;
    a.requested = request.size;
    a.reserved = request.size;
    a.owner = what == Class::kernel ? request.buffer : 0;
    a.flags = segment::kKeyed;
    // A kernel takes what it asks for. Address 0 is a hooked buffer: it takes nothing, and each is one of its own.
    const bool is_planned = what == Class::buffer && request.buffer == 0;
    if (is_planned) {
        a.flags |= segment::kPlanned;
    } else if (what != Class::kernel) {
        a.flags |= segment::kReservedUnknown;
    }

    const auto [entry, is_new] = newest_.try_emplace(key_of(request, *set, what), kNoSlot);
    if (!is_planned && what != Class::cb) {
        for (uint32_t slot = entry->second; slot != kNoSlot; slot = links_[slot].next) {
            if (what == Class::kernel || links_[slot].kind == a.kind) {
                links_[slot].references += what == Class::kernel ? 0 : 1;
                return Outcome::done;
            }
        }
    }
    const auto slot = take_slot();
    if (!slot) {
        if (is_new) {
            newest_.erase(entry);
        }
        return Outcome::not_recorded;
    }
    links_[*slot] = {1, entry->second, a.kind};
    entry->second = *slot;
    a.ticks = now_;
    writer_.allocate(*slot, a);
    return Outcome::done;
}

LedgerWriter::Key LedgerWriter::key_of(const Request& request, uint8_t set, Class what) {
    return {request.buffer, what == Class::cb ? request.size : 0, set, what};
}

LedgerWriter::Outcome LedgerWriter::end(const Request& request, Class what) {
    const auto device = std::find(devices_.begin(), devices_.end(), request.device);
    if (device == devices_.end()) {
        return unknown_free(request);
    }
    const auto set = static_cast<uint8_t>(device - devices_.begin());
    const auto known = newest_.find(key_of(request, set, what));
    if (known == newest_.end()) {
        return unknown_free(request);
    }
    const uint32_t slot = known->second;
    Link& link = links_[slot];
    const bool is_ambiguous =
        what == Class::buffer && link.next != kNoSlot && links_[link.next].kind != link.kind;
    if (is_ambiguous) {
        writer_.count(Inexact::ambiguous_free);
    }
    if (--link.references != 0) {
        return Outcome::done;
    }
    if (link.next == kNoSlot) {
        newest_.erase(known);
    } else {
        known->second = link.next;
    }
    writer_.free(slot, now_);
    free_slots_.push_back(slot);
    return Outcome::done;
}

LedgerWriter::Outcome LedgerWriter::unknown_free(const Request& request) {
    writer_.count(Inexact::unknown_free);
    segment::Failure failure;
    failure.type = static_cast<uint8_t>(segment::FailureType::unknown_free);
    failure.ticks = now_;
    failure.address = request.buffer;
    failure.has_device = 1;
    failure.device = request.device;
    writer_.add_failure(failure);
    return Outcome::unknown_free;
}

std::optional<uint8_t> LedgerWriter::set_of(int32_t device) {
    const auto known = std::find(devices_.begin(), devices_.end(), device);
    if (known != devices_.end()) {
        return static_cast<uint8_t>(known - devices_.begin());
    }
    if (device < 0 || devices_.size() == segment::kMaxDevices) {
        return std::nullopt;
    }
    ttmem_device_info info{};
    info.logical_id = static_cast<uint32_t>(device);
    const uint32_t entry = writer_.add_device(info);
    devices_.push_back(device);
    return writer_.open_set(uint64_t{1} << entry, label_, now_);
}

std::optional<uint32_t> LedgerWriter::take_slot() {
    if (free_slots_.empty()) {
        const uint32_t fresh = std::min(kSlotsAtOnce, sizes_.slots - slots_used_);
        const segment::Region region = segment::SoleWriter::region_of(sizes_, RegionId::ledger);
        const bool has_room =
            fresh != 0 && populate(memory_, region.offset + uint64_t{slots_used_} * region.stride,
                                   uint64_t{fresh} * region.stride);
        if (!has_room) {
            writer_.count(fresh == 0 ? Inexact::ledger_full : Inexact::no_host_memory);
            return std::nullopt;
        }
        links_.resize(slots_used_ + fresh);
        for (uint32_t i = fresh; i != 0; --i) {
            free_slots_.push_back(slots_used_ + i - 1);
        }
        slots_used_ += fresh;
        writer_.use_slots(slots_used_);
    }
    const uint32_t slot = free_slots_.back();
    free_slots_.pop_back();
    return slot;
}

}  // namespace ttmem::sources::classic_wire
