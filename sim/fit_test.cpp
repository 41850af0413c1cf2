// SPDX-License-Identifier: Apache-2.0
//
// What 'fit' predicts, the allocator then does: for every request of the recorded logs, and in random states.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <unistd.h>

#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "census/figures.hpp"
#include "census/fit.hpp"
#include "sim/geometry.hpp"
#include "sim/replay.hpp"
#include "sim/scenarios/replay_metal.hpp"
#include "tests/support/child.hpp"
#include "tests/support/own_segment.hpp"

namespace ttmem::sim {
namespace {

using census::AllocatorFit;
using census::FitAnswer;
using ::testing::HasSubstr;

// Asks about the mesh of this process, as 'ttmem fit' does: from the segment alone.
AllocatorFit ask_about_mesh(census::FitQuery query) {
    census::Census census;
    const auto pid = static_cast<uint32_t>(getpid());
    census.processes.emplace_back(census::Identity{pid, pid, 100, 1'000'000'000, 0, "root", "test"},
                                  census::ProcessState::live, test::own_reader());
    // A mesh may leave out the first chips of its board.
    const auto devices = census::compute_figures(census, census::Depth::pools).devices;
    query.device = devices.empty() ? "0" : std::to_string(devices.front().id);
    const auto answers = census::fit_request(census, query, {});
    EXPECT_TRUE(answers) << answers.error().text;
    for (const AllocatorFit& fit : answers ? *answers : std::vector<AllocatorFit>()) {
        if (fit.set.starts_with("mesh")) {
            return fit;
        }
    }
    ADD_FAILURE() << "no allocator of a mesh";
    return {};
}

census::FitQuery query_of(const ReplayAllocation& call) {
    census::FitQuery query{
        .kind = static_cast<census::Kind>(call.pool),
        .size = call.size,
        .page_size = call.page_size,
        .direction = call.bottom_up ? census::FitDirection::bottom_up : census::FitDirection::top_down};
    if (call.shard_cores != 0) {
        query.cores = call.shard_cores;
    }
    return query;
}

// The runtime under replay, asked before each request whether it fits.
class PredictedTarget final : public ReplayTarget {
public:
    explicit PredictedTarget(std::unique_ptr<ReplayTarget> target) : target_(std::move(target)) {}

    tl::expected<ReplayPlacement, std::string> allocate(const ReplayAllocation& call) override {
        const AllocatorFit predicted = ask_about_mesh(query_of(call));
        auto placement = target_->allocate(call);
        EXPECT_EQ(predicted.answer, placement ? FitAnswer::fits : FitAnswer::does_not_fit)
            << "allocation " << call.id << " " << predicted.undecided;
        if (placement) {
            EXPECT_EQ(predicted.address, placement->address) << "allocation " << call.id;
        } else {
            // The message has the figures of the real allocator.
            EXPECT_THAT(placement.error(),
                        HasSubstr(fmt::format(
                            "each bank needs to store {} B, but bank size is {} B (allocated: {} B, "
                            "free: {} B, largest free block: {} B)",
                            predicted.needed, predicted.bank.size, predicted.used, predicted.free,
                            predicted.largest_free)));
        }
        return placement;
    }

    bool free(int64_t id) override { return target_->free(id); }
    void free_all() override { target_->free_all(); }
    allocator::PoolStatistics statistics(PoolKind pool) const override { return target_->statistics(pool); }
    uint32_t banks(PoolKind pool) const override { return target_->banks(pool); }

private:
    std::unique_ptr<ReplayTarget> target_;
};

class FitOfRecordedLog : public ::testing::TestWithParam<const char*> {};

// In a separate process, because a process has one simulated host for its whole life.
TEST_P(FitOfRecordedLog, PredictsEveryGrantedAndRefusedRequest) {
    test::expect_passes_in_child([] {
        std::ifstream log(TTMEM_TEST_DATA "/allocator/" + std::string(GetParam()) + ".jsonl");
        ASSERT_TRUE(log);
        const auto result = replay(log, [](const Board& board, const RegionSizes& regions) {
            return std::make_unique<PredictedTarget>(open_metal_target(board, regions));
        });
        ASSERT_TRUE(result) << result.error();
        EXPECT_EQ(result->difference, std::nullopt) << "what the runtime does is what the log has";
        EXPECT_GT(result->allocations, 200u);
    });
}

INSTANTIATE_TEST_SUITE_P(Boards, FitOfRecordedLog,
                         ::testing::Values("n150", "n300_heavy", "t3000", "p100_heavy", "p150",
                                           "blackhole_galaxy"),
                         [](const auto& each) { return std::string(each.param); });

// A request of any kind: odd pages, both directions, shards; some larger than the pool.
ReplayAllocation random_call(uint64_t random, int64_t id) {
    ReplayAllocation call{.id = id, .pool = allocator::kPools[random % allocator::kPoolCount]};
    random >>= 8;
    const bool is_l1 = allocator::is_in_l1(call.pool);
    call.page_size = 1 + random % 4096;
    call.bottom_up = random % 3 == 0 ? is_l1 : !is_l1;
    random >>= 13;
    if (call.pool == PoolKind::l1_small || (call.pool == PoolKind::l1 && random % 2 == 0)) {
        call.shard_cores = 1 + static_cast<uint32_t>(random / 2 % 8);
        call.shard_pages_per_core =
            1 + static_cast<uint32_t>(random / 16 % (call.pool == PoolKind::l1 ? 90 : 8));
        call.size = uint64_t{call.shard_cores} * call.shard_pages_per_core * call.page_size;
    } else {
        constexpr uint64_t kMostPages[] = {1'500'000, 6'000, 0, 100};  // of dram, l1, l1_small and trace
        call.size = (1 + random / 2 % kMostPages[static_cast<size_t>(call.pool)]) * call.page_size;
    }
    return call;
}

// Frees what the proposal names, then makes the request.
void try_release(ReplayTarget& target, std::map<std::pair<PoolKind, uint64_t>, int64_t>& live,
                 const census::FitRelease& release, const ReplayAllocation& call) {
    for (const census::FitBlock& block : release.blocks) {
        const auto found = live.find({call.pool, block.address});
        RC_ASSERT(found != live.end());
        RC_ASSERT(target.free(found->second));
        live.erase(found);
    }
    const auto placement = target.allocate(call);
    RC_ASSERT(placement.has_value());
    RC_ASSERT(placement->address == release.address);
    live[{call.pool, placement->address}] = call.id;
}

void check_random_states() {
    const std::unique_ptr<ReplayTarget> target =
        open_metal_target(*find_board("t3000"), {.l1_small = 65'536, .trace = 8'388'608});
    uint64_t granted = 0;
    uint64_t refused = 0;
    uint64_t released = 0;
    int64_t id = 0;
    const bool held = rc::check("the prediction is what happens", [&] {
        target->free_all();
        std::map<std::pair<PoolKind, uint64_t>, int64_t> live;
        const auto calls = *rc::gen::container<std::vector<uint64_t>>(
            40, rc::gen::resize(rc::kNominalSize, rc::gen::arbitrary<uint64_t>()));
        for (const uint64_t random : calls) {
            if (random % 7 == 0 && !live.empty()) {
                const auto victim = std::next(live.begin(), static_cast<ptrdiff_t>(random / 7 % live.size()));
                RC_ASSERT(target->free(victim->second));
                live.erase(victim);
                continue;
            }
            const ReplayAllocation call = random_call(random, ++id);
            const AllocatorFit predicted = ask_about_mesh(query_of(call));
            const auto placement = target->allocate(call);
            RC_ASSERT(predicted.answer == (placement ? FitAnswer::fits : FitAnswer::does_not_fit));
            RC_ASSERT(predicted.address == (placement ? std::optional(placement->address) : std::nullopt));
            RC_ASSERT(predicted.used + predicted.free == predicted.bank.size);
            if (placement) {
                ++granted;
                live[{call.pool, placement->address}] = call.id;
                continue;
            }
            ++refused;
            if (!predicted.ways.to_free.empty() &&
                predicted.ways.to_free.front().count == predicted.ways.to_free.front().blocks.size()) {
                ++released;
                try_release(*target, live, predicted.ways.to_free.front(), call);
            }
        }
    });
    EXPECT_TRUE(held);
    // The states are of use only if both happen.
    EXPECT_GT(granted, 100u);
    EXPECT_GT(refused, 20u);
    EXPECT_GT(released, 10u);
}

struct RegionCall {
    ReplayAllocation call;
    bool is_free = false;  // of the call with that id
};

// The granted calls, made again in regions of other sizes; then the request.
bool fits_with(const RegionSizes& regions, const std::vector<RegionCall>& calls,
               const ReplayAllocation& request) {
    const auto target = open_allocator_target(*find_board("t3000"), regions);
    for (const RegionCall& one : calls) {
        const bool is_done = one.is_free ? target->free(one.call.id) : target->allocate(one.call).has_value();
        RC_ASSERT(is_done);
    }
    return target->allocate(request).has_value();
}

ReplayAllocation random_region_call(uint64_t random, PoolKind pool, int64_t id) {
    const bool is_trace = pool == PoolKind::trace;
    ReplayAllocation call{.id = id, .pool = pool, .page_size = 1 + random % 4096, .bottom_up = is_trace};
    random >>= 12;
    if (is_trace) {
        call.size = (1 + random % 1500) * call.page_size;
    } else {
        call.shard_cores = 1 + static_cast<uint32_t>(random % 8);
        call.shard_pages_per_core = 1 + static_cast<uint32_t>(random / 8 % 8);
        call.size = uint64_t{call.shard_cores} * call.shard_pages_per_core * call.page_size;
    }
    return call;
}

void check_region_sizes() {
    constexpr RegionSizes kRegions{.l1_small = 65'536, .trace = 8'388'608};
    const std::unique_ptr<ReplayTarget> target = open_metal_target(*find_board("t3000"), kRegions);
    uint64_t fragmented = 0;
    int64_t id = 0;
    const bool held = rc::check("after the proposal, the request fits, and no smaller size does", [&] {
        target->free_all();
        const PoolKind pool = *rc::gen::element(PoolKind::l1_small, PoolKind::trace);
        const uint64_t unit =
            pool == PoolKind::trace ? allocator::kTraceAlignment * target->banks(pool) : uint64_t{32};
        std::vector<RegionCall> calls;
        std::vector<ReplayAllocation> live;
        const auto randoms = *rc::gen::container<std::vector<uint64_t>>(
            40, rc::gen::resize(rc::kNominalSize, rc::gen::arbitrary<uint64_t>()));
        for (const uint64_t random : randoms) {
            if (random % 3 == 0 && !live.empty()) {
                const auto victim = live.begin() + static_cast<ptrdiff_t>(random / 3 % live.size());
                RC_ASSERT(target->free(victim->id));
                calls.push_back({*victim, true});
                live.erase(victim);
                continue;
            }
            const ReplayAllocation call = random_region_call(random >> 8, pool, ++id);
            if (target->allocate(call)) {
                calls.push_back({call});
                live.push_back(call);
                continue;
            }
            const AllocatorFit predicted = ask_about_mesh(query_of(call));
            RC_ASSERT(predicted.answer == FitAnswer::does_not_fit);
            RC_ASSERT(predicted.ways.region_size.has_value());
            fragmented += predicted.verdict == allocator::FitVerdict::fragmented ? 1u : 0u;
            RegionSizes regions = kRegions;
            uint64_t& size = pool == PoolKind::trace ? regions.trace : regions.l1_small;
            size = *predicted.ways.region_size;
            RC_ASSERT(fits_with(regions, calls, call));
            size -= unit;
            RC_ASSERT(!fits_with(regions, calls, call));
        }
    });
    EXPECT_TRUE(held);
    EXPECT_GT(fragmented, 20u) << "packed blocks would prove nothing";
}

TEST(FitInRandomStates, ProposesTheSmallestRegionThatHoldsTheRequestAndWhatIsLive) {
    const test::Outcome outcome = test::run_in_child(check_region_sizes);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
}

TEST(FitInRandomStates, PredictsWhatTheAllocatorDoesAndWhatToFree) {
    const test::Outcome outcome = test::run_in_child(check_random_states);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
}

}  // namespace
}  // namespace ttmem::sim
