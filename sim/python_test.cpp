// SPDX-License-Identifier: Apache-2.0
//
// The runtime works in a process that is not ours and that loads it as Python loads its modules: with RTLD_LOCAL.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sim/testing/paused_scenario_test_support.hpp"
#include "sim/testing/segment_totals_test_support.hpp"
#include "tests/support/own_segment.hpp"

namespace ttmem::sim {
namespace {

TEST(Python, RunsAScenarioFromALibraryThatItLoaded) {
    const std::string script = std::string(TTMEM_SOURCE_DIR) + "/sim/testing/run_scenario.py";
    testing::PausedScenario scenario("/usr/bin/env",
                                     {"python3", script, std::string(TTMEM_LIB_DIR), "mesh-allocation"});
    ASSERT_EQ(scenario.next_step(), "open");
    ASSERT_EQ(scenario.next_step(), "tensor 1");
    const segment::Reader reader = test::reader_of(scenario.pid());
    const testing::SegmentBytes seen = testing::add_up(reader, reader.totals());
    ASSERT_EQ(seen.size(), 8u);
    for (const auto& [asic, kinds] : seen) {
        EXPECT_EQ(kinds.at("dram").requested, 14'753'792u + 4'194'304u);
    }
}

}  // namespace
}  // namespace ttmem::sim
