// SPDX-License-Identifier: Apache-2.0
//
// The command line of ttmem-sim: bad input gives one clear line and an exit code, and leaves no partial output.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace {

using ::testing::HasSubstr;

struct Result {
    int code = -1;
    std::string out;
    std::string err;
};

std::string read_and_remove(const std::string& path) {
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    unlink(path.c_str());
    return text.str();
}

Result ttmem_sim(const std::string& arguments) {
    const std::string err = std::string(::testing::TempDir()) + "ttmem-sim-err-" + std::to_string(getpid());
    const std::string out = std::string(::testing::TempDir()) + "ttmem-sim-out-" + std::to_string(getpid());
    const std::string command =
        "'" TTMEM_BIN_DIR "/ttmem-sim' " + arguments + " >'" + out + "' 2>'" + err + "' </dev/null";
    const int status = std::system(command.c_str());
    return {.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1,
            .out = read_and_remove(out),
            .err = read_and_remove(err)};
}

void expect_refused(const std::string& arguments, int code, const std::string& part) {
    const Result result = ttmem_sim(arguments);
    EXPECT_EQ(result.code, code) << arguments;
    EXPECT_THAT(result.err, HasSubstr(part));
    EXPECT_EQ(std::ranges::count(result.err, '\n'), 1) << result.err;
    EXPECT_TRUE(result.out.empty()) << result.out;
}

TEST(CommandLine, BadInputIsOneClearLine) {
    expect_refused("", 2, "scenario is required");
    expect_refused("nonsense", 2, "there is no scenario 'nonsense'");
    expect_refused("tracking --board n151", 2, "there is no board 'n151'");
    expect_refused("tracking --board n300 --devices 3", 2, "board n300 has 2 devices, 3 requested");
    expect_refused("tracking --devices 0", 2, "0 requested");
    expect_refused("tracking --board t3000 --devices 7,8", 2, "board t3000 has no device 8");
    expect_refused("tracking --board t3000 --devices 1,1", 2, "device 1 is given twice");
    expect_refused("tracking --devices many", 2, "'many': must be a number of devices");
    expect_refused("tracking --devices -1", 2, "'-1'");
    expect_refused("tracking --devices ,", 2, "must be a number of devices");
    expect_refused("tracking --devices 99999999999999999999", 2, "must be a number of devices");
    expect_refused("tracking --frobnicate", 2, "--frobnicate");
    expect_refused("tracking --repeat 0", 2, "--repeat");
    expect_refused("tracking extra", 2, "'extra'");
    expect_refused("replay", 2, "replay needs a log");
    expect_refused("replay /nonexistent/log", 2, "can't read the log /nonexistent/log");
}

TEST(CommandLine, AnUnwritableTruthFileIsNoticedBeforeAnythingRuns) {
    expect_refused("tracking --truth /nonexistent/truth", 1, "can't write the truth to /nonexistent/truth");
    expect_refused("tracking --truth /", 1, "can't write the truth to /");
    expect_refused("tracking --truth /dev/full", 1, "No space left on device");
}

TEST(CommandLine, AStepThatIsNotThereIsSaid) {
    const Result result = ttmem_sim("tracking --pause-at nowhere");
    EXPECT_EQ(result.code, 2);
    EXPECT_THAT(result.err, HasSubstr("tracking has no step 'nowhere' to pause at"));
}

TEST(CommandLine, AtTheEndOfTheInputAPauseEnds) {
    const Result result = ttmem_sim("tracking --pause-at l1");
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_THAT(result.out, HasSubstr("paused: l1\n"));
}

TEST(CommandLine, ListNamesEveryScenarioAlsoAsJson) {
    const Result table = ttmem_sim("list");
    EXPECT_EQ(table.code, 0);
    for (const auto& scenario : nlohmann::json::parse(ttmem_sim("list --json").out)) {
        EXPECT_THAT(table.out, HasSubstr(scenario.at("name").get<std::string>()));
    }
    for (const char* name :
         {"mesh-allocation", "tracking", "matmul-single-core", "matmul-multicore-reuse", "transformer-dp4",
          "hooked-capture", "leak", "fragmentation", "oom-dram", "cb-clash", "kernel-ring",
          "trace-live-allocation", "multi-thread", "crash", "churn", "case-01", "case-16", "case-17"}) {
        EXPECT_THAT(table.out, HasSubstr(name));
    }
}

