// SPDX-License-Identifier: Apache-2.0
#include "recording/replay.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "census/figures.hpp"
#include "recording/recording_file.hpp"
#include "recording/recording_receiver.hpp"
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

    // Times of events are converted from the processor's counter, which a young process knows to some microseconds only. So a
    // moment between two events keeps away from both.
    static uint64_t moment_now() {
        pass_a_millisecond();
        const uint64_t now = segment::monotonic_now();
        pass_a_millisecond();
        return now;
    }

    static void pass_a_millisecond() {
        const uint64_t start = segment::monotonic_now();
        while (segment::monotonic_now() - start < 1'000'000) {
        }
    }

    static Truth truth_now() {
        const segment::Reader reader = test::own_reader();
        return {moment_now(), test::ledger_of(reader), test::pools_of(reader.totals())};
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
        EXPECT_TRUE(recorder->follow());  // what is lost later happened after this
        for (uint64_t step = 0; step < steps; ++step) {
            for (uint64_t done = 0; done < operations; ++done) {
                worker.work(1);
                if (!loses) {
                    EXPECT_TRUE(recorder->follow());
                }
            }
            EXPECT_TRUE(recorder->follow());
            truths.push_back(truth_now());
            EXPECT_TRUE(recorder->follow());
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

    std::string bytes() const {
        std::ifstream file(path(), std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    void write(const std::string& text) const {
        std::ofstream(path(), std::ios::binary | std::ios::trunc) << text;
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

// The longest way from a ledger to a moment, in events of all processes.
uint64_t longest_replay(const Recording& recording) {
    std::map<uint64_t, std::pair<uint32_t, int64_t>> changes;  // by place in the file
    std::map<uint32_t, uint64_t> since;                        // by process
    for (const RecordedProcess& process : recording.processes()) {
        for (const BlockPlace& place : process.blocks) {
            const bool is_ledger = place.type() == BlockType::ledger;
            changes[place.header().sequence] = {process.number,
                                                is_ledger ? -1 : static_cast<int64_t>(place.header().events)};
        }
    }
    uint64_t longest = 0;
    for (const auto& [sequence, change] : changes) {
        uint64_t& events = since[change.first];
        events = change.second < 0 ? 0 : events + static_cast<uint64_t>(change.second);
        uint64_t sum = 0;
        for (const auto& [process, count] : since) {
            sum += count;
        }
        longest = std::max(longest, sum);
    }
    return longest;
}

TEST_F(RecordedWork, ManyProcessesTogetherHaveALedgerAsOftenAsOne) {
    constexpr uint64_t kProcesses = 8;
    const ttmem_set set = test::make_set(0);
    auto recorder = RecordingWriter::create({path()});
    ASSERT_TRUE(recorder.has_value());
    ASSERT_TRUE(recorder->set_host({.host = "there", .program = "test"}));
    // Of one segment, each with a cursor of its own.
    for (uint64_t i = 0; i < kProcesses; ++i) {
        ASSERT_TRUE(recorder->add(this_process(), ProcessRecorder::StartState::present).has_value());
    }
    while (recorder->totals().events < 2 * ProcessRecorder::kEventsPerLedger) {
        for (int i = 0; i < 1000; ++i) {
            ttmem_free(ttmem_allocate(set, TTMEM_DRAM, 0x100000, 1024, 1024, 1));
        }
        ASSERT_TRUE(recorder->follow());
    }
    ttmem_close_set(set);
    ASSERT_TRUE(recorder->finish());
    EXPECT_EQ(recorder->totals().lost, 0u);
    const uint64_t longest = longest_replay(*open());
    EXPECT_GT(longest, ProcessRecorder::kEventsPerLedger / 2);
    EXPECT_LT(longest, ProcessRecorder::kEventsPerLedger + kProcesses * 65'536);
}

TEST_F(RecordedWork, AMomentBetweenTheLastReadingAndALossIsNotCalledExact) {
    setenv("TTMEM_RING_RECORDS", "16", 1);
    test::Exchange exchange;
    test::Worker worker(7, 0, test::make_set(0), test::make_device(1), exchange);
    auto recorder = RecordingWriter::create({path()});
    ASSERT_TRUE(recorder->set_host({.host = "there", .program = "test"}));
    ASSERT_TRUE(recorder->add(this_process(), ProcessRecorder::StartState::present).has_value());
    ASSERT_TRUE(recorder->follow());
    const uint64_t known_ns = segment::monotonic_now();
    ASSERT_TRUE(recorder->follow());
    worker.work(300);
    const uint64_t unknown_ns = segment::monotonic_now();
    worker.work(300);
    ASSERT_TRUE(recorder->follow());
    ASSERT_TRUE(recorder->finish());
    unsetenv("TTMEM_RING_RECORDS");
    Replay replay(open());
    ASSERT_TRUE(replay.move_to(known_ns));
    EXPECT_TRUE(replay.census()->omissions.empty());
    ASSERT_TRUE(replay.move_to(unknown_ns));
    EXPECT_FALSE(replay.census()->omissions.empty());
    ASSERT_TRUE(replay.move_to(replay.recording().last_ns()));
    EXPECT_TRUE(replay.census()->omissions.empty());
}

TEST_F(RecordedWork, ACutAtAnyByteReadsRightBeforeTheCut) {
    const std::vector<Truth> truths = record(6, 10);
    const std::string whole = bytes();
    uint64_t blocks = 0;
    for (size_t length = 0; length < whole.size(); ++length) {
        write(whole.substr(0, length));
        const auto recording = Recording::open(path());
        if (!recording) {
            continue;
        }
        ASSERT_FALSE((*recording)->is_finished());
        ASSERT_FALSE((*recording)->problems().empty());
        // A part of a block changes nothing, so that each number of whole blocks is read once.
        if (std::exchange(blocks, (*recording)->bytes()) == (*recording)->bytes()) {
            continue;
        }
        Replay replay(*recording, segment::kMinRingRecords);
        for (const Truth& truth : truths) {
            if (truth.time_ns > (*recording)->first_ns() && truth.time_ns <= (*recording)->last_ns() &&
                !(*recording)->processes().empty() && !(*recording)->processes().front().blocks.empty()) {
                expect_truth(replay, truth);
            }
        }
    }
}

TEST_F(RecordedWork, AFlippedBitNeverGivesAWrongStateThatIsCalledExact) {
    const std::vector<Truth> truths = record(4, 10);
    const std::string whole = bytes();
    uint64_t right = 0;
    uint64_t reported = 0;
    for (size_t at = sizeof(FileHeader); at < whole.size(); at += 3) {
        std::string damaged = whole;
        damaged[at] = static_cast<char>(damaged[at] ^ (1 << at % 8));
        write(damaged);
        const auto recording = Recording::open(path());
        ASSERT_TRUE(recording.has_value() || !recording.error().text.empty());
        if (!recording || (*recording)->processes().empty()) {
            continue;
        }
        Replay replay(*recording, segment::kMinRingRecords);
        for (const Truth& truth : truths) {
            ASSERT_TRUE(replay.move_to(truth.time_ns));
            const auto census = replay.census();
            ASSERT_TRUE(census.has_value());
            if (!census->omissions.empty()) {
                ++reported;
                continue;
            }
            ASSERT_EQ(truth_of(*census, truth.time_ns).pools, truth.pools) << "a bit of byte " << at;
            ++right;
        }
    }
    EXPECT_GT(right, 0u);
    EXPECT_GT(reported, 0u);
}

TEST_F(RecordedWork, TotalsOfAnotherUserHaveTheCountersAndNothingElse) {
    test::Exchange exchange;
    test::Worker worker(7, 0, test::make_set(0), test::make_device(1), exchange);
    worker.work(200);
    auto recorder = RecordingWriter::create({path()});
    ASSERT_TRUE(recorder.has_value());
    ASSERT_TRUE(recorder->set_host({.host = "there", .program = "test"}));
    ASSERT_TRUE(recorder->add_totals(this_process()).has_value());
    const Truth first = truth_now();
    worker.work(100);
    ASSERT_TRUE(recorder->finish());
    const Truth second = truth_now();
    EXPECT_NE(first.pools, second.pools);
    const auto recording = open();
    for (const Truth& truth : {first, second}) {
        Replay replay(recording);
        const bool is_first = truth.time_ns == first.time_ns;
        ASSERT_TRUE(replay.move_to(is_first ? truth.time_ns : recording->last_ns()));
        const auto census = replay.census();
        ASSERT_TRUE(census.has_value());
        EXPECT_TRUE(census->omissions.empty());
        const census::Process& process = census->processes.front();
        EXPECT_TRUE(process.has_only_totals);
        EXPECT_EQ(test::pools_of(process.ledger->totals()), truth.pools);
        EXPECT_TRUE(test::ledger_of(*process.ledger).empty());
    }
    EXPECT_FALSE(Replay(recording).step().has_value());
}

TEST_F(RecordedWork, AReceivedStreamIsTheSameRecording) {
    const std::vector<Truth> truths = record(6, 10);
    const std::string whole = bytes();
    for (const size_t piece : {size_t{1}, size_t{63}, size_t{1000}, whole.size()}) {
        auto target = FilePair::create({path() + "2", true});
        ASSERT_TRUE(target.has_value());
        RecordingReceiver receiver(**target);
        for (size_t at = 0; at < whole.size(); at += piece) {
            ASSERT_FALSE(receiver.is_finished());
            ASSERT_TRUE(receiver.take(std::string_view(whole).substr(at, piece)));
        }
        EXPECT_TRUE(receiver.is_finished());
        EXPECT_EQ(receiver.totals().events, totals_.events);
        EXPECT_EQ(receiver.totals().bytes, whole.size());
        EXPECT_EQ(receiver.totals().processes, 1u);
        std::ifstream file(path() + "2", std::ios::binary);
        EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), whole);
    }
    auto target = FilePair::create({path() + "2", true});
    RecordingReceiver receiver(**target);
    EXPECT_FALSE(
        receiver.take("HTTP/1.1 200 OK, which is not a recording, however long it may be.........."));
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
        moments.push_back(moment_now());
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
