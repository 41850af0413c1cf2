// SPDX-License-Identifier: Apache-2.0
#include "view/questions/fit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "census/segment_test_support.hpp"

namespace ttmem::view {
namespace {

using census::FitAnswer;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// One process that has device 0, with an allocator of its own and one of a mesh.
class FitHost : public Host {
public:
    FitHost() {
        ttmem_device_info chip = census::small_chip(0x10, 0);
        chip.memory[TTMEM_DRAM].size_per_bank = 1024;
        segment_.add_device(chip);
        segment_.add_set(1);
        segment_.add_set(1);
        segment_.add(census::allocation(1, segment::AllocationKind::dram, 0x1000, 4 * 512, 4 * 512));
    }

    Origin origin() const override { return {"host", 1'000'000'000'000'000'000, OriginSource::daemon}; }
    census::Census census() const override {
        census::Census census;
        census.processes.push_back(segment_.process(7));
        census.omissions = omissions;
        census.work_budgets.slots = slots;
        return census;
    }
    bool may_see(uint32_t /*uid*/) const override { return !is_of_another_user; }

    bool is_of_another_user = false;
    std::vector<census::Omission> omissions;
    uint64_t slots = census::WorkBudgets().slots;

private:
    mutable census::TestSegment segment_;
};

TEST(FitQuestion, FitsIfItFitsInEveryAllocator) {
    const FitHost host;
    const FitView both = *FitCheck::answer(host, {.device = "0", .size = 4 * 512, .page_size = 512});
    EXPECT_EQ(both.answer(), FitAnswer::fits);
    ASSERT_THAT(both.allocators, SizeIs(2));
    EXPECT_EQ(both.allocators[0].address, 0x1000u);
    EXPECT_EQ(both.allocators[1].address, 0x1000u + 512);
    EXPECT_EQ(both.device, 0u);
    EXPECT_EQ(both.tensor.pages(), 4u);
    EXPECT_THAT(both.unseen, IsEmpty());

    const FitView one = *FitCheck::answer(host, {.device = "0", .size = 4 * 1024, .page_size = 1024});
    EXPECT_EQ(one.answer(), FitAnswer::does_not_fit) << "the second allocator has no room";
    EXPECT_EQ(one.allocators[0].answer, FitAnswer::fits);
    EXPECT_EQ(one.allocators[1].answer, FitAnswer::does_not_fit);
    EXPECT_FALSE(FitCheck::answer(host, {.device = "9", .size = 64}));
    EXPECT_FALSE(FitCheck::answer(host, {.device = "0"}));
}

TEST(FitQuestion, IsUndecidedWhereAnotherUserMayHoldTheDevice) {
    FitHost host;
    host.is_of_another_user = true;
    const FitView view = *FitCheck::answer(host, {.device = "0", .size = 64, .page_size = 64});
    EXPECT_EQ(view.answer(), FitAnswer::undecided);
    EXPECT_THAT(view.allocators, IsEmpty());
    EXPECT_THAT(view.unseen, ElementsAre("process 7: another user's process: not listed"));
    EXPECT_EQ(FitCheck::answer(host, {.device = "0", .size = 64, .pid = 7}).error().code,
              base::Error::Code::denied);
}

TEST(FitQuestion, IsUndecidedWhereProcessesCouldNotBeReadUnlessOneIsAsked) {
    FitHost host;
    host.omissions = {{.pid = 0, .reason = census::Reason::processes_unreadable, .detail = "3 processes"}};
    const FitQuery query{.device = "0", .size = 64, .page_size = 64};
    const FitView view = *FitCheck::answer(host, query);
    EXPECT_EQ(view.answer(), FitAnswer::undecided);
    ASSERT_THAT(view.unseen, SizeIs(1));
    EXPECT_THAT(view.unseen[0], HasSubstr("3 processes can't be read"));
    FitQuery of_one = query;
    of_one.pid = 7;
    EXPECT_EQ(FitCheck::answer(host, of_one)->answer(), FitAnswer::fits);
    FitQuery too_large = query;
    too_large.size = 1 << 20;
    EXPECT_EQ(FitCheck::answer(host, too_large)->answer(), FitAnswer::does_not_fit)
        << "one allocator has no room, whatever others hold";
}

TEST(FitQuestion, IsUndecidedIfTheLedgerMayNotBeScanned) {
    FitHost host;
    host.slots = 0;
    const FitView view = *FitCheck::answer(host, {.device = "0", .size = 64, .page_size = 64});
    EXPECT_EQ(view.answer(), FitAnswer::undecided);
    EXPECT_EQ(FitCheck::answer(host, {.device = "0", .size = 64, .page_size = 64, .pid = 7})->answer(),
              FitAnswer::fits);
}

}  // namespace
}  // namespace ttmem::view
