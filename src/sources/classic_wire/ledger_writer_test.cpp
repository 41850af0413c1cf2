// SPDX-License-Identifier: Apache-2.0
#include "sources/classic_wire/ledger_writer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "census/figures.hpp"
#include "history/audit.hpp"

namespace ttmem::sources::classic_wire {
namespace {

using census::Kind;
using segment::Inexact;
using Outcome = LedgerWriter::Outcome;

constexpr segment::Sizes kSmall{2, 1, 64, 2048};

class LedgerWriterTest : public testing::Test {
protected:
    explicit LedgerWriterTest(const segment::Sizes& sizes = kSmall) {
        auto made = LedgerWriter::make(4711, 100, sizes);
        EXPECT_TRUE(made.has_value()) << made.error().text;
        writer = std::move(made->writer);
        process.emplace(census::Identity{4711, 4711, 100, 1'000, 0, "root", "model"}, census::State::live,
                        std::move(made->reader));
    }

    Outcome send(Type type, int32_t device, uint64_t size, uint64_t buffer, uint8_t buffer_type = 0) {
        return writer->apply({static_cast<uint8_t>(type), device, size, buffer_type, 99, buffer, 0}, ++now);
    }
    Outcome allocate(uint64_t buffer, uint64_t size = 1000, int32_t device = 0, uint8_t type = 0) {
        return send(Type::allocate, device, size, buffer, type);
    }
    Outcome free(uint64_t buffer, int32_t device = 0) { return send(Type::free, device, 0, buffer); }

    census::Figures figures() const {
        census::Census census;
        census.processes.push_back(*process);
        return count(census, census::Depth::pools);
    }
    census::MemoryFigures held(Kind kind, uint32_t device = 0) const {
        for (const auto& one : figures().devices) {
            if (one.id == device) {
                return one.memory[census::index_of(kind)];
            }
        }
        return {};
    }
    uint64_t requested(Kind kind, uint32_t device = 0) const { return held(kind, device).requested; }
    uint64_t inexact(Inexact what) const { return process->ledger->inexact(what); }

    void expect_ledger_equals_counters() const {
        const auto comparison = history::compare_counters_with_ledger(*process->ledger);
        EXPECT_TRUE(comparison.quiet);
        EXPECT_FALSE(comparison.difference.has_value());
    }

    uint64_t now = segment::Clock::now(segment::ClockKind::monotonic_ns).ticks;
    std::unique_ptr<LedgerWriter> writer;
    std::optional<census::Process> process;
};

TEST_F(LedgerWriterTest, AnAllocationCountsItsRequestedBytesAndSaysThatTheReservedOnesAreUnknown) {
    EXPECT_EQ(allocate(0x1000, 4096, 3), Outcome::done);
    const auto memory = held(Kind::dram, 3);
    EXPECT_EQ(memory.requested, 4096u);
    EXPECT_EQ(memory.used, 4096u);
    EXPECT_EQ(memory.count, 1u);
    EXPECT_THAT(figures().inexact,
                testing::ElementsAre(census::Inexactness{
                    4711, "reserved size unknown: used counts the requested bytes", 1, false}));
    expect_ledger_equals_counters();
}

TEST_F(LedgerWriterTest, ARepeatedAllocationAddsAReferenceAndNoBytes) {
    allocate(0x1000);
    allocate(0x1000);
    allocate(0x1000, 77);
    EXPECT_EQ(requested(Kind::dram), 1000u);
    free(0x1000);
    free(0x1000);
    EXPECT_EQ(requested(Kind::dram), 1000u);
    free(0x1000);
    EXPECT_EQ(requested(Kind::dram), 0u);
    EXPECT_EQ(free(0x1000), Outcome::unknown_free);
    EXPECT_EQ(inexact(Inexact::unknown_free), 1u);
    EXPECT_EQ(requested(Kind::dram), 0u);
    expect_ledger_equals_counters();
}

TEST_F(LedgerWriterTest, DevicesKindsAndClassesAreApart) {
    allocate(0x1000, 1, 0, 0);
    allocate(0x1000, 2, 1, 0);
    allocate(0x1000, 4, 0, 1);
    allocate(0x2000, 8, 0, 3);
    allocate(0x3000, 16, 0, 4);
    send(Type::cb_allocate, 0, 32, 0x1000);
    send(Type::kernel_load, 0, 64, 0x1000, 1);
    EXPECT_EQ(requested(Kind::dram, 0), 1u);
    EXPECT_EQ(requested(Kind::dram, 1), 2u);
    EXPECT_EQ(requested(Kind::l1), 4u);
    EXPECT_EQ(requested(Kind::l1_small), 8u);
    EXPECT_EQ(requested(Kind::trace), 16u);
    EXPECT_EQ(requested(Kind::cb), 32u);
    EXPECT_EQ(requested(Kind::kernel), 64u);
    EXPECT_EQ(figures().devices[0].kernel_by_type[1], 64u);
    // The newest of both kinds, and that it was not the only one is told.
    free(0x1000);
    EXPECT_EQ(requested(Kind::l1), 0u);
    EXPECT_EQ(requested(Kind::dram), 1u);
    EXPECT_EQ(inexact(Inexact::ambiguous_free), 1u);
    expect_ledger_equals_counters();
}

TEST_F(LedgerWriterTest, EachCircularBufferIsOneOfItsOwnAndIsFreedByItsSize) {
    send(Type::cb_allocate, 0, 100, 7);
    send(Type::cb_allocate, 0, 200, 7);
    send(Type::cb_allocate, 0, 200, 7);
    EXPECT_EQ(requested(Kind::cb), 500u);
    EXPECT_EQ(send(Type::cb_free, 0, 100, 7), Outcome::done);
    EXPECT_EQ(requested(Kind::cb), 400u);
    EXPECT_EQ(send(Type::cb_free, 0, 100, 7), Outcome::unknown_free);
    EXPECT_EQ(requested(Kind::cb), 400u);
}

TEST_F(LedgerWriterTest, AKernelCountsOnceHoweverOftenItIsLoaded) {
    send(Type::kernel_load, 0, 100, 7);
    send(Type::kernel_load, 0, 100, 7);
    EXPECT_EQ(requested(Kind::kernel), 100u);
    EXPECT_EQ(held(Kind::kernel).used, 100u);
    send(Type::kernel_unload, 0, 100, 7);
    EXPECT_EQ(requested(Kind::kernel), 0u);
    EXPECT_EQ(send(Type::kernel_unload, 0, 100, 7), Outcome::unknown_free);
}

TEST_F(LedgerWriterTest, AHookedBufferTakesNothing) {
    allocate(0, 4096);
    allocate(0, 4096);
    EXPECT_EQ(requested(Kind::dram), 0u);
    EXPECT_EQ(held(Kind::dram).planned, 2u);
    free(0);
    EXPECT_EQ(held(Kind::dram).planned, 1u);
}

TEST_F(LedgerWriterTest, WhatCannotBeIsCountedAndNotRecorded) {
    EXPECT_EQ(allocate(1, UINT64_MAX), Outcome::not_recorded);
    EXPECT_EQ(allocate(1, 1, -1), Outcome::not_recorded);
    EXPECT_EQ(allocate(1, 1, 0, 9), Outcome::not_recorded);
    EXPECT_EQ(send(Type::kernel_load, 0, 1, 1, 3), Outcome::not_recorded);
    EXPECT_EQ(inexact(Inexact::implausible_size), 1u);
    EXPECT_EQ(inexact(Inexact::unknown_device), 1u);
    EXPECT_EQ(inexact(Inexact::unknown_kind), 2u);
    EXPECT_EQ(requested(Kind::dram), 0u);
}

TEST_F(LedgerWriterTest, SixtyFourDevicesHaveRoomAndTheNextIsCounted) {
    for (int32_t device = 0; device < 65; ++device) {
        allocate(1, 10, device);
    }
    EXPECT_EQ(figures().devices.size(), 64u);
    EXPECT_EQ(requested(Kind::dram, 63), 10u);
    EXPECT_EQ(inexact(Inexact::devices_full), 1u);
    EXPECT_EQ(free(1, 64), Outcome::unknown_free);
}

TEST_F(LedgerWriterTest, AFullLedgerIsCountedAndWhatWasThereStaysExact) {
    for (uint64_t i = 1; i <= kSmall.slots + 3; ++i) {
        allocate(i, 10);
    }
    EXPECT_EQ(requested(Kind::dram), 10u * kSmall.slots);
    EXPECT_EQ(inexact(Inexact::ledger_full), 3u);
    EXPECT_EQ(free(kSmall.slots + 1), Outcome::unknown_free) << "what was refused is not there";
    for (uint64_t i = 1; i <= kSmall.slots; ++i) {
        free(i);
    }
    EXPECT_EQ(requested(Kind::dram), 0u);
    EXPECT_EQ(held(Kind::dram).peak, 10u * kSmall.slots);
    EXPECT_EQ(allocate(1), Outcome::done);
    expect_ledger_equals_counters();
}

TEST_F(LedgerWriterTest, EveryEventIsInTheRing) {
    allocate(0x1000, 5, 2);
    allocate(0x1000, 5, 2);
    free(0x1000, 2);
    free(0x1000, 2);
    segment::Cursor cursor;
    std::vector<std::pair<segment::EventType, uint64_t>> events;
    process->ledger->follow(cursor, [&](uint32_t, const segment::Event& event) {
        events.emplace_back(event.type, event.address);
    });
    EXPECT_THAT(events, testing::ElementsAre(std::pair(segment::EventType::allocate, 0x1000),
                                             std::pair(segment::EventType::free, 0x1000)));
    EXPECT_EQ(cursor.lost(), 0u);
}

TEST_F(LedgerWriterTest, AnUnknownFreeIsAmongTheFailures) {
    free(0xabc, 5);
    const auto failures = process->ledger->failures();
    ASSERT_EQ(failures.size(), 1u);
    EXPECT_EQ(failures[0].address, 0xabcu);
    EXPECT_EQ(failures[0].device, 5);
}

TEST_F(LedgerWriterTest, TheLedgerOutlivesItsWriter) {
    allocate(0x1000, 123);
    writer.reset();
    EXPECT_EQ(requested(Kind::dram), 123u);
}

TEST_F(LedgerWriterTest, RandomMessagesLeaveWhatASimpleModelSays) {
    std::mt19937 random(7);
    std::map<std::tuple<int32_t, uint8_t, uint64_t>, std::pair<uint64_t, uint64_t>>
        model;  // references, bytes
    uint64_t unknown = 0;
    for (int i = 0; i < 20'000; ++i) {
        const auto device = static_cast<int32_t>(random() % 3);
        const uint64_t buffer = 1 + random() % 50;
        // One kind a buffer, as an allocator has it.
        const auto kind = static_cast<uint8_t>(buffer % 2);
        auto& [references, bytes] = model[{device, kind, buffer}];
        if (random() % 2 == 0) {
            const uint64_t size = random() % 10'000;
            allocate(buffer, size, device, kind);
            bytes = references++ == 0 ? size : bytes;
        } else {
            free(buffer, device);
            unknown += references == 0 ? 1 : 0;
            references -= references == 0 ? 0 : 1;
        }
    }
    std::map<std::pair<int32_t, uint8_t>, uint64_t> expected;
    for (const auto& [key, live] : model) {
        expected[{std::get<0>(key), std::get<1>(key)}] += live.first == 0 ? 0 : live.second;
    }
    for (const auto& [where, bytes] : expected) {
        EXPECT_EQ(requested(static_cast<Kind>(where.second), static_cast<uint32_t>(where.first)), bytes);
    }
    EXPECT_EQ(inexact(Inexact::unknown_free), unknown);
    expect_ledger_equals_counters();
}

}  // namespace
}  // namespace ttmem::sources::classic_wire