TEST(CommandLine, AProgramThatIsTooLargeForTheKernelRingIsRefusedInTheWordsOfTheRuntime) {
    const Result result = ttmem_sim("kernel-ring");
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_THAT(result.out, HasSubstr("refused: "));
    EXPECT_THAT(result.out,
                HasSubstr("Program size (74240) too large for kernel config buffer (70656) on TENSIX"));
}

TEST(CommandLine, TheSameSeedGivesTheSameRun) {
    const std::string first = ttmem_sim("fragmentation --seed 5").out;
    EXPECT_EQ(first, ttmem_sim("fragmentation --seed 5").out);
    EXPECT_NE(first, ttmem_sim("fragmentation --seed 6").out);
}

class ReplayThroughTheRuntime : public ::testing::TestWithParam<const char*> {};

TEST_P(ReplayThroughTheRuntime, HasNoDifference) {
    const Result result =
        ttmem_sim("replay '" TTMEM_TEST_DATA "/allocator/" + std::string(GetParam()) + ".jsonl'");
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_THAT(result.out, HasSubstr("0 differences in 402 lines"));
}

INSTANTIATE_TEST_SUITE_P(Recorded, ReplayThroughTheRuntime,
                         ::testing::Values("n150", "n300_heavy", "t3000", "p100_heavy", "p150",
                                           "blackhole_galaxy"),
                         [](const auto& each) { return std::string(each.param); });

// A recorded log of which the first line is changed.
class ChangedLog {
public:
    ChangedLog(const char* name, const std::vector<std::pair<std::string, std::string>>& changes)
        : path_(std::string(::testing::TempDir()) + "ttmem-sim-renamed-" + std::to_string(getpid())) {
        std::ifstream log(std::string(TTMEM_TEST_DATA) + "/allocator/" + name + ".jsonl");
        std::string line;
        std::getline(log, line);
        for (const auto& [from, to] : changes) {
            const size_t at = line.find(from);
            EXPECT_NE(at, std::string::npos) << from;
            line.replace(std::min(at, line.size()), from.size(), to);
        }
        std::ofstream(path_) << line << '\n' << log.rdbuf();
    }
    ~ChangedLog() { unlink(path_.c_str()); }
    ChangedLog(const ChangedLog&) = delete;
    ChangedLog& operator=(const ChangedLog&) = delete;

    Result replay() const { return ttmem_sim("replay '" + path_ + "'"); }

private:
    std::string path_;
};

TEST(Replay, TakesTheMembersAndTheGeometryOfABoardThatItDoesNotKnowFromTheLog) {
    const std::string board = "\"board\":\"t3000\"";
    const std::string members = "\"members\":[4,0,2,6,5,1,3,7]";
    for (const auto& changes : std::vector<std::vector<std::pair<std::string, std::string>>>{
             {{board, "\"board\":\"a board of next year\""}},
             {{board, "\"board\":\"a board of next year\""}, {members, "\"members\":[9,8,7,6,3,2,1,0]"}},
             {{members, "\"members\":[0,1,2,3,4,5,6,7]"}}}) {
        const Result result = ChangedLog("t3000", changes).replay();
        EXPECT_EQ(result.code, 0) << result.err;
        EXPECT_THAT(result.out, HasSubstr("0 differences in 402 lines"));
    }
}

TEST(Replay, EndsWithTheFirstDifferenceAndExitCodeOne) {
    std::ifstream log(std::string(TTMEM_TEST_DATA) + "/allocator/n150.jsonl");
    ASSERT_TRUE(log) << "cannot read n150.jsonl in " << TTMEM_TEST_DATA;
    const std::string path =
        std::string(::testing::TempDir()) + "ttmem-sim-changed-" + std::to_string(getpid());
    std::ofstream changed(path);
    std::string line;
    while (std::getline(log, line)) {
        const auto at = line.find("\"address\":1488896");
        changed << (at == std::string::npos ? line : line.replace(at, 17, "\"address\":1488897")) << '\n';
    }
    changed.close();
    const Result result = ttmem_sim("replay '" + path + "'");
    unlink(path.c_str());
    EXPECT_EQ(result.code, 1);
    EXPECT_THAT(result.err,
                HasSubstr("line 6: address of allocation 2: the log has 1488897, the simulation 1488896"));
}

}  // namespace
