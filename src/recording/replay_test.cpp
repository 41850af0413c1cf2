// SPDX-License-Identifier: Apache-2.0
#include "recording/replay.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "census/figures.hpp"
#include "recording/recording_writer.hpp"
#include "segment/clock.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/own_segment.hpp"
#include "tests/support/workload.hpp"
#include "ttmem/ttmem.h"

namespace ttmem::recording {

namespace {

// What a process held at one moment.
struct Truth {
    uint64_t time_ns = 0;
    std::vector<test::Live> ledger;
    test::Pools pools;
};

// A tag that is given later than the event was read is seen with the next ledger.
std::vector<test::Live> without_names(std::vector<test::Live> ledger) {
    for (test::Live& live : ledger) {
        live.name.clear();
    }
    std::sort(ledger.begin(), ledger.end());
    return ledger;
}

class RecordedWork : public testing::Test {
protected:
    RecordedWork() {
        setenv("TT_ALLOC_TRACKING_ENABLED", "1", 1);
        std::string name = testing::TempDir() + "ttmem-replay-XXXXXX";
        folder_ = mkdtemp(name.data());
    }
    ~RecordedWork() override { std::filesystem::remove_all(folder_); }
    RecordedWork(const RecordedWork&) = delete;
    RecordedWork& operator=(const RecordedWork&) = delete;

    std::string path() const { return folder_ + "/file"; }

    static census::Process this_process() {
        census::Identity who;
        who.pid = static_cast<uint32_t>(getpid());
        who.comm = "recording_test";
        who.user = "somebody";
        return {who, census::ProcessState::live, test::own_reader()};
    }

    static Truth truth_now() {
        const segment::Reader reader = test::own_reader();
        return {segment::monotonic_now(), test::ledger_of(reader), test::pools_of(reader.totals())};
    }

    static Truth truth_of(const census::Census& census, uint64_t time_ns) {
        if (census.processes.empty()) {
            return {time_ns, {}, {}};
        }
        const segment::Reader& reader = *census.processes.front().ledger;
        EXPECT_EQ(test::pools_of(reader.totals()), test::pools_of(reader.totals_from_ledger()));
        return {time_ns, test::ledger_of(reader), test::pools_of(reader.totals())};
    }

    static void expect_truth(Replay& replay, const Truth& truth) {
        ASSERT_TRUE(replay.move_to(truth.time_ns));
        const auto census = replay.census();
        ASSERT_TRUE(census.has_value());
        EXPECT_TRUE(census->omissions.empty());
        const Truth replayed = truth_of(*census, truth.time_ns);
        EXPECT_EQ(without_names(replayed.ledger), without_names(truth.ledger));
        EXPECT_EQ(replayed.pools, truth.pools);
    }

    // Works in steps and records them.
    std::vector<Truth> record(uint64_t steps, uint64_t operations, bool loses = false) {
        test::Exchange exchange;
        test::Worker worker(7, 0, test::make_set(0), test::make_device(1), exchange);
        worker.work(200);
        auto recorder = RecordingWriter::create({path()});
        EXPECT_TRUE(recorder.has_value());
        EXPECT_TRUE(recorder->set_host({.host = "there", .program = "test"}));
        EXPECT_TRUE(recorder->add(this_process(), ProcessRecorder::StartState::present).has_value());
        std::vector<Truth> truths = {truth_now()};
        for (uint64_t step = 0; step < steps; ++step) {
            for (uint64_t done = 0; done < operations; ++done) {
                worker.work(1);
                if (!loses) {
                    EXPECT_TRUE(recorder->follow());
                }
            }
            EXPECT_TRUE(recorder->follow());
            truths.push_back(truth_now());
        }
        EXPECT_TRUE(recorder->finish());
        totals_ = recorder->totals();
        return truths;
    }

    std::shared_ptr<const Recording> open() const {
        auto recording = Recording::open(path());
        EXPECT_TRUE(recording.has_value()) << recording.error().text;
        return *recording;
    }

