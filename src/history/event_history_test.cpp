// SPDX-License-Identifier: Apache-2.0
#include "history/event_history.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "census/segment_test_support.hpp"

namespace ttmem::history {
namespace {

using census::ProcessSource;
using segment::AllocationKind;
using testing::ElementsAre;
using testing::SizeIs;

constexpr uint64_t kRingRecords = 16;  // the ring size of a test segment
constexpr uint64_t kSecondNs = 1'000'000'000;

struct EventHistoryTest : testing::Test {
    EventHistoryTest() {
        segment.add_device(census::small_chip(0x10, 0));
        segment.add_device(census::small_chip(0x20, 1));
        mesh = segment.add_set(3);
    }

    // Writes an event to the ring only: the history does not read the ledger.
    void write_allocation(uint64_t requested) {
        segment::Event event;
        event.type = segment::EventType::allocate;
        event.kind = AllocationKind::dram;
        event.set = mesh;
        event.requested = requested;
        event.ticks = segment::monotonic_now();
        auto& writer = segment.entry<segment::WriterLine>(segment::RegionId::writers, 0);
        const uint64_t at = writer.head.load();
        uint64_t words[segment::kRecordWords];
        segment::encode(event, words);
        auto& record = (&segment.entry<segment::RingRecord>(segment::RegionId::rings, 0))[at % kRingRecords];
        for (size_t i = 0; i < segment::kRecordWords; ++i) {
            record.word[i].store(words[i]);
        }
        writer.head.store(at + 1);
    }

    census::Process process(uint32_t pid, ProcessSource source) {
        census::Process process = segment.process(pid);
        process.source = source;
        return process;
    }

    std::vector<RecordType> types() const {
        std::vector<RecordType> result;
        for (uint64_t at = history.log().oldest(); at <= history.log().newest(); ++at) {
            result.push_back(history.log().at(at)->type);
        }
        return result;
    }

    census::TestSegment segment;
    uint8_t mesh = 0;
    EventHistory history{std::make_shared<census::DeviceIds>()};
};

TEST_F(EventHistoryTest, EventsOfAProcessLieBetweenItsStartAndItsEnd) {
    ASSERT_TRUE(history.add(1, process(7, ProcessSource::segment), Follower::StartPosition::present));
    write_allocation(64);
    history.follow();
    write_allocation(128);
    EXPECT_TRUE(history.end(1)) << "reads what is left in the ring";
    EXPECT_FALSE(history.end(1));
    EXPECT_THAT(types(), ElementsAre(RecordType::process_started, RecordType::allocation,
                                     RecordType::allocation, RecordType::process_died));
    EXPECT_EQ(history.totals().followed, 2u);
}

TEST_F(EventHistoryTest, AProcessIsFollowedWhenItsTurnComes) {
    EXPECT_EQ(history.follow_due(kSecondNs), UINT64_MAX) << "nobody is followed";
    history.add(1, process(7, ProcessSource::segment), Follower::StartPosition::present);
    uint64_t turn = history.follow_due(kSecondNs);
    for (int i = 0; i < 10; ++i) {
        EXPECT_GT(turn, kSecondNs);
        turn = history.follow_due(turn);
    }
    write_allocation(64);
    EXPECT_EQ(history.follow_due(turn - 1), turn);
    EXPECT_EQ(history.totals().followed, 0u) << "an idle process is rarely looked at";
    const uint64_t soon = history.follow_due(turn);
    EXPECT_EQ(history.totals().followed, 1u);
    EXPECT_LE(soon - turn, 20'000'000u) << "it is busy now";
}

TEST_F(EventHistoryTest, ARecordHasTheDevicesOfItsSet) {
    history.add(1, process(7, ProcessSource::segment), Follower::StartPosition::present);
    write_allocation(64);
    history.follow();
    EXPECT_THAT(history.find(1)->devices_of(*history.log().at(2)),
                ElementsAre(census::NumberedDevice{0, 0}, census::NumberedDevice{1, 1}));
    EXPECT_THAT(history.find(1)->devices_of(*history.log().at(1)), SizeIs(0)) << "a start has no set";
}

TEST_F(EventHistoryTest, ABetterSourceReplacesTheOther) {
    EXPECT_TRUE(history.add(1, process(7, ProcessSource::classic), Follower::StartPosition::present));
    EXPECT_TRUE(history.add(2, process(7, ProcessSource::segment), Follower::StartPosition::present));
    EXPECT_FALSE(history.add(3, process(7, ProcessSource::classic), Follower::StartPosition::present));
    write_allocation(64);
    history.follow();
    EXPECT_FALSE(history.end(1));
    EXPECT_TRUE(history.end(2));
    EXPECT_EQ(history.totals().followed, 1u);
}

TEST_F(EventHistoryTest, EventRatesAreThoseSinceTheLastSample) {
    history.add(1, process(7, ProcessSource::segment), Follower::StartPosition::present);
    history.follow();
    history.add_sample(kSecondNs, 0, {});
    for (int i = 0; i < 10; ++i) {
        write_allocation(64);
    }
    history.follow();
    history.add_sample(3 * kSecondNs, 0, {});
    EXPECT_EQ(history.totals().per_second, 5u);
    history.add_sample(4 * kSecondNs, 0, {});
    EXPECT_EQ(history.totals().per_second, 0u);
}

TEST_F(EventHistoryTest, ADefectIsReportedOnceAndStaysCounted) {
    segment.pool(mesh, AllocationKind::dram).used.store(100);  // the ledger is empty
    history.add(1, process(7, ProcessSource::segment), Follower::StartPosition::present);
    EXPECT_FALSE(history.audit_next()) << "a difference must last";
    const auto defect = history.audit_next();
    ASSERT_TRUE(defect);
    EXPECT_EQ(defect->pid, 7u);
    EXPECT_EQ(defect->difference.counters.used, 100u);
    EXPECT_FALSE(history.audit_next());
    history.end(1);
    EXPECT_EQ(history.totals().defects, 1u);
    EXPECT_EQ(history.totals().audits, 3u);
}

TEST_F(EventHistoryTest, AnEndedProcessIsKeptWhileItsRecordsAre) {
    history.add(1, process(7, ProcessSource::segment), Follower::StartPosition::present);
    history.end(1);
    history.forget_ended();
    EXPECT_NE(history.find(1), nullptr);
    history.add(2, process(8, ProcessSource::segment), Follower::StartPosition::present);
    while (history.log().oldest() <= 2) {
        for (uint64_t i = 0; i < kRingRecords - 1; ++i) {
            write_allocation(64);
        }
        history.follow();
    }
    history.forget_ended();
    EXPECT_EQ(history.find(1), nullptr);
    EXPECT_NE(history.find(2), nullptr);
}

}  // namespace
}  // namespace ttmem::history
