// SPDX-License-Identifier: Apache-2.0
#include "sim/replay.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <optional>
#include <sstream>
#include <string>

namespace ttmem::sim {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string read_log(const std::string& name) {
    const std::string path = TTMEM_TEST_DATA "/allocator/" + name + ".jsonl";
    std::ifstream file(path);
    EXPECT_TRUE(file) << "cannot read " << path;
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

tl::expected<ReplayResult, std::string> replay_text(const std::string& text) {
    std::istringstream log(text);
    return replay(log, open_allocator_target);
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
}

class ReplayOfRecordedLog : public ::testing::TestWithParam<const char*> {};

TEST_P(ReplayOfRecordedLog, GivesEveryAddressFailureAndStatistic) {
    const auto result = replay_text(read_log(GetParam()));
    ASSERT_TRUE(result) << result.error();
    EXPECT_EQ(result->difference, std::nullopt);
    EXPECT_EQ(result->lines, 402u);
    EXPECT_GT(result->allocations, 200u);
    EXPECT_GT(result->statistics, 20u);
    EXPECT_EQ(result->allocations + result->frees, 400u);
}

TEST_P(ReplayOfRecordedLog, HasTheGeometryOfTheBoardOfItsName) {
    std::istringstream log(read_log(GetParam()));
    std::optional<Board> opened;
    const auto result = replay(log, [&](const Board& board, const RegionSizes& regions) {
        opened = board;
        return open_allocator_target(board, regions);
    });
    ASSERT_TRUE(result && opened);
    ASSERT_NE(find_board(opened->name), nullptr) << opened->name;
    EXPECT_EQ(*opened, *find_board(opened->name));
}

INSTANTIATE_TEST_SUITE_P(Boards, ReplayOfRecordedLog,
                         ::testing::Values("n150", "n300_heavy", "t3000", "p100_heavy", "p150",
                                           "blackhole_galaxy"),
                         [](const auto& each) { return std::string(each.param); });

// A board that no table has: 3 chips of 5, in an order of its own, with banks, bases and alignments of its own.
constexpr const char* kUnknownBoard =
    R"({"alignment":{"dram":128,"l1":8},"base":{"dram":4096,"l1":512},"board":"x1","compute_grid":[5,3],)"
    R"("event":"open","l1_small_size":300,"members":[4,0,2],"mesh":[1,3],"statistics":{)"
    R"("dram":{"allocatable_per_bank":1000000,"allocated_per_bank":0,"banks":3,"free_per_bank":1000000,)"
    R"("largest_free_per_bank":1000000},)"
    R"("l1":{"allocatable_per_bank":10000,"allocated_per_bank":0,"banks":15,"free_per_bank":10000,)"
    R"("largest_free_per_bank":10000},)"
    R"("l1_small":{"allocatable_per_bank":384,"allocated_per_bank":0,"banks":15,"free_per_bank":384,)"
    R"("largest_free_per_bank":384},)"
    R"("trace":{"allocatable_per_bank":8192,"allocated_per_bank":0,"banks":3,"free_per_bank":8192,)"
    R"("largest_free_per_bank":8192}},"trace_region_size":100})"
    "\n"
    R"({"event":"allocate","id":0,"kind":"dram","size":1000,"page_size":100,"bottom_up":true,)"
    R"("address":4096,"aligned_size_per_bank":512})"
    "\n"
    R"({"event":"allocate","id":1,"kind":"l1","size":60,"page_size":20,"bottom_up":false,)"
    R"("address":10384,"aligned_size_per_bank":24})"
    "\n"
    R"({"event":"allocate","id":2,"kind":"trace","size":64,"page_size":64,"bottom_up":true,)"
    R"("address":1004096,"aligned_size_per_bank":128})"
    "\n"
    R"({"event":"allocate","id":3,"kind":"l1_small","size":64,"page_size":32,"bottom_up":false,)"
    R"("shard":{"cores":2,"layout":"height_sharded","pages_per_core":1},)"
    R"("address":10768,"aligned_size_per_bank":32})"
    "\n"
    R"({"event":"all freed"})"
    "\n";

TEST(Replay, TakesGeometryAndMemberOrderOfAnyBoardFromTheLog) {
    std::istringstream log(kUnknownBoard);
    std::optional<Board> opened;
    const auto result = replay(log, [&](const Board& board, const RegionSizes& regions) {
        opened = board;
        return open_allocator_target(board, regions);
    });
    ASSERT_TRUE(result) << result.error();
    EXPECT_EQ(result->difference, std::nullopt);
    EXPECT_EQ(result->allocations, 4u);
    EXPECT_EQ(find_board(opened->name), nullptr);
    EXPECT_THAT(opened->members, ElementsAre(4, 0, 2));
    EXPECT_EQ(opened->chips, 5u);
}

TEST(Replay, GivesTheAddressesOfARecordedLogWhateverItsBoardIsCalled) {
    const auto result =
        replay_text(replaced(replaced(read_log("t3000"), R"("board":"t3000")", R"("board":"two boards")"),
                             R"("members":[4,0,2,6,5,1,3,7])", R"("members":[7,6,5,4,3,2,1,0])"));
    ASSERT_TRUE(result) << result.error();
    EXPECT_EQ(result->difference, std::nullopt);
    EXPECT_EQ(result->lines, 402u);
}

TEST(Replay, FindsTheFirstWrongAddress) {
    const auto result =
        replay_text(replaced(read_log("t3000"), R"("address":1059840)", R"("address":1059872)"));
    ASSERT_TRUE(result) << result.error();
    EXPECT_EQ(result->difference,
              "line 4: address of allocation 2: the log has 1059872, the simulation 1059840");
}

TEST(Replay, FindsAWrongStatistic) {
    const auto result = replay_text(
        replaced(read_log("t3000"), R"("allocated_per_bank":1024)", R"("allocated_per_bank":1056)"));
    ASSERT_TRUE(result) << result.error();
    ASSERT_TRUE(result->difference);
    EXPECT_THAT(*result->difference, HasSubstr("line 2: allocated_per_bank of l1: the log has 1056"));
}

TEST(Replay, FindsAFailureThatDoesNotHappenAndOneThatDoes) {
    const std::string heavy = read_log("n300_heavy");
    const auto other_words =
        replay_text(replaced(heavy, "largest free block: 61120 B", "largest free block: 61152 B"));
    ASSERT_TRUE(other_words && other_words->difference);
    EXPECT_THAT(*other_words->difference, HasSubstr("error of allocation 38"));

    const auto no_failure =
        replay_text(replaced(heavy, R"("page_size":2048,"size":4831232)", R"("page_size":2048,"size":2048)"));
    ASSERT_TRUE(no_failure && no_failure->difference);
    EXPECT_THAT(*no_failure->difference, HasSubstr("allocation 38: the log has the error"));
}

TEST(Replay, SaysWhatIsWrongWithALog) {
    const std::string good = read_log("n150");
    const auto expect_error = [](const std::string& text, const char* part) {
        const auto result = replay_text(text);
        ASSERT_FALSE(result) << part;
        EXPECT_THAT(result.error(), HasSubstr(part));
    };
    expect_error("", "the log is empty");
    expect_error("{\"event\":\"open\"", "line 1 is no line of a log");
    expect_error("[1,2]\n", "line 1 is no line of a log");
    expect_error("{\"event\":\"free\",\"id\":0}\n", "'free' stands before 'open'");
    const std::string unknown = kUnknownBoard;
    for (const char* members : {"[0,0,2]", "[4,0]", "[]", "[4,0,-1]", "[4,0,256]"}) {
        expect_error(replaced(unknown, "[4,0,2]", members), "must be 3 different chips from 0 to 255");
    }
    expect_error(replaced(unknown, R"("dram":128)", R"("dram":0)"), "the alignment of DRAM is 0");
    expect_error(replaced(unknown, R"("l1":8)", R"("l1":0)"), "the alignment of L1 is 0");
    expect_error(replaced(unknown, R"("banks":3)", R"("banks":0)"), "the number of DRAM banks is 0");
    expect_error(replaced(unknown, R"("allocatable_per_bank":10000,)",
                          R"("allocatable_per_bank":18446744073709551615,)"),
                 "the L1 banks are too large");
    expect_error(replaced(unknown, R"("l1_small_size":300)", R"("l1_small_size":300000)"), "leaves nothing");
    expect_error(replaced(good, R"("event":"free","id":0)", R"("event":"free","id":7777)"),
                 "allocation 7777 is freed and was not live");
    expect_error(replaced(good, R"("page_size":1024)", R"("page_size":0)"),
                 "must be a number of whole pages");
}

}  // namespace
}  // namespace ttmem::sim
