// SPDX-License-Identifier: Apache-2.0
#include "segment/reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "segment/read_everything_test_support.hpp"
#include "segment/small_segment_test_support.hpp"

namespace ttmem::segment {

namespace {

using ::testing::ElementsAre;

std::vector<uint32_t> live_slots(const Reader& reader) {
    std::vector<uint32_t> slots;
    reader.for_each_live([&](SlotRef slot, const Allocation&) {
        slots.push_back(slot.slot);
        return true;
    });
    return slots;
}

uint64_t events_since(const Reader& reader, Cursor& cursor) {
    uint64_t events = 0;
    reader.follow(cursor, [&](uint32_t, const Event&) { ++events; });
    return events;
}

Allocation dram(uint64_t bytes) {
    Allocation a;
    a.requested = a.reserved = bytes;
    return a;
}

}  // namespace

TEST(Reader, GivesEverythingAsItWasWritten) {
    SmallSegment segment;
    segment.fill();
    const Reader reader = read(segment);
    ASSERT_EQ(1u, reader.devices().size());
    ASSERT_TRUE(reader.devices()[0]);
    EXPECT_EQ(0xa51cu, reader.devices()[0]->asic_id);
    EXPECT_EQ(12'872'318'208u, reader.devices()[0]->memory[TTMEM_DRAM].capacity);
    ASSERT_EQ(2u, reader.sets().size());
    EXPECT_TRUE(reader.sets()[0].is_open());
    EXPECT_FALSE(reader.sets()[1].is_open());
    EXPECT_EQ("decoder.3/ttnn::matmul", reader.name(3));
    EXPECT_EQ((CoreMask{0xff, 0xff}), reader.cores(1));
    EXPECT_THAT(live_slots(reader), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
    EXPECT_EQ(2u, reader.failures().size());
    EXPECT_EQ(1u, reader.failure_count(FailureType::out_of_memory));
    EXPECT_EQ(1u, reader.inexact(Inexact::unknown_free));
    EXPECT_EQ(8u, reader.events_written());
    EXPECT_EQ(4242u, reader.writers().at(0).thread);
}

TEST(Reader, AnEntryThatIsBeingChangedIsLeftOut) {
    SmallSegment segment;
    segment.fill();
    segment.entry<DeviceSlot>(RegionId::devices, 0).word[0].store(2);
    segment.entry<SetSlot>(RegionId::sets, 0).word[0].store(2);
    segment.entry<CoreSetSlot>(RegionId::core_sets, 1).word[0].store(0);
    segment.entry<FailureSlot>(RegionId::failures, 0).word[0].store(0);
    segment.entry<LedgerSlot>(RegionId::ledger, 5).word[0].store(2);
    const Reader reader = read(segment);
    ASSERT_EQ(1u, reader.devices().size()) << "an index keeps its place";
    EXPECT_FALSE(reader.devices()[0]);
    EXPECT_EQ(1u, reader.sets().size());
    EXPECT_FALSE(reader.cores(1));
    EXPECT_EQ(1u, reader.failures().size());
    EXPECT_THAT(live_slots(reader), ElementsAre(0, 1, 2, 3, 4, 6, 7));
}

TEST(Reader, PoolsAndLedgerGiveTheSameTotals) {
    SmallSegment segment;
    segment.fill();
    const Reader reader = read(segment);
    const Totals totals = reader.totals();
    Totals ledger = reader.totals_from_ledger();
    EXPECT_FALSE(totals.settling);
    EXPECT_FALSE(ledger.settling);
    ASSERT_EQ(totals.sets.size(), ledger.sets.size());
    for (size_t i = 0; i < totals.sets.size(); ++i) {
        for (uint32_t kind = 0; kind < kKinds; ++kind) {
            ledger.sets[i].pools[kind].peak = totals.sets[i].pools[kind].peak;
            EXPECT_EQ(totals.sets[i].pools[kind], ledger.sets[i].pools[kind]) << i << " " << kind;
        }
    }
    EXPECT_EQ((PoolTotals{128, 100, 128, 1, 0, 0, 0}),
              totals.sets[0].pools[static_cast<uint32_t>(AllocationKind::l1)]);
    EXPECT_EQ((PoolTotals{0, 0, 0, 0, 1, 0, 0}),
              totals.sets[0].pools[static_cast<uint32_t>(AllocationKind::l1_small)]);
    EXPECT_EQ((PoolTotals{0, 0, 0, 0, 0, 1, 0}),
              totals.sets[0].pools[static_cast<uint32_t>(AllocationKind::trace)]);
    EXPECT_EQ((PoolTotals{768, 600, 768, 1, 0, 0, 1}), totals.sets[0].pools[6]);
}

TEST(Reader, SharesOfWritersAddUpAlsoBelowZero) {
    SmallSegment segment;
    segment.put_set(0, 1);
    segment.put_allocation(0, dram(300));
    // The second thread freed 100 bytes, one planned and two views that the first one had allocated.
    segment.header().writers_used.store(2);
    Tally& first = segment.tally(0, 0, AllocationKind::dram);
    first.requested.store(400);
    first.count.store(2);
    first.planned_and_views.store(uint64_t{5} << 32 | 3);
    first.reserved_unknown.store(1);
    Tally& second = segment.tally(1, 0, AllocationKind::dram);
    second.requested.store(0 - uint64_t{100});
    second.count.store(UINT64_MAX);
    second.planned_and_views.store(0 - (uint64_t{2} << 32 | 1));
    second.reserved_unknown.store(UINT64_MAX);
    const PoolTotals pool = read(segment).totals().sets.at(0).pools[0];
    EXPECT_EQ((PoolTotals{300, 300, 300, 1, 2, 3, 0}), pool);
}

TEST(Reader, TotalsAreSettlingWhileAnIntentIsSet) {
    SmallSegment segment;
    segment.fill();
    segment.entry<WriterLine>(RegionId::writers, 0).intent.store(SlotRef{3, 2}.pack());
    const Reader reader = read(segment);
    EXPECT_TRUE(reader.totals().settling);
    EXPECT_TRUE(reader.totals_from_ledger().settling);
    EXPECT_EQ((SlotRef{3, 2}.pack()), reader.writers().at(0).intent);
    segment.entry<WriterLine>(RegionId::writers, 0).intent.store(0);
    EXPECT_FALSE(reader.totals().settling);
    EXPECT_FALSE(reader.totals_from_ledger().settling);
}

TEST(Reader, AnAllocationInNoSetCountsNowhere) {
    SmallSegment segment;
    segment.put_set(0, 1);
    segment.put_allocation(0, dram(64));
    Allocation stray = dram(1'000);
    uint64_t payload[LedgerSlot::kPayloadWords];
    for (const auto& [set, kind] :
         {std::pair<uint8_t, uint8_t>{1, 0}, {3, 0}, {200, 0}, {255, 0}, {0, 9}, {0, 255}}) {
        stray.set = set;
        stray.kind = static_cast<AllocationKind>(kind);
        encode(stray, 1, payload);
        segment.entry<LedgerSlot>(RegionId::ledger, 1).publish(payload, 1);
        segment.header().slots_used.store(2);
        const Totals totals = read(segment).totals_from_ledger();
        ASSERT_EQ(1u, totals.sets.size());
        EXPECT_EQ(64u, totals.sets[0].pools[0].used);
        for (uint32_t other = 1; other < kKinds; ++other) {
            EXPECT_EQ(PoolTotals{}, totals.sets[0].pools[other]);
        }
    }
}

TEST(Reader, MarksBeyondTheirRegionsAreCutToThem) {
    SmallSegment segment;
    segment.fill();
    for (const uint64_t lie : {uint64_t{1'000}, uint64_t{UINT32_MAX} + 2, UINT64_MAX}) {
        segment.header().devices_used.store(lie);
        segment.header().sets_used.store(lie);
        segment.header().core_sets_used.store(lie);
        segment.header().names_used.store(lie);
        segment.header().writers_used.store(lie);
        segment.header().slots_used.store(lie);
        const Reader reader = read(segment);
        EXPECT_EQ(3u, reader.devices().size());
        EXPECT_EQ(2u, reader.sets().size());
        EXPECT_EQ(2u, reader.writers().size());
        EXPECT_EQ(48u, reader.slots_used());
        EXPECT_EQ(8u, live_slots(reader).size());
        EXPECT_EQ("", reader.name(8));
        EXPECT_FALSE(reader.cores(4));
        Cursor cursor;
        EXPECT_EQ("", read_everything(reader, cursor).problem);
    }
}

TEST(Reader, MarksBelowWhatIsThereHideIt) {
    SmallSegment segment;
    segment.fill();
    segment.header().slots_used.store(3);
    segment.header().names_used.store(3);
    segment.header().core_sets_used.store(1);
    segment.header().writers_used.store(0);
    const Reader reader = read(segment);
    EXPECT_THAT(live_slots(reader), ElementsAre(0, 1, 2));
    EXPECT_EQ("decoder.3", reader.name(2));
    EXPECT_EQ("", reader.name(3));
    EXPECT_FALSE(reader.cores(1));
    EXPECT_EQ(0u, reader.events_written());
    Cursor cursor;
    EXPECT_EQ(0u, events_since(reader, cursor));
}

TEST(Reader, SkipsWhatALaterWriterAdds) {
    Shape shape;
    shape.extra_header = 512;
    shape.unknown_region = 8'000;
    for (const RegionId id :
         {RegionId::devices, RegionId::sets, RegionId::core_sets, RegionId::pools, RegionId::tallies,
          RegionId::names, RegionId::failures, RegionId::writers, RegionId::ledger}) {
        shape.extra_of(id) = 64;
    }
    shape.extra_of(RegionId::ledger) = 8;
    shape.extra_of(RegionId::names) = 8;
    SmallSegment larger(shape);
    SmallSegment today;
    larger.fill();
    today.fill();
    // Words that are 0 now, and values of enumerations that this version does not know.
    for (Word& word : larger.header().unused_counts) {
        word.store(UINT64_MAX);
    }
    for (uint32_t i = kInexactCounters; i < kInexactCounterPlaces; ++i) {
        larger.header().inexact[i].store(UINT64_MAX);
    }
    larger.entry<Pool>(RegionId::pools, 0).unused[0].store(UINT64_MAX);
    larger.entry<WriterLine>(RegionId::writers, 0).unused[0].store(UINT64_MAX);
    const Reader a = read(larger);
    const Reader b = read(today);
    EXPECT_EQ(b.devices()[0]->asic_id, a.devices()[0]->asic_id);
    EXPECT_EQ(b.name(3), a.name(3));
    EXPECT_EQ(b.cores(1), a.cores(1));
    EXPECT_EQ(b.failures().size(), a.failures().size());
    EXPECT_EQ(live_slots(b), live_slots(a));
    ASSERT_EQ(b.totals().sets.size(), a.totals().sets.size());
    EXPECT_EQ(b.totals().sets[0].pools, a.totals().sets[0].pools);
    EXPECT_EQ(b.totals_from_ledger().sets[0].pools, a.totals_from_ledger().sets[0].pools);
    Cursor cursor;
    EXPECT_EQ(8u, events_since(a, cursor));
}

TEST(Reader, AWriterMayHaveFewerEntries) {
    Shape shape;
    shape.count.fill(1);
    shape.count_of(RegionId::pools) = kKindsPerSet;
    shape.count_of(RegionId::failures) = kFailureTypes * kFailuresPerType;
    shape.ring_records = 1;
    SmallSegment segment(shape);
    segment.put_set(0, 1);
    segment.put_allocation(0, dram(64));
    segment.put_event(0, Event());
    const Reader reader = read(segment);
    EXPECT_EQ(64u, reader.totals().sets.at(0).pools[0].used);
    Cursor cursor;
    EXPECT_EQ("", read_everything(reader, cursor).problem);
    EXPECT_EQ(0u, cursor.kept()) << "a ring of one is always being overwritten";
    EXPECT_EQ(1u, cursor.lost());
}

TEST(Reader, FailuresComeOldestFirstAndKeepTheFirstAndTheLast) {
    SmallSegment segment;
    for (uint64_t i = 0; i < 100; ++i) {
        segment.put_failure(FailureType::cb_clash, i, 1'000 + i);
    }
    const Reader reader = read(segment);
    const std::vector<Failure> failures = reader.failures();
    ASSERT_EQ(kFailuresPerType, failures.size());
    for (size_t i = 0; i < failures.size(); ++i) {
        EXPECT_EQ(i < kFirstFailures ? i : 100 - kFailuresPerType + i, failures[i].address);
        EXPECT_EQ(static_cast<uint8_t>(FailureType::cb_clash), failures[i].type);
    }
    EXPECT_EQ(100u, reader.failure_count(FailureType::cb_clash));
}

// The type of a failure is where it stands, whatever its bytes say.
TEST(Reader, AFailureCannotClaimAnotherType) {
    SmallSegment segment;
    segment.put_failure(FailureType::out_of_memory, 0, 1);
    segment.entry<FailureSlot>(RegionId::failures, 0).word[2].store(UINT64_MAX);
    EXPECT_EQ(0, read(segment).failures().at(0).type);
}

// The size of a default segment, with nothing written but its header, whose marks claim that everything is in use.
TEST(Reader, ReadingHolesFillsNone) {
    Region table[kRegionTableEntries] = {};
    const uint64_t size = lay_out(Sizes(), table);
    SmallSegment small;
    Header& header = small.header();
    std::copy(std::begin(table), std::end(table), std::begin(header.region));
    header.segment_bytes = size;
    for (Word* mark : {&header.devices_used, &header.sets_used, &header.core_sets_used, &header.names_used,
                       &header.writers_used, &header.slots_used}) {
        mark->store(UINT64_MAX);
    }
    const base::Descriptor file = make_memfd(small.bytes(), sizeof(Header), size, all_seals());
    const auto blocks = [&] {
        struct stat info {};
        fstat(file.get(), &info);
        return info.st_blocks;
    };
    const auto before = blocks();
    const auto reader = Reader::open(base::Descriptor(dup(file.get())));
    ASSERT_TRUE(reader) << reader.error().text;
    Cursor cursor;
    const Everything everything = read_everything(*reader, cursor, [&] { ASSERT_EQ(before, blocks()); });
    EXPECT_EQ("", everything.problem);
    EXPECT_EQ(before, blocks());
}

TEST(Reader, SlotsBeyondAHoleAreFound) {
    Shape shape;
    shape.count_of(RegionId::ledger) = 4'096;  // 64 pages
    for (const uint32_t extra : {0u, 8u, 4'096u}) {
        shape.extra_of(RegionId::ledger) = extra;
        SmallSegment segment(shape);
        segment.put_set(0, 1);
        const std::vector<uint32_t> slots = {0, 1, 700, 701, 2'000, 4'095};
        for (const uint32_t slot : slots) {
            segment.put_allocation(slot, dram(64));
        }
        const auto reader = Reader::open(segment.memfd());
        ASSERT_TRUE(reader) << reader.error().text;
        EXPECT_EQ(slots, live_slots(*reader)) << "entries of " << 64 + extra << " bytes";
        EXPECT_EQ(slots.size(), reader->totals_from_ledger().sets.at(0).pools[0].count);
    }
}

TEST(Reader, WithoutWorkTheTotalsAreCutAndTheUsedBytesStillHold) {
    SmallSegment segment;
    segment.fill();
    const Reader reader = read(segment);
    const Totals whole = reader.totals();
    uint64_t work = 0;
    const Totals cut = reader.totals(work);
    EXPECT_TRUE(cut.is_cut);
    EXPECT_FALSE(whole.is_cut);
    ASSERT_EQ(whole.sets.size(), cut.sets.size());
    const PoolTotals& pool = cut.sets[0].pools[0];
    EXPECT_EQ(whole.sets[0].pools[0].used, pool.used);
    EXPECT_EQ(whole.sets[0].pools[0].peak, pool.peak);
    EXPECT_EQ(pool.used, pool.requested);
    EXPECT_EQ(0u, pool.count);
}

TEST(Reader, TotalsTakeWorkForEachThreadAndSet) {
    SmallSegment segment;
    segment.fill();
    const Reader reader = read(segment);
    const uint64_t needed = reader.writers().size() * reader.sets().size();
    uint64_t work = needed + 5;
    EXPECT_FALSE(reader.totals(work).is_cut);
    EXPECT_EQ(5u, work);
    work = needed - 1;
    EXPECT_TRUE(reader.totals(work).is_cut);
    EXPECT_EQ(0u, work);
}

// The kernel is asked about each run of holes once, not about each thread and set.
TEST(Reader, AHoleOfManyThreadsAndSetsIsAskedAboutOnce) {
    Shape shape;
    shape.count_of(RegionId::sets) = 256;
    shape.count_of(RegionId::pools) = 256 * kKindsPerSet;
    shape.count_of(RegionId::writers) = 64;
    shape.count_of(RegionId::rings) = 64;
    shape.count_of(RegionId::tallies) = 64;
    SmallSegment segment(shape);
    for (uint32_t set = 0; set < 256; ++set) {
        segment.put_set(set, 1);
    }
    segment.header().writers_used.store(64);
    const auto reader = Reader::open(segment.memfd());
    ASSERT_TRUE(reader) << reader.error().text;
    constexpr uint64_t kEnough = uint64_t{1} << 32;
    uint64_t work = kEnough;
    EXPECT_FALSE(reader->totals(work).is_cut);
    EXPECT_LE(kEnough - work, 64 * 256 + 4 * Reader::kQuestionWork);
}

// Only pages with data are in the file, so the first and the middle sets have pools in a hole.
TEST(Reader, PoolsBeyondAHoleAreFound) {
    Shape shape;
    shape.count_of(RegionId::sets) = 64;
    shape.count_of(RegionId::pools) = 64 * kKindsPerSet;  // 16 pages, four sets each
    SmallSegment segment(shape);
    for (uint32_t set = 0; set < 64; ++set) {
        segment.put_set(set, 1);
    }
    for (const uint32_t set : {9u, 63u}) {
        segment.entry<Pool>(RegionId::pools, set * kKindsPerSet).used.store(set);
        segment.entry<Pool>(RegionId::pools, set * kKindsPerSet + kKinds - 1).peak.store(set);
    }
    const auto reader = Reader::open(segment.memfd());
    ASSERT_TRUE(reader) << reader.error().text;
    const Totals totals = reader->totals();
    ASSERT_EQ(64u, totals.sets.size());
    for (uint32_t set = 0; set < 64; ++set) {
        const uint64_t expected = set == 9 || set == 63 ? set : 0;
        EXPECT_EQ(expected, totals.sets[set].pools[0].used) << set;
        EXPECT_EQ(expected, totals.sets[set].pools[kKinds - 1].peak) << set;
    }
}

}  // namespace ttmem::segment
