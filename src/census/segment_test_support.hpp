// SPDX-License-Identifier: Apache-2.0
#pragma once

// A segment in plain memory, written by a test word for word: with any figure, also one that no client would write.

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include "census/census.hpp"
#include "census/kind.hpp"
#include "segment/layout.hpp"

namespace ttmem::census {

constexpr size_t kDram = index_of(Kind::dram);
constexpr size_t kL1 = index_of(Kind::l1);
constexpr size_t kCb = index_of(Kind::cb);
constexpr size_t kKernel = index_of(Kind::kernel);

class TestSegment {
public:
    TestSegment() {
        const segment::Sizes sizes{64, 2, 16, 256};
        segment::Region table[segment::kRegionTableEntries] = {};
        const uint64_t size = segment::lay_out(sizes, table);
        bytes_.reset(static_cast<unsigned char*>(std::aligned_alloc(segment::kPage, size)));
        std::memset(bytes_.get(), 0, size);
        size_ = size;
        segment::Header& h = header();
        h.abi_version = segment::kAbiVersion;
        h.header_bytes = sizeof(segment::Header);
        h.segment_bytes = size;
        h.clock_kind = static_cast<uint32_t>(segment::ClockKind::monotonic_ns);
        std::memcpy(h.region, table, sizeof table);
        h.names_used = 1;
        h.core_sets_used = 1;
        h.writers_used = 1;
        h.magic = segment::kMagic;
    }

    segment::Header& header() { return *reinterpret_cast<segment::Header*>(bytes_.get()); }

    template <class T>
    T& entry(segment::RegionId id, uint64_t index) {
        const segment::Region& region = header().region[static_cast<uint32_t>(id)];
        return *reinterpret_cast<T*>(bytes_.get() + region.offset + index * region.stride);
    }

    const unsigned char* bytes() const { return bytes_.get(); }
    size_t size() const { return size_; }

    // Each returns the index of what it adds.
    uint32_t add_device(const ttmem_device_info& info) {
        const auto index = static_cast<uint32_t>(header().devices_used.fetch_add(1));
        uint64_t payload[segment::DeviceSlot::kPayloadWords] = {};
        std::memcpy(payload, &info, sizeof info);
        entry<segment::DeviceSlot>(segment::RegionId::devices, index).publish(payload, 1);
        return index;
    }

    uint8_t add_set(uint64_t members, uint64_t opened = 1, uint64_t closed = 0, uint64_t generation = 1) {
        const auto index = static_cast<uint8_t>(header().sets_used.fetch_add(1));
        segment::DeviceSet set;
        set.members = members;
        set.opened_ticks = opened;
        set.closed_ticks = closed;
        uint64_t payload[segment::SetSlot::kPayloadWords];
        std::memcpy(payload, &set, sizeof payload);
        entry<segment::SetSlot>(segment::RegionId::sets, index).publish(payload, generation);
        return index;
    }

    uint32_t add_name(std::string_view text, uint32_t parent = 0) {
        const auto index = static_cast<uint32_t>(header().names_used.fetch_add(1));
        entry<segment::Name>(segment::RegionId::names, index)
            .publish(text.data(), static_cast<uint32_t>(text.size()), parent);
        return index;
    }

    uint16_t add_cores(const segment::CoreMask& mask) {
        const auto index = static_cast<uint16_t>(header().core_sets_used.fetch_add(1));
        uint64_t payload[segment::CoreSetSlot::kPayloadWords] = {};
        std::memcpy(payload, mask.data(), sizeof mask);
        entry<segment::CoreSetSlot>(segment::RegionId::core_sets, index).publish(payload, 1);
        return index;
    }

    segment::Pool& pool(uint8_t set, segment::Kind kind) {
        return entry<segment::Pool>(segment::RegionId::pools, segment::pool_index(set, kind));
    }

    segment::Tally& tally(uint8_t set, segment::Kind kind, uint32_t writer = 0) {
        return (&entry<segment::Tally>(segment::RegionId::tallies, writer))[segment::pool_index(set, kind)];
    }

    // In the ledger and in the counters, as a client does it.
    uint32_t add(const segment::Allocation& a) {
        const uint32_t slot = add_to_ledger(a);
        segment::Tally& t = tally(a.set, a.kind);
        if (!segment::adds_bytes(a.flags)) {
            t.planned_and_views += (a.flags & segment::kPlanned) != 0 ? 1 : uint64_t{1} << 32;
            return slot;
        }
        segment::Pool& p = pool(a.set, a.kind);
        p.used += a.reserved;
        p.peak = std::max<uint64_t>(p.peak, p.used);
        t.requested += a.requested;
        t.count += 1;
        t.reserved_unknown += (a.flags & segment::kReservedUnknown) != 0 ? 1 : 0;
        return slot;
    }

    // In the ledger alone: an event in flight.
    uint32_t add_to_ledger(const segment::Allocation& a) {
        const auto slot = static_cast<uint32_t>(header().slots_used.fetch_add(1));
        uint64_t payload[segment::LedgerSlot::kPayloadWords];
        segment::encode(a, 1, payload);
        entry<segment::LedgerSlot>(segment::RegionId::ledger, slot).publish(payload, 1);
        return slot;
    }

    Process process(uint32_t pid, uint64_t start_time = 100, State state = State::live) {
        Identity identity{pid, pid, start_time, start_time * 10'000'000, 0, "root", "model"};
        auto reader = segment::Reader::over(bytes_.get(), size_);
        EXPECT_TRUE(reader.has_value()) << reader.error().text;
        return {std::move(identity), state, std::move(*reader)};
    }

private:
    struct Free {
        void operator()(unsigned char* bytes) const { std::free(bytes); }
    };
    std::unique_ptr<unsigned char, Free> bytes_;
    size_t size_ = 0;
};

// A chip with round figures: DRAM 4 banks of 1,000 from 0x1000, L1 8 cores of 500 from 0x100.
inline ttmem_device_info small_chip(uint64_t asic_id, uint32_t logical_id) {
    ttmem_device_info info{};
    info.asic_id = asic_id;
    info.logical_id = logical_id;
    info.arch = TTMEM_ARCH_WORMHOLE_B0;
    std::memcpy(info.board, "n300", 5);
    info.memory[TTMEM_DRAM] = {0x1000, 1000, 4000, 4, 32, TTMEM_BOTTOM_UP, 0};
    info.memory[TTMEM_L1] = {0x100, 500, 4000, 8, 16, TTMEM_TOP_DOWN, 0};
    return info;
}

inline segment::Allocation allocation(uint8_t set, segment::Kind kind, uint64_t address, uint64_t requested,
                                      uint64_t reserved, uint16_t flags = 0) {
    segment::Allocation a;
    a.set = set;
    a.kind = kind;
    a.address = address;
    a.requested = requested;
    a.reserved = reserved;
    a.flags = flags;
    return a;
}

template <class... Processes>
Census census_of(Processes&&... processes) {
    Census census;
    (census.processes.push_back(std::forward<Processes>(processes)), ...);
    return census;
}

}  // namespace ttmem::census
