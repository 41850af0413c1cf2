// SPDX-License-Identifier: Apache-2.0
#include "sources/classic_wire/ledger_writer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <random>
#include <string>

#include "census/figures.hpp"
#include "history/audit.hpp"

namespace ttmem::sources::classic_wire {
namespace {

using census::Kind;
using segment::Inexact;
using Outcome = LedgerWriter::Outcome;

constexpr segment::Sizes kSmall{2, 1, 64, 2048, 0, 0};
constexpr uint64_t kKibibyte = 1024;

class TestBudget : public LedgerBudget {
public:
    explicit TestBudget(uint64_t limit) : limit_(limit) {}

    bool take(uint64_t bytes) override {
        const bool fits = has_room(bytes);
        used_ += fits ? bytes : 0;
        return fits;
    }
    void give_back(uint64_t bytes) override {
        EXPECT_LE(bytes, used_);
        used_ -= bytes;
    }
    bool has_room(uint64_t bytes) const override { return bytes <= limit_ - used_; }
    uint64_t used() const { return used_; }

private:
    const uint64_t limit_;
    uint64_t used_ = 0;
};

class LedgerWriterTest : public testing::Test {
protected:
    explicit LedgerWriterTest(const segment::Sizes& sizes = kSmall,
                              std::shared_ptr<LedgerBudget> budget = nullptr) {
        auto made = LedgerWriter::make(4711, 100, sizes, std::move(budget));
        EXPECT_TRUE(made.has_value()) << made.error().text;
        writer = std::move(made->writer);
        process.emplace(census::Identity{4711, 4711, 100, 1'000, 0, "root", "model"},
                        census::ProcessState::live, std::move(made->reader));
    }

    Outcome send(MessageType type, int32_t device, uint64_t size, uint64_t buffer, uint8_t buffer_type = 0) {
        return writer->apply({static_cast<uint8_t>(type), device, size, buffer_type, 99, buffer, 0}, ++now);
    }
    Outcome allocate(uint64_t buffer, uint64_t size = 1000, int32_t device = 0, uint8_t type = 0) {
        return send(MessageType::allocate, device, size, buffer, type);
    }
    Outcome free(uint64_t buffer, int32_t device = 0) { return send(MessageType::free, device, 0, buffer); }

    census::Figures figures() const {
        census::Census census;
        census.processes.push_back(*process);
        return compute_figures(census, census::Depth::pools);
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
                testing::ElementsAre(census::Inexactness{4711, census::Reason::reserved_unknown, 1}));
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
    send(MessageType::cb_allocate, 0, 32, 0x1000);
    send(MessageType::kernel_load, 0, 64, 0x1000, 1);
    EXPECT_EQ(requested(Kind::dram, 0), 1u);
    EXPECT_EQ(requested(Kind::dram, 1), 2u);
    EXPECT_EQ(requested(Kind::l1), 4u);
    EXPECT_EQ(requested(Kind::l1_small), 8u);
    EXPECT_EQ(requested(Kind::trace), 16u);
    EXPECT_EQ(requested(Kind::cb), 32u);
    EXPECT_EQ(requested(Kind::kernel), 64u);
    EXPECT_EQ(figures().devices[0].kernel_by_type[1], 64u);
    // The free removes the newest allocation of either kind, and counts as ambiguous.
    free(0x1000);
    EXPECT_EQ(requested(Kind::l1), 0u);
    EXPECT_EQ(requested(Kind::dram), 1u);
    EXPECT_EQ(inexact(Inexact::ambiguous_free), 1u);
    expect_ledger_equals_counters();
}

TEST_F(LedgerWriterTest, AFreeIsAmbiguousIfAnyOlderBufferHasAnotherKind) {
    allocate(0, 1000, 0, TTMEM_L1);
    allocate(0, 1000, 0, TTMEM_DRAM);
    allocate(0, 1000, 0, TTMEM_DRAM);
    free(0);
    EXPECT_EQ(inexact(Inexact::ambiguous_free), 1u);
    free(0);
    EXPECT_EQ(inexact(Inexact::ambiguous_free), 2u);
    free(0);
    EXPECT_EQ(inexact(Inexact::ambiguous_free), 2u);
    EXPECT_EQ(inexact(Inexact::unknown_free), 0u);
}

TEST_F(LedgerWriterTest, EachCircularBufferIsOneOfItsOwnAndIsFreedByItsSize) {
    send(MessageType::cb_allocate, 0, 100, 7);
    send(MessageType::cb_allocate, 0, 200, 7);
    send(MessageType::cb_allocate, 0, 200, 7);
    EXPECT_EQ(requested(Kind::cb), 500u);
    EXPECT_EQ(send(MessageType::cb_free, 0, 100, 7), Outcome::done);
    EXPECT_EQ(requested(Kind::cb), 400u);
    EXPECT_EQ(send(MessageType::cb_free, 0, 100, 7), Outcome::unknown_free);
    EXPECT_EQ(requested(Kind::cb), 400u);
}

TEST_F(LedgerWriterTest, AKernelCountsOnceHoweverOftenItIsLoaded) {
    send(MessageType::kernel_load, 0, 100, 7);
    send(MessageType::kernel_load, 0, 100, 7);
    EXPECT_EQ(requested(Kind::kernel), 100u);
    EXPECT_EQ(held(Kind::kernel).used, 100u);
    send(MessageType::kernel_unload, 0, 100, 7);
    EXPECT_EQ(requested(Kind::kernel), 0u);
    EXPECT_EQ(send(MessageType::kernel_unload, 0, 100, 7), Outcome::unknown_free);
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
    EXPECT_EQ(send(MessageType::kernel_load, 0, 1, 1, 3), Outcome::not_recorded);
    EXPECT_EQ(inexact(Inexact::implausible_size), 1u);
    EXPECT_EQ(inexact(Inexact::unknown_device), 1u);
    EXPECT_EQ(inexact(Inexact::unknown_kind), 2u);
    EXPECT_EQ(requested(Kind::dram), 0u);
}

TEST_F(LedgerWriterTest, SixtyFourDevicesHaveRoomAndHigherNumbersAreCounted) {
    EXPECT_EQ(allocate(1, 10, 2'000'000'000), Outcome::not_recorded);
    for (int32_t device = 0; device < 65; ++device) {
        allocate(1, 10, device);
    }
    EXPECT_EQ(figures().devices.size(), 64u);
    EXPECT_EQ(requested(Kind::dram, 63), 10u);
    EXPECT_EQ(inexact(Inexact::unknown_device), 2u);
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

TEST_F(LedgerWriterTest, KeysAreFoundAgainAfterTheTableHasGrown) {
    for (uint64_t i = 0; i < kSmall.slots; ++i) {
        ASSERT_EQ(send(MessageType::cb_allocate, 0, i / 4, i % 4), Outcome::done);
    }
    EXPECT_EQ(held(Kind::cb).count, kSmall.slots);
    for (uint64_t i = kSmall.slots; i != 0; --i) {
        ASSERT_EQ(send(MessageType::cb_free, 0, (i - 1) / 4, (i - 1) % 4), Outcome::done);
    }
    EXPECT_EQ(held(Kind::cb).count, 0u);
    EXPECT_EQ(inexact(Inexact::unknown_free), 0u);
    expect_ledger_equals_counters();
}

// ---- memory ----------------------------------------------------------------------------------------------------------

class LedgerMemoryTest : public LedgerWriterTest {
protected:
    LedgerMemoryTest() : LedgerWriterTest(LedgerWriter::kSizes) {}
};

TEST_F(LedgerMemoryTest, AClientThatHoldsLittleTakesLittleBesidesItsRing) {
    const uint64_t ring = LedgerWriter::kSizes.ring_records * sizeof(segment::RingRecord);
    allocate(0x1000);
    free(0x2000);
    EXPECT_LE(writer->bytes(), ring + 56 * kKibibyte);
    EXPECT_LE(process->ledger->resident_bytes(), writer->bytes());
    EXPECT_EQ(process->ledger->failures().size(), 1u);
}

TEST_F(LedgerMemoryTest, ALiveAllocationTakesAtMost105Bytes) {
    allocate(1);
    const uint64_t before = writer->bytes();
    for (uint64_t count : {10'000u, 32'769u, 65'537u, 100'000u}) {
        for (uint64_t i = 1; i <= count; ++i) {
            allocate(i);  // those that are live take nothing
        }
        EXPECT_LE((writer->bytes() - before) / count, 105u) << count;
        EXPECT_LE(process->ledger->resident_bytes(), writer->bytes());
    }
}

TEST_F(LedgerMemoryTest, AllDevicesHaveMemoryAndAreCountedForIt) {
    for (int32_t device = 0; device < 64; ++device) {
        allocate(1, 10, device);
        send(MessageType::kernel_load, device, 10, 1, 2);
    }
    EXPECT_LE(process->ledger->resident_bytes(), writer->bytes());
    EXPECT_EQ(requested(Kind::kernel, 63), 10u);
    expect_ledger_equals_counters();
}

class LedgerBudgetTest : public LedgerWriterTest {
protected:
    static constexpr uint64_t kLimit = 200 * kKibibyte;

    LedgerBudgetTest() : LedgerBudgetTest(std::make_shared<TestBudget>(kLimit)) {}
    explicit LedgerBudgetTest(const std::shared_ptr<TestBudget>& shared)
        : LedgerWriterTest({2, 1, 64, 8192}, shared), budget(shared) {}

    std::shared_ptr<TestBudget> budget;
};

TEST_F(LedgerBudgetTest, AnAllocationBeyondTheBudgetIsCountedAndNotRecorded) {
    uint64_t recorded = 0;
    while (allocate(recorded + 1, 10) == Outcome::done) {
        ++recorded;
        ASSERT_LT(recorded, 8192u);
    }
    EXPECT_GT(recorded, 1000u);
    EXPECT_EQ(allocate(recorded + 2, 10), Outcome::not_recorded);
    EXPECT_EQ(inexact(Inexact::ledger_full), 2u);
    EXPECT_EQ(requested(Kind::dram), 10 * recorded) << "what is recorded stays exact";
    EXPECT_EQ(budget->used(), writer->bytes());
    EXPECT_LE(budget->used(), kLimit);
    EXPECT_EQ(allocate(1, 10), Outcome::done) << "one more reference takes no memory";
    EXPECT_EQ(free(2), Outcome::done);
    EXPECT_EQ(allocate(recorded + 1, 10), Outcome::done) << "a free slot takes no memory";
    expect_ledger_equals_counters();
}

TEST_F(LedgerBudgetTest, ADeviceBeyondTheBudgetIsCountedAndNotRecorded) {
    const uint64_t rest = kLimit - budget->used();
    ASSERT_TRUE(budget->take(rest));
    EXPECT_EQ(allocate(1, 10, 3), Outcome::not_recorded);
    EXPECT_EQ(inexact(Inexact::ledger_full), 1u);
    EXPECT_EQ(free(1, 3), Outcome::unknown_free);
    EXPECT_EQ(inexact(Inexact::unknown_free), 1u);
    EXPECT_TRUE(process->ledger->failures().empty()) << "there is no memory for the list";
    budget->give_back(rest);
    EXPECT_EQ(allocate(1, 10, 3), Outcome::done);
    EXPECT_EQ(requested(Kind::dram, 3), 10u);
}

TEST_F(LedgerBudgetTest, TheEndOfTheWriterGivesEverythingBack) {
    for (uint64_t i = 1; i <= 3000; ++i) {
        allocate(i, 10, static_cast<int32_t>(i % 10));
    }
    free(99'999);
    EXPECT_NE(budget->used(), 0u);
    writer.reset();
    EXPECT_EQ(budget->used(), 0u);
}

TEST_F(LedgerBudgetTest, WithoutRoomThereIsNoLedgerAndNothingIsTaken) {
    const auto small = std::make_shared<TestBudget>(10 * kKibibyte);
    const auto made = LedgerWriter::make(4711, 100, kSmall, small);
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code, base::Error::Code::refused);
    EXPECT_THAT(made.error().text, testing::HasSubstr("memory for classic clients is used up"));
    EXPECT_EQ(small->used(), 0u);
}

TEST_F(LedgerBudgetTest, TheRingsOfManyClientsAreSmallerThanThoseOfFew) {
    const auto shared = std::make_shared<TestBudget>(24 * kKibibyte * kKibibyte);
    std::vector<std::unique_ptr<LedgerWriter>> clients;
    uint32_t last_ring = LedgerWriter::kSizes.ring_records;
    EXPECT_EQ(LedgerWriter::sizes_for(*shared).ring_records, last_ring);
    while (true) {
        const segment::Sizes sizes = LedgerWriter::sizes_for(*shared);
        EXPECT_LE(sizes.ring_records, last_ring);
        last_ring = sizes.ring_records;
        auto made = LedgerWriter::make(4711, 100, sizes, shared);
        if (!made) {
            break;
        }
        made->writer->apply({static_cast<uint8_t>(MessageType::allocate), 0, 10, 0, 99, 0x1000, 0}, ++now);
        clients.push_back(std::move(made->writer));
    }
    EXPECT_GE(clients.size(), 150u);
}

TEST_F(LedgerWriterTest, TheLedgerOutlivesItsWriter) {
    allocate(0x1000, 123);
    writer.reset();
    EXPECT_EQ(requested(Kind::dram), 123u);
}

TEST_F(LedgerWriterTest, RandomMessagesLeaveWhatASimpleModelSays) {
    std::mt19937 random(7);
    // Maps to references and bytes.
    std::map<std::tuple<int32_t, uint8_t, uint64_t>, std::pair<uint64_t, uint64_t>> model;
    uint64_t unknown = 0;
    for (int i = 0; i < 20'000; ++i) {
        const auto device = static_cast<int32_t>(random() % 3);
        const uint64_t buffer = 1 + random() % 50;
        // Each buffer has one kind, as with a real allocator.
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

uint64_t resident_bytes() {
    std::ifstream file("/proc/self/smaps_rollup");
    for (std::string word; file >> word;) {
        if (word == "Rss:") {
            uint64_t kibibytes = 0;
            file >> kibibytes;
            return kibibytes * kKibibyte;
        }
    }
    return 0;
}

// Pages that are mapped twice count twice in the memory of a process.
TEST(LedgerMemory, OfAnAllocationIsAtMost105BytesAlsoAfterAReaderSawIt) {
    constexpr uint64_t kAllocations = 100'000;
    auto made = LedgerWriter::make(4711, 100);
    ASSERT_TRUE(made) << made.error().text;
    const uint64_t before = resident_bytes();
    if (before == 0) {
        GTEST_SKIP() << "the kernel does not report resident memory";
    }
    for (uint64_t i = 1; i <= kAllocations; ++i) {
        made->writer->apply({static_cast<uint8_t>(MessageType::allocate), 0, 1000, 0, 99, i, 0}, i);
    }
    uint64_t live = 0;
    made->reader.for_each_live([&](segment::SlotRef, const segment::Allocation&) { return ++live != 0; });
    EXPECT_EQ(live, kAllocations);
    EXPECT_LE((resident_bytes() - before) / kAllocations, 105u);
}

}  // namespace
}  // namespace ttmem::sources::classic_wire
