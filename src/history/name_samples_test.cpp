// SPDX-License-Identifier: Apache-2.0
#include "history/name_samples.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "census/segment_test_support.hpp"

namespace ttmem::history {
namespace {

using census::Kind;
using census::NameTotal;
using testing::ElementsAre;

constexpr uint64_t kSampleSecond = 1'000'000'000;
constexpr uint64_t kSampleStart = 1'000'000 * kSampleSecond;

class NameSamplesTest : public testing::Test {
protected:
    NameSamplesTest() {
        segment_.add_device(census::small_chip(0x10, 0));
        segment_.add_set(1);
        name_ = segment_.add_name("kv_cache");
    }

    void allocate(uint64_t bytes, segment::AllocationKind kind = segment::AllocationKind::dram) {
        segment::Allocation a = census::allocation(0, kind, 0, bytes, bytes);
        a.name = name_;
        segment_.add(a);
    }
    std::vector<census::Process> processes() { return {segment_.process(7)}; }
    census::Identity identity() { return segment_.process(7).identity; }

    census::TestSegment segment_;
    uint32_t name_ = 0;
    NameSamples samples_;
};

TEST_F(NameSamplesTest, TotalsAreByNameAndKind) {
    allocate(10);
    allocate(20);
    allocate(5, segment::AllocationKind::l1);
    const auto totals = census::totals_by_name(*segment_.process(7).ledger, 10);
    ASSERT_TRUE(totals);
    EXPECT_THAT(totals->totals,
                ElementsAre(NameTotal{name_, Kind::dram, 0, 30}, NameTotal{name_, Kind::l1, 0, 5}));
    EXPECT_EQ(totals->members_of(totals->totals[0]), 1u);
    EXPECT_FALSE(census::totals_by_name(*segment_.process(7).ledger, 1)) << "no part of the names";
}

TEST_F(NameSamplesTest, TheSampleOfAMinuteAgoIsFoundElseTheOldest) {
    EXPECT_FALSE(samples_.before(identity(), kSampleStart));
    for (uint64_t i = 0; i <= 12; ++i) {
        allocate(1);
        samples_.add(kSampleStart + i * NameSamples::kStepNs, processes());
    }
    const uint64_t end = kSampleStart + 12 * NameSamples::kStepNs;
    const auto minute = samples_.before(identity(), end - 60 * kSampleSecond);
    ASSERT_TRUE(minute);
    EXPECT_EQ(minute->time_ns, end - 60 * kSampleSecond);
    EXPECT_THAT(minute->totals->totals, ElementsAre(NameTotal{name_, Kind::dram, 0, 7}));
    EXPECT_EQ(samples_.before(identity(), kSampleStart)->time_ns, end - NameSamples::kSpanNs)
        << "older ones are forgotten";
    census::Identity other = identity();
    other.start_time += 1;
    EXPECT_FALSE(samples_.before(other, end)) << "another process with the same pid";
}

TEST_F(NameSamplesTest, AProcessBeyondItsUsersShareHasNoSample) {
    allocate(10);
    allocate(20);
    std::vector<census::Process> later = processes();
    later[0].is_beyond_share = true;
    samples_.add(kSampleStart, later);
    EXPECT_FALSE(samples_.before(identity(), kSampleStart));
    later[0].is_beyond_share = false;
    later[0].slots_to_scan = 1;
    samples_.add(kSampleStart + NameSamples::kStepNs, later);
    const auto sample = samples_.before(identity(), kSampleStart + NameSamples::kStepNs);
    ASSERT_TRUE(sample);
    EXPECT_THAT(sample->totals->totals, ElementsAre(NameTotal{name_, Kind::dram, 0, 10}));
}

TEST_F(NameSamplesTest, ASampleComesNoMoreOftenThanEveryStep) {
    samples_.add(kSampleStart, processes());
    allocate(9);
    samples_.add(kSampleStart + kSampleSecond, processes());
    EXPECT_EQ(samples_.before(identity(), kSampleStart + kSampleSecond)->time_ns, kSampleStart);
    samples_.add(kSampleStart - 3600 * kSampleSecond, processes());
    EXPECT_EQ(samples_.before(identity(), kSampleStart)->time_ns, kSampleStart - 3600 * kSampleSecond)
        << "a clock that was set back";
}

}  // namespace
}  // namespace ttmem::history
