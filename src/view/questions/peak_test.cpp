// SPDX-License-Identifier: Apache-2.0
#include "view/questions/peak.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "census/segment_test_support.hpp"

namespace ttmem::view {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

constexpr uint64_t kReadingTime = 1'000'000'000'000'000'000;

// One process with one allocation on a mesh of two chips.
class PeakHost : public Host {
public:
    PeakHost() {
        segment_.add_device(census::small_chip(0x10, 0));
        segment_.add_device(census::small_chip(0x20, 1));
        segment_.add_set(3);
        for (const char* name : {"weights", "rest"}) {
            segment::Allocation a = census::allocation(0, segment::AllocationKind::dram, 0, 100, 128);
            a.name = segment_.add_name(name);
            a.ticks = 16;
            segment_.add(a);
        }
    }

    Origin origin() const override { return {"host", kReadingTime, OriginSource::daemon}; }
    census::Census census() const override {
        census::Census census;
        census.processes.push_back(segment_.process(7));
        census.work_budgets.slots = slots;
        return census;
    }
    bool may_see(uint32_t /*uid*/) const override { return !is_of_another_user; }

    bool is_of_another_user = false;
    uint64_t slots = census::WorkBudgets().slots;

private:
    mutable census::TestSegment segment_;
};

TEST(Peaks, OfADeviceNameItAndOfAllNameNone) {
    const PeakHost host;
    const PeakView one = *PeakContents::answer(host, {.device = "1", .limit = 1});
    EXPECT_EQ(one.device, 1u);
    EXPECT_EQ(one.kind, census::Kind::dram);
    EXPECT_TRUE(one.is_exact());
    ASSERT_THAT(one.peaks, SizeIs(1));
    EXPECT_EQ(one.peaks[0].requested, 200u);
    EXPECT_EQ(one.peaks[0].used_peak, 256u);
    EXPECT_THAT(one.peaks[0].names, ElementsAre(census::PeakName{"weights", 100, 1}));
    EXPECT_EQ(one.peaks[0].left_out(), 1u);
    EXPECT_LT(one.peaks[0].time_ns, kReadingTime);
    const PeakView all = *PeakContents::answer(host, {});
    EXPECT_EQ(all.device, std::nullopt);
    EXPECT_EQ(all.peaks.at(0).requested, 200u) << "the mesh counts once";
    EXPECT_THAT(PeakContents::answer(host, {.kind = census::Kind::l1})->peaks, IsEmpty());
    EXPECT_FALSE(PeakContents::answer(host, {.device = "9"}));
    EXPECT_FALSE(PeakContents::answer(host, {.pid = 9}));
}

TEST(Peaks, OfOtherUsersAreHidden) {
    PeakHost host;
    host.is_of_another_user = true;
    const PeakView view = *PeakContents::answer(host, {});
    EXPECT_THAT(view.peaks, IsEmpty());
    EXPECT_EQ(view.hidden.processes, 1u);
    EXPECT_FALSE(view.is_exact());
    EXPECT_EQ(PeakContents::answer(host, {.pid = 7}).error().code, base::Error::Code::denied);
}

TEST(Peaks, LeaveOutALedgerThatTheyMayNotScan) {
    PeakHost host;
    host.slots = 0;
    const census::Inexactness missing{7, census::Reason::list_limit, 1};
    const PeakView view = *PeakContents::answer(host, {});
    EXPECT_THAT(view.peaks, IsEmpty());
    EXPECT_THAT(view.inexact, Contains(missing));
    const PeakView named = *PeakContents::answer(host, {.pid = 7});
    EXPECT_THAT(named.peaks, SizeIs(1));
    EXPECT_THAT(named.inexact, Not(Contains(missing)));
}

}  // namespace
}  // namespace ttmem::view
