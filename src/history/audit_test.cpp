// SPDX-License-Identifier: Apache-2.0
#include "history/audit.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "history/tracked_process_test_support.hpp"

namespace ttmem::history {
namespace {

// A copy of this process's segment that a test can corrupt.
class Copy {
public:
    Copy() : mapping_(*test::own_mapping()), bytes_(mapping_.size + 64) {
        const auto at = reinterpret_cast<uintptr_t>(bytes_.data());
        start_ = bytes_.data() + (64 - at % 64) % 64;
        std::memcpy(start_, mapping_.start, mapping_.size);
    }
    segment::Reader reader() const { return std::move(*segment::Reader::over(start_, mapping_.size)); }
    segment::Header& header() const { return *reinterpret_cast<segment::Header*>(start_); }
    template <class T>
    T& first(segment::RegionId id) const {
        return *reinterpret_cast<T*>(start_ + header().region[static_cast<uint32_t>(id)].offset);
    }

private:
    test::Mapping mapping_;
    std::vector<unsigned char> bytes_;
    unsigned char* start_ = nullptr;
};

struct AuditTest : testing::Test {
    AuditTest() {
        setenv("TTMEM_SLOTS", "64", 1);
        setenv("TTMEM_WRITERS", "2", 1);
        setenv("TTMEM_NAMES", "16", 1);
        const TrackedProcess process;
        TrackedProcess::allocate(process.open_set(), 100);
    }
};

TEST_F(AuditTest, EqualCountersAndLedgerAreNoDifference) {
    const Copy copy;
    const segment::Reader reader = copy.reader();
    const Comparison comparison = compare_counters_with_ledger(reader);
    EXPECT_TRUE(comparison.quiet);
    EXPECT_FALSE(comparison.difference);
}

TEST_F(AuditTest, ADifferenceIsReportedOnceAndOnlyIfItLasts) {
    const Copy copy;
    const segment::Reader reader = copy.reader();
    copy.first<segment::Pool>(segment::RegionId::pools).used.fetch_add(1);
    Audit audit;
    EXPECT_FALSE(audit.compare(reader)) << "once is no defect yet";
    const auto difference = audit.compare(reader);
    ASSERT_TRUE(difference);
    EXPECT_EQ(difference->counters.used, 101u);
    EXPECT_EQ(difference->ledger.used, 100u);
    EXPECT_FALSE(audit.compare(reader)) << "already reported";
    EXPECT_EQ(audit.done(), 3u);
}

TEST_F(AuditTest, ADifferenceThatGoesAwayIsNone) {
    const Copy copy;
    const segment::Reader reader = copy.reader();
    segment::Pool& pool = copy.first<segment::Pool>(segment::RegionId::pools);
    Audit audit;
    pool.used.fetch_add(1);
    EXPECT_FALSE(audit.compare(reader));
    pool.used.fetch_sub(1);
    EXPECT_FALSE(audit.compare(reader));
    pool.used.fetch_add(1);
    EXPECT_FALSE(audit.compare(reader));
}

TEST_F(AuditTest, NothingIsSaidWhileAnEventIsBeingRecorded) {
    const Copy copy;
    const segment::Reader reader = copy.reader();
    copy.first<segment::Pool>(segment::RegionId::pools).used.fetch_add(1);
    copy.first<segment::WriterLine>(segment::RegionId::writers).intent.store(1);
    Audit audit;
    EXPECT_FALSE(audit.compare(reader));
    EXPECT_FALSE(audit.compare(reader));
    EXPECT_EQ(audit.busy(), 2u);
    EXPECT_EQ(audit.done(), 0u);
}

}  // namespace
}  // namespace ttmem::history
