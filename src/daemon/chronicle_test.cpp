// SPDX-License-Identifier: Apache-2.0
#include "daemon/chronicle.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <future>
#include <thread>

#include "census/segment_test_support.hpp"

namespace ttmem::daemon {
namespace {

using history::Follower;
using segment::Kind;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

void wait_for(const std::function<bool()>& condition) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!condition()) {
        ASSERT_LT(std::chrono::steady_clock::now(), end) << "waited in vain";
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

const Chronicle::MaySee kAll = [](uint32_t) { return true; };

struct ChronicleTest : testing::Test {
    ChronicleTest() {
        EXPECT_EQ(pipe(log_pipe), 0);
        output.emplace(log_pipe[1]);
        event_log.emplace(*output, LogEvents::all);
        chronicle.emplace(thread.get_executor(), roster, *event_log);
        segment.add_device(census::small_chip(0x10, 0));
        segment.add_device(census::small_chip(0x20, 1));
        mesh = segment.add_set(3);
    }
    ~ChronicleTest() override {
        chronicle->stop();
        thread.join();
        output.reset();  // which may still write
        close(log_pipe[0]);
        close(log_pipe[1]);
    }

    void attach(Follower::From from = Follower::From::present) {
        const auto number = roster.add(segment.process(7), {1, 1});
        chronicle->attached({*number, segment.process(7), {1, 1}}, from);
        chronicle->start();
        wait_for([&] { return !events().empty(); });
    }
    // An event in the ring, with what a client does beside it left out: history reads rings alone.
    void tell(segment::EventType type, Kind kind, uint64_t requested, uint64_t address = 64) {
        segment::Event event;
        event.type = type;
        event.kind = kind;
        event.set = mesh;
        event.requested = requested;
        event.address = address;
        event.ticks = segment::monotonic_now();
        auto& writer = segment.entry<segment::Writer>(segment::RegionId::writers, 0);
        const uint64_t at = writer.head.load();
        uint64_t words[segment::kRecordWords];
        segment::encode(event, words);
        auto& record = (&segment.entry<segment::RingRecord>(segment::RegionId::rings, 0))[at % 16];
        for (size_t i = 0; i < segment::kRecordWords; ++i) {
            record.word[i].store(words[i]);
        }
        writer.head.store(at + 1);
    }
    std::vector<view::EventView> events() { return chronicle->events(0, 1000, kAll).events; }
    // What it was told before has been done.
    void let_it_work() {
        std::promise<void> done;
        boost::asio::post(thread, [&] { done.set_value(); });
        done.get_future().wait();
    }
    view::SelfView self() {
        view::SelfView self;
        chronicle->describe(self);
        return self;
    }
    std::string read_log() {
        std::string text(65536, 0);
        const ssize_t length = read(log_pipe[0], text.data(), text.size());
        text.resize(length > 0 ? static_cast<size_t>(length) : 0);
        return text;
    }
    // The log up to a line with this in it.
    std::string log_until(const std::string& mark) {
        std::string text;
        while (text.find(mark) == std::string::npos) {
            text += read_log();
        }
        return text;
    }

    int log_pipe[2];
    std::optional<Output> output;
    std::optional<EventLog> event_log;
    census::TestSegment segment;
    uint8_t mesh = 0;
    Roster roster;
    boost::asio::thread_pool thread{1};
    std::optional<Chronicle> chronicle;
};

TEST_F(ChronicleTest, AnEventOfAMeshIsOneEventAndALineForEachDevice) {
    attach();
    tell(segment::EventType::allocate, Kind::dram, 4096, 640);
    wait_for([&] { return events().size() == 2; });
    const view::EventView event = events()[1];
    EXPECT_EQ(event.what, "allocation");
    EXPECT_THAT(event.devices, ElementsAre(0, 1));
    EXPECT_EQ(event.requested, 4096u);
    const std::string log = log_until("device 1");
    EXPECT_THAT(log, HasSubstr("+ [PID 7] model of root is tracked"));
    EXPECT_THAT(log, HasSubstr("Allocated 4096 bytes of DRAM on device 0 (buffer_id=640)"));
    EXPECT_THAT(log, HasSubstr("Allocated 4096 bytes of DRAM on device 1 (buffer_id=640)"));
}

TEST_F(ChronicleTest, ANumberBeyondTheLastEventGivesTheEnd) {
    attach();
    tell(segment::EventType::allocate, Kind::dram, 4096, 640);
    wait_for([&] { return events().size() == 2; });
    const view::EventsView beyond = chronicle->events(uint64_t{1} << 62, 10, kAll);
    EXPECT_THAT(beyond.events, IsEmpty());
    EXPECT_EQ(beyond.missed, 0u);
    EXPECT_EQ(beyond.next, events()[1].sequence + 1);
}

TEST_F(ChronicleTest, AProcessThatTwoSourcesKnowIsFollowedByItsSegmentAlone) {
    for (const bool segment_first : {true, false}) {
        std::vector<uint32_t> numbers;
        for (const bool is_segment : {segment_first, !segment_first}) {
            census::Process process = segment.process(8, segment_first ? 100 : 200);
            process.source = is_segment ? census::Source::segment : census::Source::classic;
            const uint64_t file = numbers.size() + (segment_first ? 10 : 20);
            numbers.push_back(*roster.add(process, {1, file}));
            chronicle->attached({numbers.back(), process, {1, file}}, Follower::From::present);
        }
        let_it_work();
        tell(segment::EventType::allocate, Kind::dram, 4096);
        for (const uint32_t number : numbers) {
            roster.remove(number);
            chronicle->died(number);
        }
        let_it_work();
        const auto count = [&](std::string_view what) {
            const auto all = events();
            return std::count_if(all.begin(), all.end(), [&](const auto& one) { return one.what == what; });
        };
        const long processes = segment_first ? 1 : 2;
        EXPECT_EQ(count("process_died"), processes);
        EXPECT_EQ(count("allocation"), processes);
        EXPECT_EQ(self().events_followed, static_cast<uint64_t>(processes));
    }
}

TEST_F(ChronicleTest, CircularBuffersAreSummedUpInTheLog) {
    attach();
    tell(segment::EventType::allocate, Kind::cb, 262'144);
    tell(segment::EventType::allocate, Kind::cb, 262'144);
    tell(segment::EventType::free, Kind::cb, 262'144);
    const std::string log = log_until("[CB_FREE] Device 1");
    EXPECT_THAT(log, HasSubstr("[CB_ALLOC] Device 1: +0.25 MB (Total: 0.50 MB)"));
    EXPECT_THAT(log, HasSubstr("[CB_FREE] Device 1: -0.25 MB (Total: 0.25 MB)"));
}

TEST_F(ChronicleTest, AGapIsAnEventALineAndACount) {
    for (uint64_t i = 0; i < 40; ++i) {
        tell(segment::EventType::allocate, Kind::dram, i);
    }
    attach(Follower::From::beginning);
    wait_for([&] { return events().back().what == "gap"; });
    EXPECT_EQ(events().back().count, 25u);
    EXPECT_THAT(log_until("gap"), HasSubstr("! [PID 7] gap: 25 events were not seen"));
    census::Figures figures = census::count(roster.census());
    chronicle->annotate(figures);
    EXPECT_EQ(figures.processes[0].followed, 15u);
    EXPECT_EQ(figures.processes[0].lost, 25u);
}

TEST_F(ChronicleTest, TheLastEventsOfAProcessComeBeforeItsEnd) {
    attach();
    tell(segment::EventType::allocate, Kind::dram, 1);
    chronicle->died(1);
    wait_for([&] { return events().back().what == "process_died"; });
    EXPECT_EQ(events()[1].what, "allocation");
    EXPECT_THAT(log_until("has ended"), HasSubstr("- [PID 7] model of root has ended"));
}

TEST_F(ChronicleTest, EventsOfOthersAreNotForEverybody) {
    attach();
    tell(segment::EventType::allocate, Kind::dram, 1);
    wait_for([&] { return events().size() == 2; });
    const view::EventsView none = chronicle->events(0, 1000, [](uint32_t uid) { return uid != 0; });
    EXPECT_THAT(none.events, IsEmpty());
    EXPECT_EQ(none.next, 3u);
    EXPECT_EQ(chronicle->events(2, 1000, kAll).events.size(), 1u);
    EXPECT_EQ(chronicle->events(1, 1, kAll).next, 2u);
}

TEST_F(ChronicleTest, CountersThatDifferFromTheLedgerAreADefectThatIsToldCountedAndShown) {
    segment.pool(mesh, Kind::dram).used.store(100);  // nothing is live
    attach();
    EXPECT_THAT(log_until("defect"), HasSubstr("(set 0, 100 counted, 0 live)"));
    wait_for([&] {
        view::SelfView self;
        chronicle->describe(self);
        return self.defects == 1 && self.audits >= 2;
    });
    census::Figures figures = census::count(roster.census());
    chronicle->annotate(figures);
    ASSERT_THAT(figures.inexact, SizeIs(1));
    EXPECT_EQ(figures.inexact[0].reason, "defect: counters differ from the ledger");
}

TEST_F(ChronicleTest, FailuresOfTheDeadStayCountedAndNoProcessCanTakeOneBack) {
    segment.header().failures[0] = 3;
    segment.header().failures[2] = 1;
    attach();
    wait_for([&] { return chronicle->failures() == FailureTotals{3, 0, 1}; });
    segment.header().failures[0] = 2;
    segment.header().failures[1] = UINT64_MAX;
    wait_for([&] { return chronicle->failures()[1] == UINT64_MAX; });
    EXPECT_EQ(chronicle->failures()[0], 3u);
    chronicle->died(1);
    let_it_work();
    EXPECT_EQ(chronicle->failures(), (FailureTotals{3, UINT64_MAX, 1}));
}

TEST_F(ChronicleTest, UsedBytesAreSampled) {
    segment.add(census::allocation(mesh, Kind::l1, 0x100, 40, 64));
    attach();
    wait_for([&] { return !chronicle->history(1, census::Kind::l1, 0).series.empty(); });
    const view::HistoryView history = chronicle->history(1, {}, 0);
    ASSERT_THAT(history.series, SizeIs(1));
    EXPECT_EQ(history.series[0].samples[0].value, 64u);
    EXPECT_THAT(chronicle->history({}, {}, UINT64_MAX).series[0].samples, IsEmpty());
}

}  // namespace
}  // namespace ttmem::daemon
