// SPDX-License-Identifier: Apache-2.0
#include "daemon/watch/history_thread.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <future>
#include <thread>

#include "census/segment_test_support.hpp"
#include "daemon/watch/history_views.hpp"

namespace ttmem::daemon {
namespace {

using history::Follower;
using history::RecordType;
using segment::AllocationKind;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

void wait_for(const std::function<bool()>& condition) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!condition()) {
        ASSERT_LT(std::chrono::steady_clock::now(), end) << "timed out";
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

const std::function<bool(uint32_t)> kAll = [](uint32_t) { return true; };

struct HistoryThreadTest : testing::Test {
    HistoryThreadTest() {
        EXPECT_EQ(pipe(log_pipe), 0);
        output.emplace(log_pipe[1]);
        event_log.emplace(*output, EventLogLevel::all);
        history_thread.emplace(thread.get_executor(), history, process_table, *event_log, kept);
        segment.add_device(census::small_chip(0x10, 0));
        segment.add_device(census::small_chip(0x20, 1));
        mesh = segment.add_set(3);
    }
    ~HistoryThreadTest() override {
        history_thread->stop();
        thread.join();
        output.reset();  // it may still write
        close(log_pipe[0]);
        close(log_pipe[1]);
    }

    void attach(Follower::StartPosition from = Follower::StartPosition::present) {
        const auto number = process_table.add(segment.process(7), {1, 1});
        history_thread->process_attached({*number, segment.process(7), {1, 1}}, from);
        history_thread->start();
        wait_for([&] { return !events().empty(); });
    }
    // Writes an event to the ring only: the history does not read the ledger.
    void write_event(segment::EventType type, AllocationKind kind, uint64_t requested,
                     uint64_t address = 64) {
        segment::Event event;
        event.type = type;
        event.kind = kind;
        event.set = mesh;
        event.requested = requested;
        event.address = address;
        event.ticks = segment::monotonic_now();
        auto& writer = segment.entry<segment::WriterLine>(segment::RegionId::writers, 0);
        const uint64_t at = writer.head.load();
        uint64_t words[segment::kRecordWords];
        segment::encode(event, words);
        auto& record = (&segment.entry<segment::RingRecord>(segment::RegionId::rings, 0))[at % 16];
        for (size_t i = 0; i < segment::kRecordWords; ++i) {
            record.word[i].store(words[i]);
        }
        writer.head.store(at + 1);
    }
    std::vector<view::EventView> events() { return list_events(history, {}, kAll).events; }
    // Waits until the thread has done all earlier calls.
    void wait_for_thread() {
        std::promise<void> done;
        boost::asio::post(thread, [&] { done.set_value(); });
        done.get_future().wait();
    }
    view::SelfView self() {
        view::SelfView self;
        describe(history, self);
        return self;
    }
    std::string read_log() {
        std::string text(65536, 0);
        const ssize_t length = read(log_pipe[0], text.data(), text.size());
        text.resize(length > 0 ? static_cast<size_t>(length) : 0);
        return text;
    }
    // The log up to and including a line that contains `mark`.
    std::string log_until(const std::string& mark) {
        std::string text;
        while (text.find(mark) == std::string::npos) {
            text += read_log();
        }
        return text;
    }

    int log_pipe[2];
    std::optional<LogWriter> output;
    std::optional<EventLog> event_log;
    census::TestSegment segment;
    uint8_t mesh = 0;
    ProcessTable process_table;
    boost::asio::thread_pool thread{1};
    history::EventHistory history{process_table.device_ids()};
    PostMortems post_mortems;
    HistoryKeeper kept{{{}, {.bytes = 0}, ""}, process_table, post_mortems, {}};
    std::optional<HistoryThread> history_thread;
};

TEST_F(HistoryThreadTest, AnEventOnAMeshIsOneEventAndOneLinePerDevice) {
    attach();
    write_event(segment::EventType::allocate, AllocationKind::dram, 4096, 640);
    wait_for([&] { return events().size() == 2; });
    const view::EventView event = events()[1];
    EXPECT_EQ(event.type, RecordType::allocation);
    EXPECT_THAT(event.devices, ElementsAre(0, 1));
    EXPECT_EQ(event.requested, 4096u);
    const std::string log = log_until("device 1");
    EXPECT_THAT(log, HasSubstr("+ [PID 7] model of root is tracked"));
    EXPECT_THAT(log, HasSubstr("Allocated 4096 bytes of DRAM on device 0 (buffer_id=640)"));
    EXPECT_THAT(log, HasSubstr("Allocated 4096 bytes of DRAM on device 1 (buffer_id=640)"));
}

TEST_F(HistoryThreadTest, ANumberBeyondTheLastEventContinuesAtTheEnd) {
    attach();
    write_event(segment::EventType::allocate, AllocationKind::dram, 4096, 640);
    wait_for([&] { return events().size() == 2; });
    const view::EventsView beyond = list_events(history, {.since = uint64_t{1} << 62}, kAll);
    EXPECT_THAT(beyond.events, IsEmpty());
    EXPECT_EQ(beyond.missed, 0u);
    EXPECT_EQ(beyond.next, events()[1].sequence + 1);
}

TEST_F(HistoryThreadTest, AProcessWithTwoSourcesIsFollowedByItsSegmentOnly) {
    for (const bool segment_first : {true, false}) {
        std::vector<uint32_t> numbers;
        for (const bool is_segment : {segment_first, !segment_first}) {
            census::Process process = segment.process(8, segment_first ? 100 : 200);
            process.source = is_segment ? census::ProcessSource::segment : census::ProcessSource::classic;
            const uint64_t file = numbers.size() + (segment_first ? 10 : 20);
            numbers.push_back(*process_table.add(process, {1, file}));
            history_thread->process_attached({numbers.back(), process, {1, file}},
                                             Follower::StartPosition::present);
        }
        wait_for_thread();
        write_event(segment::EventType::allocate, AllocationKind::dram, 4096);
        for (const uint32_t number : numbers) {
            process_table.remove(number);
            history_thread->process_ended(number);
        }
        wait_for_thread();
        const auto count = [&](RecordType type) {
            const auto all = events();
            return std::count_if(all.begin(), all.end(), [&](const auto& one) { return one.type == type; });
        };
        const long processes = segment_first ? 1 : 2;
        EXPECT_EQ(count(RecordType::process_died), processes);
        EXPECT_EQ(count(RecordType::allocation), processes);
        EXPECT_EQ(self().events_followed, static_cast<uint64_t>(processes));
    }
}

TEST_F(HistoryThreadTest, TheLogHasRunningTotalsOfCircularBuffers) {
    attach();
    write_event(segment::EventType::allocate, AllocationKind::cb, 262'144);
    write_event(segment::EventType::allocate, AllocationKind::cb, 262'144);
    write_event(segment::EventType::free, AllocationKind::cb, 262'144);
    const std::string log = log_until("[CB_FREE] Device 1");
    EXPECT_THAT(log, HasSubstr("[CB_ALLOC] Device 1: +0.25 MB (Total: 0.50 MB)"));
    EXPECT_THAT(log, HasSubstr("[CB_FREE] Device 1: -0.25 MB (Total: 0.25 MB)"));
}

TEST_F(HistoryThreadTest, AGapIsAnEventALineAndACount) {
    for (uint64_t i = 0; i < 40; ++i) {
        write_event(segment::EventType::allocate, AllocationKind::dram, i);
    }
    attach(Follower::StartPosition::beginning);
    wait_for([&] { return events().back().type == RecordType::gap; });
    EXPECT_EQ(events().back().count, 25u);
    EXPECT_THAT(log_until("gap"), HasSubstr("! [PID 7] gap: 25 events lost"));
    census::Figures figures = census::compute_figures(process_table.census());
    history.annotate(figures);
    EXPECT_EQ(figures.processes[0].followed, 15u);
    EXPECT_EQ(figures.processes[0].lost, 25u);
}

TEST_F(HistoryThreadTest, TheLastEventsOfAProcessComeBeforeItsEnd) {
    attach();
    write_event(segment::EventType::allocate, AllocationKind::dram, 1);
    history_thread->process_ended(1);
    wait_for([&] { return events().back().type == RecordType::process_died; });
    EXPECT_EQ(events()[1].type, RecordType::allocation);
    EXPECT_THAT(log_until("has ended"), HasSubstr("- [PID 7] model of root has ended"));
}

TEST_F(HistoryThreadTest, EventsOfOtherUsersNeedPermission) {
    attach();
    write_event(segment::EventType::allocate, AllocationKind::dram, 1);
    wait_for([&] { return events().size() == 2; });
    const view::EventsView none = list_events(history, {}, [](uint32_t uid) { return uid != 0; });
    EXPECT_THAT(none.events, IsEmpty());
    EXPECT_EQ(none.next, 3u);
    EXPECT_EQ(list_events(history, {.since = 2}, kAll).events.size(), 1u);
    EXPECT_EQ(list_events(history, {.since = 1, .limit = 1}, kAll).next, 2u);
}

TEST_F(HistoryThreadTest, FiltersLeaveTheEventsThatMatchAndThoseOfNoDeviceOrKind) {
    attach();
    write_event(segment::EventType::allocate, AllocationKind::dram, 1);
    write_event(segment::EventType::allocate, AllocationKind::l1, 2);
    wait_for([&] { return events().size() == 3; });
    const auto count = [&](const view::EventQuery& query) {
        return list_events(history, query, kAll).events.size();
    };
    EXPECT_EQ(count({.kind = census::Kind::l1}), 2u) << "the start of the process and one allocation";
    EXPECT_EQ(count({.kind = census::Kind::trace}), 1u);
    EXPECT_EQ(count({.pid = 7}), 3u);
    EXPECT_EQ(count({.pid = 8}), 0u);
    EXPECT_EQ(count({.device = events()[1].devices.at(0)}), 3u);
    EXPECT_EQ(count({.device = 99}), 1u);
    view::EventQuery several{.device = 99, .kind = census::Kind::l1};
    several.device.add(events()[1].devices.at(0));
    EXPECT_EQ(count(several), 2u);
    several.kind.add(census::Kind::dram);
    EXPECT_EQ(count(several), 3u);
}

TEST_F(HistoryThreadTest, TheLastEventsThatMatchComeInTheirOrder) {
    attach();
    for (uint64_t address = 1; address <= 5; ++address) {
        write_event(segment::EventType::allocate,
                    address % 2 == 0 ? AllocationKind::l1 : AllocationKind::dram, address);
    }
    wait_for([&] { return events().size() == 6; });
    const view::EventsView last = list_events(history, {.kind = census::Kind::dram, .last = 2}, kAll);
    ASSERT_THAT(last.events, SizeIs(2));
    EXPECT_EQ(last.events[0].sequence, 4u);
    EXPECT_EQ(last.events[1].sequence, 6u);
    EXPECT_EQ(last.next, 7u);
    EXPECT_EQ(last.missed, 0u);
    const view::EventsView of_stream = list_events(history, {.since = 1, .last = 2, .stream = true}, kAll);
    EXPECT_EQ(of_stream.missed, 4u) << "a stream counts what it skips";
    EXPECT_EQ(list_events(history, {.last = 0}, kAll).next, 7u) << "where the newest is";
}

TEST_F(HistoryThreadTest, CountersThatDifferFromTheLedgerAreLoggedCountedAndShown) {
    segment.pool(mesh, AllocationKind::dram).used.store(100);  // nothing is live
    attach();
    EXPECT_THAT(log_until("defect"), HasSubstr("(set 0, 100 counted, 0 live)"));
    wait_for([&] {
        view::SelfView self;
        describe(history, self);
        return self.defects == 1 && self.audits >= 2;
    });
    census::Figures figures = census::compute_figures(process_table.census());
    history.annotate(figures);
    ASSERT_THAT(figures.inexact, SizeIs(1));
    EXPECT_EQ(figures.inexact[0].reason, census::Reason::counters_differ);
}

TEST_F(HistoryThreadTest, FailureTotalsNeverDecrease) {
    segment.header().failures[0] = 3;
    segment.header().failures[2] = 1;
    attach();
    wait_for([&] { return history.failures() == history::FailureTotals{3, 0, 1}; });
    segment.header().failures[0] = 2;
    segment.header().failures[1] = UINT64_MAX;
    wait_for([&] { return history.failures()[1] == UINT64_MAX; });
    EXPECT_EQ(history.failures()[0], 3u);
    history_thread->process_ended(1);
    wait_for_thread();
    EXPECT_EQ(history.failures(), (history::FailureTotals{3, UINT64_MAX, 1}));
}

TEST_F(HistoryThreadTest, UsedBytesAreSampled) {
    segment.add(census::allocation(mesh, AllocationKind::l1, 0x100, 40, 64));
    attach();
    wait_for([&] { return !list_series(history, {.device = 1, .kind = census::Kind::l1}).empty(); });
    const std::vector<view::SeriesView> series = list_series(history, {.device = 1});
    ASSERT_THAT(series, SizeIs(1));
    EXPECT_EQ(series[0].samples[0].value, 64u);
    EXPECT_THAT(list_series(history, {.since = UINT64_MAX})[0].samples, IsEmpty());
}

}  // namespace
}  // namespace ttmem::daemon
