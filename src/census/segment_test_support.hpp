// SPDX-License-Identifier: Apache-2.0
#pragma once

// A segment in plain memory for tests. It records events like a client. A test may then change any word, even to a
// value that no client would write.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include "census/census.hpp"
#include "census/kind.hpp"
#include "segment/layout.hpp"
#include "segment/segment_writer.hpp"

namespace ttmem::census {

constexpr size_t kDram = index_of(Kind::dram);
constexpr size_t kL1 = index_of(Kind::l1);
constexpr size_t kCb = index_of(Kind::cb);
constexpr size_t kKernel = index_of(Kind::kernel);

class TestSegment {
public:
    TestSegment()
        : size_(segment::SegmentWriter::bytes_of(kSizes)),
          bytes_(static_cast<unsigned char*>(std::aligned_alloc(segment::kPage, size_))),
          writer_(static_cast<unsigned char*>(std::memset(bytes_.get(), 0, size_)), kSizes, 0, 0) {}

    segment::Header& header() { return writer_.header(); }

    template <class T>
    T& entry(segment::RegionId id, uint64_t index) {
        const segment::Region& region = header().region[static_cast<uint32_t>(id)];
        return *reinterpret_cast<T*>(bytes_.get() + region.offset + index * region.stride);
    }

    const unsigned char* bytes() const { return bytes_.get(); }
    size_t size() const { return size_; }

    // Each function returns the index of the new entry.
    uint32_t add_device(const ttmem_device_info& info) { return writer_.add_device(info); }

    uint8_t add_set(uint64_t members, uint64_t opened = 1, uint64_t closed = 0, uint64_t generation = 1) {
        segment::DeviceSet set;
        set.members = members;
        set.opened_ticks = opened;
        set.closed_ticks = closed;
        const uint8_t index = add_set(set);
        entry<segment::SetSlot>(segment::RegionId::sets, index).word[0] = generation;
        return index;
    }

    uint8_t add_set(const segment::DeviceSet& set) { return writer_.open_set(set); }

    uint32_t add_name(std::string_view text, uint32_t parent = 0) { return writer_.add_name(text, parent); }

    uint16_t add_cores(const segment::CoreMask& mask) {
        uint16_t rows[16];
        std::copy(mask.begin(), mask.end(), rows);
        return writer_.add_core_set(rows);
    }

    // A mark, like a client.
    void add_mark(uint32_t name, uint64_t ticks, const std::vector<segment::MarkTotal>& totals) {
        const uint64_t number = header().marks.load() + 1;
        auto* words = &entry<segment::Word>(segment::RegionId::marks, segment::mark_index(number));
        segment::MarkHead head{number,        ticks, name, static_cast<uint32_t>(totals.size()),
                               totals.size(), 0,     0,    0};
        std::memcpy(static_cast<void*>(words + 1), &head, sizeof head);
        std::memcpy(static_cast<void*>(words + segment::kMarkTotalsWord), totals.data(),
                    totals.size() * sizeof totals[0]);
        words[0] = 1;
        header().marks = number;
    }

    segment::Pool& pool(uint8_t set, segment::AllocationKind kind) {
        return entry<segment::Pool>(segment::RegionId::pools, segment::pool_index(set, kind));
    }

    segment::Tally& tally(uint8_t set, segment::AllocationKind kind, uint32_t writer = 0) {
        return (&entry<segment::Tally>(segment::RegionId::tallies, writer))[segment::pool_index(set, kind)];
    }

    // Writes the ledger, the ring and the counters, like a client.
    uint32_t add(const segment::Allocation& a) {
        const uint32_t slot = next_slot();
        writer_.allocate(slot, a);
        return slot;
    }

    void free(uint32_t slot, uint64_t ticks) { writer_.free(slot, ticks); }

    // Writes only the ledger: an event in flight.
    uint32_t add_to_ledger(const segment::Allocation& a) {
        const uint32_t slot = next_slot();
        uint64_t payload[segment::kLedgerPayloadWords];
        segment::encode(a, 1, payload);
        entry<segment::LedgerSlot>(segment::RegionId::ledger, slot).publish(payload, 1);
        return slot;
    }

    Process process(uint32_t pid, uint64_t start_time = 100, ProcessState state = ProcessState::live) {
        Identity identity{pid, pid, start_time, start_time * 10'000'000, 0, "root", "model"};
        auto reader = segment::Reader::over(bytes_.get(), size_);
        EXPECT_TRUE(reader.has_value()) << reader.error().text;
        return {std::move(identity), state, std::move(*reader)};
    }

private:
    static constexpr segment::Sizes kSizes{64, 2, 16, 256, 2, 8};

    struct FreeBytes {
        void operator()(unsigned char* bytes) const { std::free(bytes); }
    };

    uint32_t next_slot() {
        const auto slot = static_cast<uint32_t>(header().slots_used.load());
        writer_.use_slots(slot + 1);
        return slot;
    }

    size_t size_;
    std::unique_ptr<unsigned char, FreeBytes> bytes_;
    segment::SegmentWriter writer_;
};

// A chip with round figures: DRAM has 4 banks of 1,000 from 0x1000, L1 has 8 cores of 500 from 0x100.
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

inline segment::Allocation allocation(uint8_t set, segment::AllocationKind kind, uint64_t address,
                                      uint64_t requested, uint64_t reserved,
                                      segment::AllocationFlags flags = {}) {
    segment::Allocation a;
    a.set = set;
    a.kind = kind;
    a.address = address;
    a.requested = requested;
    a.reserved = reserved;
    a.flags = flags;
    return a;
}

// Uids of ordinary users.
constexpr uint32_t kUser = 1000;
constexpr uint32_t kOtherUser = 1001;
constexpr uint32_t kThirdUser = 1002;

// ASIC ids of devices that do not exist.
inline std::vector<uint64_t> invented_asic_ids(size_t count, uint64_t first) {
    std::vector<uint64_t> result;
    for (size_t i = 0; i < count; ++i) {
        result.push_back(first + i);
    }
    return result;
}

template <class... Processes>
Census census_of(Processes&&... processes) {
    Census census;
    (census.processes.push_back(std::forward<Processes>(processes)), ...);
    return census;
}

}  // namespace ttmem::census
