// SPDX-License-Identifier: Apache-2.0
//
// Reports of the simulated runtime besides bytes: failures with their cause, planned buffers, views, kernel types, names.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "segment/reader.hpp"
#include "sim/testing/paused_scenario_test_support.hpp"
#include "tests/support/own_segment.hpp"

namespace ttmem::sim {
namespace {

using testing::PausedScenario;

const std::string kProgram = std::string(TTMEM_BIN_DIR) + "/ttmem-sim";

// A scenario paused at a step, and its segment.
class AtStep {
public:
    AtStep(const std::string& step, const std::vector<std::string>& arguments)
        : scenario_(kProgram, arguments) {
        for (auto at = scenario_.next_step(); at != step; at = scenario_.next_step()) {
            if (!at) {
                throw std::logic_error("there is no step '" + step + "'");
            }
        }
    }

    segment::Reader reader() const { return test::reader_of(scenario_.pid()); }
    const nlohmann::json& truth() const { return scenario_.truth(); }

private:
    PausedScenario scenario_;
};

segment::PoolTotals sum_over_sets(const segment::Reader& reader, ttmem_kind kind) {
    segment::PoolTotals sum;
    for (const segment::SetTotals& set : reader.totals().sets) {
        const segment::PoolTotals& pool = set.pools[kind];
        sum.used += pool.used;
        sum.count += pool.count;
        sum.planned += pool.planned;
        sum.views += pool.views;
    }
    return sum;
}

TEST(Reports, OutOfMemoryIsRecordedWithRequestFreeAndLargestBlock) {
    const AtStep at("out of memory", {"oom-dram"});
    const segment::Reader reader = at.reader();
    ASSERT_EQ(reader.failure_count(segment::FailureType::out_of_memory), 1u);
    const segment::Failure failure = reader.failures().front();
    EXPECT_EQ(failure.kind, TTMEM_DRAM);
    EXPECT_EQ(failure.requested, 1'287'231'488u);
    EXPECT_EQ(failure.needed_per_bank, 107'270'144u);
    EXPECT_EQ(failure.free_per_bank, 106'022'848u);
    EXPECT_EQ(failure.largest_free_per_bank, at.truth()["devices"][0]["memory"]["dram"]["largest_free"]);
    EXPECT_EQ(reader.name(failure.name), "decoder.9");
}

TEST(Reports, AClashNamesTheEndOfTheRegionAndTheBufferInTheWay) {
    const AtStep at("clash", {"cb-clash"});
    const segment::Reader reader = at.reader();
    ASSERT_EQ(reader.failure_count(segment::FailureType::cb_clash), 1u);
    const segment::Failure failure = reader.failures().front();
    EXPECT_EQ(failure.cb_end, 941'248u);
    EXPECT_EQ(failure.lowest_buffer, 802'816u);
    EXPECT_NE(failure.program, 0u);
    EXPECT_EQ(failure.has_blocker, 1);
    EXPECT_EQ(failure.blocker_kind, TTMEM_L1);
    EXPECT_EQ(reader.name(failure.blocker_name), "decoder.0/activation");
}

TEST(Reports, AFailureHasACardWithTheBlocksOfTheBankAndTheRulesOfTheRequest) {
    const AtStep at("out of memory", {"oom-dram"});
    const segment::Reader reader = at.reader();
    const auto card = reader.card(reader.failures().front().card);
    ASSERT_TRUE(card);
    EXPECT_TRUE(card->head.is_complete());
    EXPECT_EQ(card->head.request_banks, 12u);
    EXPECT_NE(card->head.page_bytes, 0u);
    EXPECT_EQ(card->head.bank_size - card->head.used_per_bank, card->head.failure.free_per_bank);
    uint64_t used = 0;
    for (const segment::CardBlock& block : card->blocks) {
        used += block.allocation.reserved;
    }
    EXPECT_EQ(used, at.truth()["devices"][0]["memory"]["dram"]["used"]);
}

TEST(Reports, AClashHasACardWithTheCircularBuffersOfTheProgram) {
    const AtStep at("clash", {"cb-clash"});
    const segment::Reader reader = at.reader();
    const auto card = reader.card(reader.failures().front().card);
    ASSERT_TRUE(card);
    uint64_t end = 0;
    for (const segment::CardBlock& block : card->blocks) {
        if (block.allocation.kind == segment::AllocationKind::cb) {
            EXPECT_EQ(block.allocation.owner, card->head.failure.program);
            end = std::max(end, block.allocation.address + block.allocation.requested);
        }
    }
    EXPECT_EQ(end, card->head.failure.cb_end);
}

TEST(Reports, PlannedBuffersAreListedAndAddNothing) {
    const AtStep at("planned", {"hooked-capture"});
    const segment::PoolTotals dram = sum_over_sets(at.reader(), TTMEM_DRAM);
    EXPECT_EQ(dram.planned, 3u);
    EXPECT_EQ(dram.used, 0u);
}

TEST(Reports, AViewIsListedOnceHoweverManyDevicesItIsOn) {
    const AtStep at("view of a mesh buffer", {"lifetimes"});
    const segment::PoolTotals dram = sum_over_sets(at.reader(), TTMEM_DRAM);
    EXPECT_EQ(dram.views, 1u);
    EXPECT_EQ(dram.used, at.truth()["devices"][0]["memory"]["dram"]["used"]);
}

TEST(Reports, AMeshBufferIsOneRecordOnAllItsDevices) {
    const AtStep at("tensor 1", {"mesh-allocation"});
    const segment::PoolTotals dram = sum_over_sets(at.reader(), TTMEM_DRAM);
    EXPECT_EQ(dram.count + dram.views, 11u) << "10 system buffers and a tensor, and nothing for each device";
}

TEST(Reports, AGlobalCircularBufferAddsNothing) {
    const AtStep at("on a buffer", {"programs"});
    EXPECT_EQ(sum_over_sets(at.reader(), TTMEM_CB).views, 8u) << "one on each device";
}

TEST(Reports, KernelsHaveTheirTypes) {
    const AtStep at("open", {"mesh-allocation"});
    EXPECT_EQ(sum_over_sets(at.reader(), TTMEM_KERNEL_FABRIC).used, 8u * 2 * 57'344);
    EXPECT_EQ(sum_over_sets(at.reader(), TTMEM_KERNEL_DISPATCH).used, 8u * 2 * 47'104);
    EXPECT_EQ(sum_over_sets(at.reader(), TTMEM_KERNEL_APPLICATION).used, 0u);
}

TEST(Reports, WhatWasForgottenHasTheNameOfItsLayer) {
    const AtStep at("end", {"leak"});
    const segment::Reader reader = at.reader();
    size_t live = 0;
    reader.for_each_live([&](segment::SlotRef, const segment::Allocation& allocation) {
        EXPECT_EQ(reader.name(allocation.name), "decoder.2/attention_mask");
        ++live;
        return true;
    });
    EXPECT_EQ(live, 5u);
}

TEST(Reports, TheSwitchTurnsReportingOffAndTheRuntimeGoesOn) {
    PausedScenario scenario(kProgram, {"mesh-allocation"}, {"TTMEM_SIM_REPORTING=0"});
    ASSERT_EQ(scenario.next_step(), "open");
    EXPECT_FALSE(test::open_any_segment_of(scenario.pid()));
    EXPECT_EQ(scenario.truth()["devices"][0]["memory"]["dram"]["requested"], 14'753'792);
}

}  // namespace
}  // namespace ttmem::sim