    std::string folder_;
    RecorderTotals totals_;
};

TEST_F(RecordedWork, ReplayedEqualsTheTruthAtEveryStep) {
    const std::vector<Truth> truths = record(100, 50);
    EXPECT_EQ(totals_.lost, 0u);
    const auto recording = open();
    EXPECT_TRUE(recording->is_finished());
    EXPECT_EQ(recording->events(), totals_.events);
    Replay replay(recording);
    for (const Truth& truth : truths) {
        expect_truth(replay, truth);
    }
    for (auto truth = truths.rbegin(); truth != truths.rend(); ++truth) {
        expect_truth(replay, *truth);
    }
    // Each seek on its own gives the same.
    for (size_t i = 0; i < truths.size(); i += 9) {
        Replay alone(recording);
        expect_truth(alone, truths[i]);
    }
}

TEST_F(RecordedWork, TheEndEqualsTheLedgerWithNamesAndPeaks) {
    record(20, 50);
    const auto recording = open();
    Replay replay(recording);
    ASSERT_TRUE(replay.move_to(recording->last_ns()));
    const auto census = replay.census();
    const segment::Reader now = test::own_reader();
    const segment::Reader& then = *census->processes.front().ledger;
    EXPECT_EQ(test::ledger_of(then), test::ledger_of(now));
    const auto sets_then = then.totals().sets;
    const auto sets_now = now.totals().sets;
    ASSERT_EQ(sets_then.size(), sets_now.size());
    for (size_t i = 0; i < sets_now.size(); ++i) {
        EXPECT_EQ(sets_then[i].pools, sets_now[i].pools);
        EXPECT_EQ(sets_then[i].set.members, sets_now[i].set.members);
        EXPECT_EQ(sets_then[i].is_open(), sets_now[i].is_open());
    }
    for (uint32_t counter = 0; counter < segment::kInexactCounters; ++counter) {
        EXPECT_EQ(then.inexact(static_cast<segment::Inexact>(counter)),
                  now.inexact(static_cast<segment::Inexact>(counter)));
    }
}

TEST_F(RecordedWork, ALossIsReportedAndTheNextLedgerRepairsIt) {
    setenv("TTMEM_RING_RECORDS", "16", 1);
    const std::vector<Truth> truths = record(40, 300, true);
    unsetenv("TTMEM_RING_RECORDS");
    EXPECT_GT(totals_.lost, 9 * totals_.events / 10);
    const auto recording = open();
    EXPECT_EQ(recording->lost(), totals_.lost);
    Replay replay(recording);
    for (const Truth& truth : truths) {
        expect_truth(replay, truth);  // the recorder has written a ledger before each of them
    }
}

TEST_F(RecordedWork, ACutAtAnyByteReadsRightBeforeTheCut) {
    const std::vector<Truth> truths = record(6, 10);
    std::ifstream file(path(), std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    const std::string whole = text.str();
    for (size_t length = 0; length < whole.size(); length += 31) {
        std::ofstream(path(), std::ios::binary | std::ios::trunc) << whole.substr(0, length);
        const auto recording = Recording::open(path());
        if (!recording) {
            continue;
        }
        EXPECT_FALSE((*recording)->is_finished());
        Replay replay(*recording, segment::kMinRingRecords);
        for (const Truth& truth : truths) {
            if (truth.time_ns > (*recording)->first_ns() && truth.time_ns <= (*recording)->last_ns() &&
                !(*recording)->processes().empty() && !(*recording)->processes().front().blocks.empty()) {
                expect_truth(replay, truth);
            }
        }
    }
}

TEST_F(RecordedWork, SetsThatAreOpenedAgainWithinABlockKeepTheirLabels) {
    const ttmem_device device = test::make_device(1);
    auto recorder = RecordingWriter::create({path()});
    ASSERT_TRUE(recorder.has_value());
    ASSERT_TRUE(recorder->set_host({.host = "there", .program = "test"}));
    ASSERT_TRUE(recorder->add(this_process(), ProcessRecorder::StartState::present).has_value());
    std::vector<uint64_t> moments;
    for (int i = 0; i < 5; ++i) {
        const ttmem_set set = ttmem_open_set(&device, 1, ("set " + std::to_string(i)).c_str());
        ttmem_allocate(set, TTMEM_DRAM, 0x10'0000, 64, 64, 1);
        ASSERT_TRUE(recorder->follow());
        moments.push_back(segment::monotonic_now());
        ttmem_close_set(set);
        ASSERT_TRUE(recorder->follow());
    }
    ASSERT_TRUE(recorder->finish());
    const auto recording = open();
    uint64_t blocks_of_events = 0;
    for (const BlockPlace& place : recording->processes().front().blocks) {
        blocks_of_events += place.type() == BlockType::events ? 1u : 0u;
    }
    EXPECT_LE(blocks_of_events, 2u);
    for (size_t i = 0; i < moments.size(); ++i) {
        Replay replay(recording);
        ASSERT_TRUE(replay.move_to(moments[i]));
        const auto census = replay.census();
        ASSERT_TRUE(census.has_value());
        const segment::Reader& reader = *census->processes.front().ledger;
        std::vector<std::string> open_sets;
        for (const segment::SetTotals& set : reader.totals().sets) {
            if (set.is_open() && set.pools[0].used != 0) {
                open_sets.push_back(reader.name(set.set.label));
            }
        }
        EXPECT_EQ(open_sets, std::vector<std::string>{"set " + std::to_string(i)});
    }
}

TEST_F(RecordedWork, StepsGiveEveryEventInTheOrderOfTime) {
    record(10, 50);
    const auto recording = open();
    Replay replay(recording);
    uint64_t count = 0;
    uint64_t last_ns = 0;
    while (const auto step = replay.step()) {
        EXPECT_GE(step->time_ns, last_ns);
        last_ns = step->time_ns;
        ++count;
    }
    EXPECT_EQ(count, recording->events());
}

}  // namespace

}  // namespace ttmem::recording
