// SPDX-License-Identifier: Apache-2.0
//
// Equal to the allocator: at every step of every scenario, the segment's counters and ledger equal the runtime's own
// totals to the byte, for each device and kind.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "segment/reader.hpp"
#include "sim/testing/paused_scenario_test_support.hpp"
#include "sim/testing/segment_totals_test_support.hpp"
#include "tests/support/own_segment.hpp"

namespace ttmem::sim {
namespace {

using testing::add_up;
using testing::PausedScenario;
using testing::SegmentBytes;

const std::string kProgram = std::string(TTMEM_BIN_DIR) + "/ttmem-sim";

void expect_equal(const nlohmann::json& truth, const SegmentBytes& seen, const std::string& what) {
    for (const auto& device : truth.at("devices")) {
        const uint64_t asic_id = std::stoull(device.at("asic_id").get<std::string>(), nullptr, 16);
        for (const auto& [kind, figures] : device.at("memory").items()) {
            const auto found = seen.find(asic_id);
            const testing::Bytes bytes = found == seen.end() ? testing::Bytes{} : found->second.at(kind);
            EXPECT_EQ(bytes.used, figures.at("used"))
                << what << ", device " << device.at("id") << ", used " << kind;
            EXPECT_EQ(bytes.requested, figures.at("requested"))
                << what << ", device " << device.at("id") << ", requested " << kind;
        }
    }
}

// No event was dropped, guessed or freed twice.
void expect_nothing_inexact(const segment::Reader& reader, const std::string& what) {
    for (uint8_t counter = 0; counter < segment::kInexactCounters; ++counter) {
        const auto reason = static_cast<segment::Inexact>(counter);
        EXPECT_EQ(reader.inexact(reason), 0u) << what << ": " << segment::reason(reason);
    }
}

void compare(const PausedScenario& scenario, const std::string& step) {
    const segment::Reader reader = test::reader_of(scenario.pid());
    const segment::Totals totals = reader.totals();
    EXPECT_FALSE(totals.settling) << step;
    expect_equal(scenario.truth(), add_up(reader, totals), step + ", counters");
    expect_equal(scenario.truth(), add_up(reader, reader.totals_from_ledger()), step + ", ledger");
    expect_nothing_inexact(reader, step);
}

struct Case {
    std::string name;
    std::vector<std::string> arguments;
    bool killed = false;
};

class EqualToTheAllocator : public ::testing::TestWithParam<Case> {};

TEST_P(EqualToTheAllocator, AtEveryStep) {
    PausedScenario scenario(kProgram, GetParam().arguments);
    size_t steps = 0;
    while (const auto step = scenario.next_step()) {
        compare(scenario, *step);
        ++steps;
    }
    EXPECT_GE(steps, 2u);
    if (GetParam().killed) {
        EXPECT_TRUE(WIFSIGNALED(scenario.status()) && WTERMSIG(scenario.status()) == SIGKILL);
    } else {
        EXPECT_TRUE(WIFEXITED(scenario.status()) && WEXITSTATUS(scenario.status()) == 0) << scenario.status();
    }
}

INSTANTIATE_TEST_SUITE_P(
    Scenarios, EqualToTheAllocator,
    ::testing::Values(Case{"mesh_allocation", {"mesh-allocation"}}, Case{"tracking", {"tracking"}},
                      Case{"matmul_single_core", {"matmul-single-core"}},
                      Case{"matmul_multicore_reuse", {"matmul-multicore-reuse"}},
                      Case{"transformer_dp4", {"transformer-dp4"}}, Case{"programs", {"programs"}},
                      Case{"lifetimes", {"lifetimes"}}, Case{"hooked_capture", {"hooked-capture"}},
                      Case{"leak", {"leak", "--repeat", "2"}},
                      Case{"fragmentation", {"fragmentation", "--seed", "7"}}, Case{"oom_dram", {"oom-dram"}},
                      Case{"cb_clash", {"cb-clash"}}, Case{"kernel_ring", {"kernel-ring"}},
                      Case{"case_01", {"case-01"}}, Case{"case_02", {"case-02"}},
                      Case{"case_09", {"case-09"}}, Case{"case_14", {"case-14"}},
                      Case{"case_16", {"case-16"}}, Case{"trace_live_allocation", {"trace-live-allocation"}},
                      Case{"multi_thread", {"multi-thread", "--seed", "3"}}, Case{"crash", {"crash"}, true},
                      Case{"churn", {"churn", "--threads", "3", "--live", "300", "--seconds", "0.2"}}),
    [](const auto& each) { return each.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Boards, EqualToTheAllocator,
    ::testing::Values(Case{"n300_mesh", {"mesh-allocation", "--board", "n300"}},
                      Case{"p100", {"tracking", "--board", "p100"}},
                      Case{"p150", {"cb-clash", "--board", "p150"}},
                      Case{"p300", {"matmul-single-core", "--board", "p300", "--devices", "2"}},
                      Case{"quiet_box", {"transformer-dp4", "--board", "4xp150"}},
                      Case{"eight_p150", {"lifetimes", "--board", "8xp150", "--devices", "8"}},
                      Case{"galaxy", {"transformer-dp4", "--board", "galaxy", "--devices", "32"}},
                      Case{"blackhole_galaxy",
                           {"programs", "--board", "blackhole_galaxy", "--devices", "32"}},
                      Case{"mesh_of_32", {"lifetimes", "--board", "galaxy", "--devices", "32"}},
                      Case{"some_chips", {"mesh-allocation", "--devices", "2,3,7"}},
                      Case{"one_chip_of_many", {"programs", "--devices", "5,"}},
                      Case{"oom_on_blackhole", {"oom-dram", "--board", "p150"}},
                      Case{"twice", {"mesh-allocation", "--repeat", "2"}}),
    [](const auto& each) { return each.param.name; });

TEST(FourProcesses, EachEqualsItsOwnAllocatorWhileAllAreAlive) {
    std::vector<std::unique_ptr<PausedScenario>> scenarios;
    for (const char* chips : {"0,1", "2,3", "4,5", "6,7"}) {
        scenarios.push_back(std::make_unique<PausedScenario>(
            kProgram, std::vector<std::string>{"mesh-allocation", "--board", "t3000", "--devices", chips}));
    }
    size_t steps = 0;
    for (bool alive = true; alive;) {
        alive = false;
        std::vector<std::string> names(scenarios.size());
        for (size_t i = 0; i < scenarios.size(); ++i) {
            if (const auto step = scenarios[i]->next_step()) {
                names[i] = *step;
                alive = true;
            }
        }
        for (size_t i = 0; alive && i < scenarios.size(); ++i) {
            compare(*scenarios[i], names[i]);
            ++steps;
        }
    }
    EXPECT_EQ(steps, 4u * 13u);
}

// The figures of the mesh test, in requested bytes of DRAM above what the runtime takes for itself.
TEST(MeshAllocation, EveryDeviceGoesThroughTheFiguresOfTheMeshTest) {
    constexpr uint64_t kSystem = 14'753'792;
    constexpr uint64_t kTensor = 4'194'304;
    constexpr uint64_t kAddKernels = 12'288;
    constexpr uint64_t kAllKernels = 36'864;
    const std::vector<std::pair<std::string, uint64_t>> expected = {
        {"open", kSystem},
        {"tensor 1", kSystem + kTensor},
        {"tensor 2", kSystem + 2 * kTensor},
        {"add", kSystem + 3 * kTensor + kAddKernels},
        {"matmul inputs", kSystem + 3 * kTensor + kAddKernels + 2 * 524'288},
        {"matmul", kSystem + 3 * kTensor + kAllKernels + 2 * 524'288 + 1'048'576},
        {"free matmul", kSystem + 3 * kTensor + kAllKernels + 2 * 524'288},
        {"free matmul inputs", kSystem + 3 * kTensor + kAllKernels},
        {"free add", kSystem + 2 * kTensor + kAllKernels},
        {"free tensor 2", kSystem + kTensor + kAllKernels},
        {"free tensor 1", kSystem + kAllKernels},
        {"clear program cache", kSystem},
        {"close", 0}};
    PausedScenario scenario(kProgram, {"mesh-allocation"});
    for (const auto& [name, requested] : expected) {
        ASSERT_EQ(scenario.next_step(), name);
        const segment::Reader reader = test::reader_of(scenario.pid());
        const SegmentBytes seen = add_up(reader, reader.totals());
        if (requested == 0) {
            for (const auto& [asic, kinds] : seen) {
                EXPECT_EQ(kinds.at("dram").requested, 0u);
            }
            continue;
        }
        ASSERT_EQ(seen.size(), 8u);
        for (const auto& [asic, kinds] : seen) {
            EXPECT_EQ(kinds.at("dram").requested, requested) << name << ", device " << std::hex << asic;
            EXPECT_EQ(kinds.at("dram").count, seen.begin()->second.at("dram").count) << name;
            EXPECT_GE(kinds.at("kernel").used, 2u * 57'344 + 2u * 47'104) << name;
        }
    }
    EXPECT_EQ(scenario.next_step(), std::nullopt);
}

}  // namespace
}  // namespace ttmem::sim
