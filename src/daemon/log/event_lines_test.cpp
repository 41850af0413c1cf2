// SPDX-License-Identifier: Apache-2.0
#include "daemon/log/event_lines.hpp"

#include <gtest/gtest.h>

namespace ttmem::daemon {
namespace {

using segment::AllocationKind;

TEST(Megabytes, HaveTwoDigitsInTheShortestForm) {
    EXPECT_EQ(format_megabytes(0), "0");
    EXPECT_EQ(format_megabytes(262'144), "0.25");
    EXPECT_EQ(format_megabytes(2'202'010), "2.1");
    EXPECT_EQ(format_megabytes(1'048'576), "1.0");
    EXPECT_EQ(format_megabytes(4'096), "0.0039");
    EXPECT_EQ(format_megabytes(10'454'302), "10");  // 9.97
    EXPECT_EQ(format_megabytes(14'753'792), "14");
    EXPECT_EQ(format_megabytes(uint64_t{12} << 30), "12288");
    EXPECT_EQ(format_megabytes(1), "0.00000095");
}

TEST(EventLine, MatchesTheEarlierAllocationServer) {
    EventLineFields facts{4711, 3, false, true, AllocationKind::dram, 4'194'304, 2'560'032, 0};
    EXPECT_EQ(event_line(facts),
              "✓ [PID 4711] Allocated 4194304 bytes of DRAM on device 3 (buffer_id=2560032)");
    facts.is_free = true;
    EXPECT_EQ(event_line(facts), "✗ [PID 4711] Freed buffer 2560032 on device 3 (4194304 bytes)");
    EXPECT_EQ(event_line({1, 2, false, true, AllocationKind::cb, 262'144, 0, 524'288}),
              "✓ [CB_ALLOC] Device 2: +0.25 MB (Total: 0.50 MB)");
    EXPECT_EQ(event_line({1, 2, true, true, AllocationKind::cb, 262'144, 0, 0}),
              "✗ [CB_FREE] Device 2: -0.25 MB (Total: 0 MB)");
    EXPECT_EQ(event_line({1, 0, false, true, AllocationKind::kernel_fabric, 2'202'010, 0, 2'202'010}),
              "✓ [KERNEL_LOAD] Device 0: +2.1 MB (Total: 2.1 MB)");
    EXPECT_EQ(event_line({1, 0, true, true, AllocationKind::kernel_application, 1'048'576, 0, 0}),
              "✗ [KERNEL_UNLOAD] Device 0: -1.0 MB (Total: 0 MB)");
}

TEST(EventLine, SaysThatAViewOrAPlanAddsNothing) {
    EXPECT_EQ(event_line({1, 0, false, false, AllocationKind::l1, 64, 5, 0}),
              "✓ [PID 1] Allocated 64 bytes of L1 on device 0 (buffer_id=5, adds 0)");
    EXPECT_EQ(event_line({1, 0, false, false, AllocationKind::cb, 64, 5, 0}),
              "✓ [CB_ALLOC] Device 0: +0 MB (Total: 0 MB)");
}

TEST(EventLine, ShowsTheProcesssOwnNumberOfTheDeviceWhereItDiffers) {
    EventLineFields facts{4711, 3, false, true, AllocationKind::dram, 64, 5, 0, 3};
    EXPECT_EQ(event_line(facts), "✓ [PID 4711] Allocated 64 bytes of DRAM on device 3 (buffer_id=5)");
    facts.logical_id = 0;
    EXPECT_EQ(event_line(facts),
              "✓ [PID 4711] Allocated 64 bytes of DRAM on device 3 (buffer_id=5, its device 0)");
    facts.is_free = true;
    EXPECT_EQ(event_line(facts), "✗ [PID 4711] Freed buffer 5 on device 3 (64 bytes, its device 0)");
    EXPECT_EQ(event_line({1, 2, false, true, AllocationKind::cb, 262'144, 0, 524'288, 1}),
              "✓ [CB_ALLOC] Device 2: +0.25 MB (Total: 0.50 MB, its device 1)");
}

}  // namespace
}  // namespace ttmem::daemon
