// SPDX-License-Identifier: Apache-2.0
//
// Every runtime function that an observer needs can be interposed on every path that calls it: a preloaded library counts
// exactly the calls that the recorded event log implies.
#include <gtest/gtest.h>
#include <stdio.h>

#include <map>
#include <sstream>
#include <string>

#include "tests/support/preload.hpp"

namespace {

std::map<std::string, unsigned long> counted_calls(const std::string& log_name) {
    const std::string command =
        "TTMEM_SIM_BOARD=t3000 LD_PRELOAD=" + ttmem::test::preload_name_of(TTMEM_INTERPOSER) +
        " '" TTMEM_TEST_BIN_DIR "/record_events' " + log_name + " 2>&1 >/dev/null";
    FILE* pipe = popen(command.c_str(), "r");
    std::string text;
    for (int c = getc(pipe); c != EOF; c = getc(pipe)) {
        text.push_back(static_cast<char>(c));
    }
    EXPECT_EQ(pclose(pipe), 0);
    std::map<std::string, unsigned long> counts;
    std::istringstream lines(text);
    unsigned long count = 0;
    for (std::string name; lines >> count >> name;) {
        counts[name] = count;
    }
    return counts;
}

TEST(Interposition, APreloadedLibrarySeesEveryCallOnEveryThread) {
    const auto counts = counted_calls("t3000_events");
    ASSERT_EQ(counts.size(), 13u) << "the preloaded library did not say what it saw";
    // One more of each than in the log, whose recorder saw only its own thread. Two buffers outlive their mesh.
    EXPECT_EQ(counts.at("_ZN2tt8tt_metal12GraphTracker14track_allocateEPKNS0_6BufferE"), 18u);
    EXPECT_EQ(counts.at("_ZN2tt8tt_metal12GraphTracker16track_deallocateEPNS0_6BufferE"), 16u);
    EXPECT_EQ(counts.at("_ZN2tt8tt_metal13AllocatorImpl15allocate_bufferEPNS0_6BufferE"), 18u);
    // 3 x 8 that the log has, and 2 x 8 of the programs that were compiled on the threads of the mesh.
    EXPECT_EQ(
        counts.at("_ZN2tt8tt_metal12GraphTracker17track_allocate_cbERKNS0_12CoreRangeSetEmmbPKNS0_7IDeviceE"),
        40u);
    EXPECT_EQ(counts.at("_ZN2tt8tt_metal12GraphTracker19track_deallocate_cbEPKNS0_7IDeviceE"), 24u);
    // One mesh and one submesh; the mesh is closed by hand and once more by its end.
    EXPECT_EQ(counts.at("_ZN2tt8tt_metal11distributed10MeshDevice5closeEv"), 3u);
    EXPECT_EQ(counts.at("_ZN2tt8tt_metal6Device5closeEv"), 8u);
    EXPECT_GE(counts.at("_ZN2tt8tt_metal13AllocatorImpl18deallocate_buffersEv"), 10u);
    EXPECT_EQ(counts.at("_ZN2tt8tt_metal6detail11ProgramImpl20compile_and_allocateEPNS0_7IDeviceEb"), 4u);
    EXPECT_EQ(counts.at("_ZN2tt8tt_metal6detail11ProgramImpl25allocate_circular_buffersEPKNS0_7IDeviceE"),
              4u);
    EXPECT_EQ(counts.at("_ZN2tt8tt_metal6detail11ProgramImplD1Ev"), 4u);
    EXPECT_EQ(counts.at("_ZN2tt8tt_metal6detail11ProgramImpl27deallocate_circular_buffersEv"), 4u);
    EXPECT_EQ(counts.at("_ZN2tt8tt_metal11distributed19EnqueueMeshWorkloadERNS1_16MeshCommandQueueERNS1_"
                        "12MeshWorkloadEb"),
              3u);
}

}  // namespace
