// SPDX-License-Identifier: Apache-2.0
#include "sim/replay.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

namespace ttmem::sim {
namespace {

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

INSTANTIATE_TEST_SUITE_P(Boards, ReplayOfRecordedLog,
                         ::testing::Values("n150", "n300_heavy", "t3000", "p100_heavy", "p150",
                                           "blackhole_galaxy"),
                         [](const auto& each) { return std::string(each.param); });

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
    expect_error(replaced(good, R"("board":"n150")", R"("board":"n151")"), "there is no board 'n151'");
    expect_error(replaced(good, R"("event":"free","id":0)", R"("event":"free","id":7777)"),
                 "allocation 7777 is freed and was not live");
    expect_error(replaced(good, R"("page_size":1024)", R"("page_size":0)"), "no number of whole pages");
}

}  // namespace
}  // namespace ttmem::sim
