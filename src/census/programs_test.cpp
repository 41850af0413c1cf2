// SPDX-License-Identifier: Apache-2.0
#include "census/programs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "census/segment_test_support.hpp"

namespace ttmem::census {
namespace {

using testing::ElementsAre;

class Programs : public testing::Test {
protected:
    void SetUp() override {
        segment_.add_device(small_chip(0x10, 0));
        segment_.add_device(small_chip(0x20, 1));
        segment_.add_set(3);
        census_ = census_of(segment_.process(7));
    }

    void add(segment::AllocationKind kind, uint64_t program, uint64_t address, uint64_t requested,
             uint64_t reserved, segment::AllocationFlags flags = {}, uint32_t name = 0, uint16_t cores = 0) {
        segment::Allocation a = allocation(0, kind, address, requested, reserved, flags);
        a.owner = program;
        a.name = name;
        a.core_set = cores;
        segment_.add(a);
    }

    TestSegment segment_;
    Census census_;
};

TEST_F(Programs, HaveTheirCircularBuffersAndKernels) {
    segment::CoreMask mask{};
    mask[2] = 1 << 5;
    add(segment::AllocationKind::cb, 42, 0x100, 10, 80, {}, 0, segment_.add_cores(mask));
    add(segment::AllocationKind::cb, 42, 0x80, 20, 40, {}, segment_.add_name("ttnn::matmul"));
    add(segment::AllocationKind::cb, 42, 0x900, 30, 30, segment::AllocationFlag::view);
    add(segment::AllocationKind::kernel_application, 42, 0, 7, 7);
    add(segment::AllocationKind::kernel_dispatch, 42, 0, 3, 3);
    add(segment::AllocationKind::dram, 42, 0, 1000, 1000);
    const ProgramPage page = *list_programs(census_, {});
    ASSERT_EQ(page.total, 1u);
    const ProgramFigures& program = page.programs[0];
    EXPECT_EQ(program.pid, 7u);
    EXPECT_EQ(program.program, 42u);
    EXPECT_EQ(program.name, "ttnn::matmul");
    EXPECT_THAT(program.devices, ElementsAre(0, 1));
    EXPECT_EQ(program.cb_requested, 30u);
    EXPECT_EQ(program.cb_used, 120u);
    EXPECT_EQ(program.cb_count, 2u);
    EXPECT_EQ(program.cb_views, 1u);
    EXPECT_EQ(program.cb_top, 0x100u + 10);
    EXPECT_EQ(program.cb_top_core, (Core{5, 2}));
    EXPECT_THAT(program.kernel_by_type, ElementsAre(7, 0, 3));
    EXPECT_EQ(program.kernel_count, 2u);
    EXPECT_EQ(program.used(), 130u);
}

TEST_F(Programs, AreOrderedByUsedBytes) {
    add(segment::AllocationKind::cb, 1, 0, 5, 5);
    add(segment::AllocationKind::kernel_application, 2, 0, 9, 9);
    add(segment::AllocationKind::cb, 3, 0, 7, 7);
    const ProgramPage page = *list_programs(census_, {.limit = 2});
    EXPECT_EQ(page.total, 3u);
    ASSERT_EQ(page.programs.size(), 2u);
    EXPECT_EQ(page.programs[0].program, 2u);
    EXPECT_EQ(page.programs[1].program, 3u);
    EXPECT_EQ(page.programs[0].cb_top, std::nullopt);
}

TEST_F(Programs, OnTwoSetsAreTwoEntries) {
    const uint8_t single = segment_.add_set(2);
    add(segment::AllocationKind::cb, 1, 0, 5, 5);
    segment::Allocation a = allocation(single, segment::AllocationKind::cb, 0, 4, 4);
    a.owner = 1;
    segment_.add(a);
    const ProgramPage page = *list_programs(census_, {});
    ASSERT_EQ(page.programs.size(), 2u);
    EXPECT_THAT(page.programs[0].devices, ElementsAre(0, 1));
    EXPECT_THAT(page.programs[1].devices, ElementsAre(1));
    EXPECT_EQ(list_programs(census_, {.device = "0"})->total, 1u);
}

TEST_F(Programs, MayHaveTheLowestAndTheHighestId) {
    add(segment::AllocationKind::cb, 0, 0, 5, 5);
    add(segment::AllocationKind::kernel_fabric, UINT64_MAX, 0, 4, 4);
    add(segment::AllocationKind::cb, 0x1000, 0, 6, 6, segment::AllocationFlag::keyed);
    const ProgramPage page = *list_programs(census_, {});
    ASSERT_EQ(page.programs.size(), 3u);
    EXPECT_EQ(page.programs[0].program, std::nullopt);
    EXPECT_EQ(page.programs[1].program, 0u);
    EXPECT_EQ(page.programs[2].program, UINT64_MAX);
}

TEST_F(Programs, WithoutAReportedIdAreUnknown) {
    add(segment::AllocationKind::cb, 0x1000, 0, 5, 5, segment::AllocationFlag::keyed);
    add(segment::AllocationKind::cb, 0x2000, 0, 6, 6, segment::AllocationFlag::keyed);
    const ProgramPage page = *list_programs(census_, {});
    ASSERT_EQ(page.programs.size(), 1u);
    EXPECT_EQ(page.programs[0].program, std::nullopt);
    EXPECT_EQ(page.programs[0].cb_used, 11u);
}

TEST_F(Programs, AreFoundByNameAndProcess) {
    add(segment::AllocationKind::cb, 1, 0, 5, 5, {}, segment_.add_name("ttnn::matmul"));
    add(segment::AllocationKind::cb, 2, 0, 5, 5, {}, segment_.add_name("ttnn::add"));
    EXPECT_EQ(list_programs(census_, {.name = "mat"})->total, 1u);
    EXPECT_FALSE(list_programs(census_, {.pid = 8}).has_value());
}

}  // namespace
}  // namespace ttmem::census
