// SPDX-License-Identifier: Apache-2.0

// Hosts that lack features which the client prefers.

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "segment/reader.hpp"
#include "tests/support/child.hpp"
#include "tests/support/own_segment.hpp"
#include "tests/support/seccomp.hpp"
#include "ttmem/ttmem.h"

namespace ttmem {

namespace {

// Kernels before 5.14 lack MADV_POPULATE_WRITE. The client then allocates its memory with fallocate().
TRACKED_TEST(OldKernel, HistoryAndLedgerAreReadFromTheFirstEventOn) {
    ASSERT_TRUE(test::refuse_system_call(SYS_madvise, EINVAL, {{2, MADV_POPULATE_WRITE}}));
    ttmem_device_info info{};
    const ttmem_device device = ttmem_register_device(&info);
    const ttmem_set set = ttmem_open_set(&device, 1, "device 0");
    ASSERT_NE(0u, ttmem_allocate(set, TTMEM_DRAM, 0x1000, 64, 64, 1));

    auto reader = segment::Reader::open(test::open_segment_of(getpid()));
    ASSERT_TRUE(reader) << reader.error().text;
    segment::Cursor cursor;
    unsigned events = 0;
    reader->follow(cursor, [&](uint32_t, const segment::Event&) { ++events; });
    EXPECT_EQ(2u, events) << "the set was opened, and the allocation made";
    EXPECT_EQ(64u, reader->totals().sets.at(0).pools[TTMEM_DRAM].used);
    EXPECT_EQ(64u, reader->totals_from_ledger().sets.at(0).pools[TTMEM_DRAM].used);
}

}  // namespace

}  // namespace ttmem
