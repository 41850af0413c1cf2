// SPDX-License-Identifier: Apache-2.0
#include "history/set_versions.hpp"

#include <gtest/gtest.h>

#include "history/tracked_process_test_support.hpp"

namespace ttmem::history {
namespace {

TEST(SetVersions, AnUnknownSetHasNumberZero) {
    const TrackedProcess process;
    const SetVersions versions;
    EXPECT_EQ(versions.find(0, UINT64_MAX), 0u);
    EXPECT_FALSE(versions.version(0));
    EXPECT_FALSE(versions.version(1));
}

TEST(SetVersions, AnEventBelongsToTheSetThatWasOpenThen) {
    const TrackedProcess process;
    SetVersions versions;
    ttmem_set set = process.open_set();
    const segment::Reader reader = TrackedProcess::reader();
    versions.update(reader);
    const uint64_t first_opened = reader.sets().at(0).set.opened_ticks;
    for (int i = 0; i < 128; ++i) {  // until the entry of the first set is reused
        ttmem_close_set(set);
        set = process.open_set();
    }
    versions.update(reader);
    const uint64_t second_opened = reader.sets().at(0).set.opened_ticks;
    ASSERT_GT(second_opened, first_opened);
    const uint32_t first = versions.find(0, first_opened + 16);
    const uint32_t second = versions.find(0, second_opened);
    EXPECT_NE(first, 0u);
    EXPECT_NE(second, 0u);
    EXPECT_NE(first, second);
    EXPECT_EQ(versions.find(0, first_opened - 100), 0u);
    EXPECT_EQ(versions.version(second)->opened_ticks, second_opened);
}

}  // namespace
}  // namespace ttmem::history
