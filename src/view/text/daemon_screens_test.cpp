// SPDX-License-Identifier: Apache-2.0

// The screens of what only a daemon knows: events, history, post-mortems and the daemon itself.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>

#include "view/testing/command_views_test_support.hpp"
#include "view/testing/screens_test_support.hpp"
#include "view/text/tables.hpp"

namespace ttmem::view {
namespace {

using testing::HasSubstr;

Text history_screen(const HistoryView& view, const Style& style) {
    return history_text(view, {n300(0), n300(1)}, style);
}

// Times of day are shown in local time.
struct EventsScreen : testing::Test {
    EventsScreen() {
        setenv("TZ", "UTC", 1);
        tzset();
    }
};

struct HistoryScreen : EventsScreen {};

TEST_F(EventsScreen, HasALinePerEventAndSaysWhatIsMissing) {
    const EventsView none{.origin = origin(), .next = 1, .events = {}};
    GoldenFile golden(golden_path("events"));
    add_sizes_and_json(golden, "some", some_events(), events_text);
    add_sizes(golden, "long_names", long_event_names(), events_text);
    golden.add("none, 80 columns", events_text(none, {}));

    const Text text = events_text(some_events(), {});
    EXPECT_EQ(text.size(), some_events().events.size() + 3) << "titles, what is not shown, what is not kept";
    EXPECT_EQ(text.lines()[0].plain(), "TIME              PID  EVENT       KIND      REQUESTED  DEV   NAME");
    EXPECT_EQ(text.lines()[1].plain(), "Not shown: note, address. Widen the terminal.");
    EXPECT_EQ(text.lines()[2].plain(), "(3 earlier events are no longer kept)");
    EXPECT_THAT(render_plain(text), HasSubstr("  12 events missed\n"));
    EXPECT_THAT(render_plain(text), HasSubstr("  died  "));
    EXPECT_THAT(render_plain(text), HasSubstr("  process died\n"));
    EXPECT_EQ(
        event_titles({.width = 200}).plain(),
        "TIME              PID  EVENT       KIND      REQUESTED  DEV   NOTE              ADDRESS  NAME");
    EXPECT_EQ(event_lines(some_events(), {}).size(), some_events().events.size() + 1);
    EXPECT_EQ(render_plain(events_text(none, {})), "No events since the daemon started.\n");
    EventsView recorded = none;
    recorded.origin.source = OriginSource::recording;
    EXPECT_EQ(render_plain(events_text(recorded, {})), "No events in the recording until this moment.\n");
}

TEST_F(EventsScreen, SaysThatOthersHaveEvents) {
    EventsView view = some_events();
    view.hidden_events = 3;
    EXPECT_THAT(render_plain(events_text(view, {})),
                HasSubstr("Not listed: 3 events of other users' processes.\nTheir users, root"));
    view.events.clear();
    view.missed = 0;
    EXPECT_THAT(render_plain(events_text(view, {})),
                testing::StartsWith("No events of your processes.\nNot listed: 3 events"));
}

TEST_F(EventsScreen, OneMissingEventIsSingular) {
    EventsView view = some_events();
    view.missed = 1;
    view.events[2].count = 1;
    const std::string text = render_plain(events_text(view, {}));
    EXPECT_THAT(text, HasSubstr("(1 earlier event is no longer kept)\n"));
    EXPECT_THAT(text, HasSubstr("  1 event missed\n"));
}

TEST_F(EventsScreen, FitsIntoEightyColumns) {
    expect_fits_80_columns(some_events(), events_text);
    expect_fits_80_columns(long_event_names(), events_text);
}

TEST_F(HistoryScreen, HasAChartPerDeviceAndKindThatHeldSomething) {
    const HistoryView none{origin(), {}};
    GoldenFile golden(golden_path("history"));
    add_sizes_and_json(golden, "some", some_history(), history_screen);
    golden.add("some, UTF-8", history_screen(some_history(), {.utf8 = true}));
    golden.add("some, scaled to the highest", history_text(some_history(), {}, {}, HistoryScale::highest));
    add_sizes(golden, "galaxy", galaxy_history(), history_screen);
    golden.add("none, 80 columns", history_screen(none, {}));

    EXPECT_EQ(history_screen(some_history(), {}).size(), 7u)
        << "headline, blank, two devices, the axis, blank, what a full cell is; l1 held nothing";
    EXPECT_THAT(render_plain(history_screen(some_history(), {})), HasSubstr("highest 858.3 MiB"));
    EXPECT_EQ(render_plain(history_screen(none, {})),
              "No memory was in use in this time, as far as the daemon knows.\n");
    expect_fits_80_columns(some_history(), history_screen);
    expect_fits_80_columns(galaxy_history(), history_screen);
}

// Two devices: one from the beginning, one that came in the middle and whose figures are longer.
HistoryView late_device() {
    HistoryView view{origin(), {}};
    for (const uint32_t device : {0u, 1u}) {
        SeriesView series{device, Kind::dram, {}};
        for (uint64_t i = device * 50; i <= 100; ++i) {
            series.samples.push_back(
                {kNow - (100 - i) * kSecond, device == 0 ? uint64_t{1'000} : uint64_t{999'000'000}});
        }
        view.series.push_back(series);
    }
    return view;
}

TEST_F(HistoryScreen, HasTimesWithoutADaemonAndWhatHappenedToProcesses) {
    HistoryView view = some_history();
    const uint64_t now_ns = view.origin.time_ns;
    constexpr uint64_t kSecond = 1'000'000'000;
    // The first sample after a downtime says nothing about the time before it.
    SeriesView& first = view.series.front();
    std::erase_if(first.samples, [&](const history::Sample& sample) {
        return sample.time_ns > now_ns - 200 * kSecond && sample.time_ns <= now_ns - 150 * kSecond;
    });
    view.downtimes = {{now_ns - 200 * kSecond, now_ns - 150 * kSecond}};
    PastMoment failure;
    failure.time_ns = now_ns - 220 * kSecond;
    failure.pid = 4711;
    failure.comm = "python3";
    failure.user = "alice";
    failure.name = "decoder.3";
    failure.failure = census::FailureType::out_of_memory;
    failure.kind = census::Kind::l1;
    failure.requested = 12'582'912;
    failure.card = 1;
    PastMoment mark = failure;
    mark.type = PastMomentType::mark;
    mark.name = "step 2";
    PastMoment death = failure;
    death.type = PastMomentType::death;
    death.time_ns = now_ns - 210 * kSecond;
    death.ending = census::Ending::signal;
    view.moments = {failure, mark, death};
    view.moments_left_out = 4;
    view.hidden_moments = 2;
    view.inexact.push_back({0, census::Reason::history_not_kept, 12, "/x/history.db: the disk is full"});
    GoldenFile golden(golden_path("history_past"));
    add_sizes_and_json(golden, "past", view, history_screen);
    expect_fits_80_columns(view, history_screen);

    ProcessHistoryView process{view.origin, 4711};
    process.series = {{now_ns - 600 * kSecond, "python3", 1000, "alice", census::Kind::dram, first.samples}};
    golden.add("process", process_history_text(process, {}));
    golden.add("no such process", process_history_text({view.origin, 1}, {}));
}

TEST_F(HistoryScreen, RowsShareOneAxisWithTimes) {
    const Text text = history_text(late_device(), {}, {});
    const std::string first = text.lines()[2].plain();
    const std::string second = text.lines()[3].plain();
    const std::string axis = text.lines()[4].plain();
    EXPECT_EQ(first.find('|'), second.find('|'));
    EXPECT_EQ(first.rfind('|'), second.rfind('|')) << "also where the figures behind it are longer";
    const size_t begin = first.find('|') + 1;
    const size_t width = first.rfind('|') - begin;
    EXPECT_EQ(first.substr(begin, width), std::string(width, '#'));
    EXPECT_EQ(second.substr(begin, width / 2), std::string(width / 2, ' ')) << "it was not there yet";
    EXPECT_EQ(second.substr(begin + width / 2 + 1, 3), "###");
    EXPECT_EQ(axis.substr(begin, 8), "07:58:20");
    EXPECT_EQ(axis.size(), begin + width);
    EXPECT_THAT(axis, testing::EndsWith("08:00:00"));
}

TEST_F(HistoryScreen, ChartsAreScaledToTheCapacityFirst) {
    const std::string full_of_highest = render_plain(history_text(late_device(), {}, {}));
    EXPECT_THAT(full_of_highest, HasSubstr("#"));
    const std::string of_capacity = render_plain(history_screen(late_device(), {}));
    EXPECT_THAT(of_capacity, testing::Not(HasSubstr("#"))) << "999 MB of 12.9 GB";
    EXPECT_THAT(of_capacity, HasSubstr("highest 952.7 MiB (7%)"));
    EXPECT_THAT(render_plain(history_text(late_device(), {n300(0), n300(1)}, {}, HistoryScale::highest)),
                HasSubstr("#"));
}

TEST_F(HistoryScreen, SaysThatSeriesAreNotKept) {
    HistoryView view = some_history();
    view.dropped = 12;
    EXPECT_THAT(render_plain(history_screen(view, {})),
                HasSubstr("(12 series are not kept: too many devices)\n"));
    view.series.clear();
    view.dropped = 1;
    EXPECT_THAT(render_plain(history_screen(view, {})),
                HasSubstr("(1 series is not kept: too many devices)\n"));
}

TEST(SelfScreen, ShowsWhatTheDaemonCostsAndWhetherItKeepsUp) {
    GoldenFile golden(golden_path("self"));
    add_sizes_and_json(golden, "some", some_self(), self_text);
    expect_fits_80_columns(some_self(), self_text);
    SelfView one = some_self();
    one.events_followed = one.defects = one.processes = one.connections = one.log_lines_lost = 1;
    const std::string text = render_plain(self_text(one, {}));
    for (const char* part : {" 1 event (", " 1 defect found\n", " 1 process with",
                             " 1 connection; 1 log line lost\n", "1.0% of one core"}) {
        EXPECT_THAT(text, HasSubstr(part));
    }
}

TEST(SelfScreen, HasALineAboutTheFlightRecorderOnlyIfThereIsOne) {
    SelfView view = some_self();
    EXPECT_THAT(render_plain(self_text(view, {})), testing::Not(HasSubstr("recorder")));
    view.flight_recorder = {"/r", true, "", 0, 3, 4096, 100, 7};
    EXPECT_THAT(render_plain(self_text(view, {})),
                HasSubstr("\n  recorder   4.0 KiB in 3 files, 100 events, 7 lost\n"));
    view.flight_recorder->problem = "can't write /r/flight: No space left on device";
    EXPECT_THAT(render_plain(self_text(view, {})),
                HasSubstr("\n  recorder   stopped: can't write /r/flight: No space left on device\n"));
}

TEST(SelfScreen, HasALineAboutRefusalsAndFailuresOnlyWhereThereAreAny) {
    SelfView view = some_self();
    view.history = {HistoryState::kept, "/var/lib/ttmem/history/history.db", "", 52'428'800,
                    268'435'456,        1'799'000'000'000'000'000,           0,  ""};
    view.budgets = {{"processes", 5, 5, 1024, 4096, 0}, {"api_connections", 3, 3, 64, 256, 0}};
    EXPECT_THAT(render_plain(self_text(view, {})), testing::Not(HasSubstr("refused")));
    view.budgets[1].refused = 7;
    EXPECT_THAT(
        render_plain(self_text(view, {})),
        HasSubstr("\n  refused    7 requests of users beyond a limit, all of them api connections\n"));
    view.budgets[0].refused = 1'000'000'000;
    view.processes_missed = 1;
    view.failed_tasks = 2;
    const std::string text = render_plain(self_text(view, {}));
    EXPECT_THAT(text, HasSubstr("1000000007 requests of users beyond a limit, most of them processes\n"));
    EXPECT_THAT(text, HasSubstr("\n  missed     1 short process, 2 failed tasks\n"));
    expect_fits_80_columns(view, self_text);
}

std::vector<EqualPostMortems> folded(const PostMortemListView& view) {
    std::vector<const census::PostMortemSummary*> all;
    for (const census::PostMortemSummary& one : view.post_mortems) {
        all.push_back(&one);
    }
    return fold_post_mortems(all, {});
}

TEST(PostMortemsScreen, HasARowPerProcessThatDied) {
    const PostMortemListView none{origin(), 0, {}};
    GoldenFile golden(golden_path("post_mortems"));
    add_sizes_and_json(golden, "several", several_post_mortems(), post_mortems_text);
    golden.add("none, 80 columns", post_mortems_text(none, {}));

    const PostMortemListView several = several_post_mortems();
    EXPECT_EQ(post_mortem_table(folded(several), kNow, {.names_left_out = false}).size(), 3u)
        << "the titles and two rows";
    const std::string text = render_plain(post_mortems_text(several_post_mortems(), {}));
    EXPECT_THAT(text, HasSubstr("... and 3 older ones no longer kept\n"));
    expect_fits_80_columns(several_post_mortems(), post_mortems_text);
    expect_complete_at_any_width(several_post_mortems(), post_mortems_text);
}

TEST(PostMortemsScreen, SaysHowProcessesEndedAndFoldsEqualRows) {
    PostMortemListView view{origin(), 0, {}};
    for (uint32_t pid = 100; pid < 105; ++pid) {
        view.post_mortems.push_back(summary(pid, "pytest", pid));
        view.post_mortems.back().ending = census::Ending::exit;
        view.post_mortems.back().exit_code = pid == 104 ? 1 : 0;
    }
    view.post_mortems.push_back(summary(99, "python3", 500));
    view.post_mortems.back().ending = census::Ending::signal;
    view.post_mortems.back().signal = 9;
    view.post_mortems.push_back(summary(98, "bash", 600));
    view.post_mortems.push_back(summary(97, "sh", 700));
    view.post_mortems.back().ending = census::Ending::exec;
    const Style wide{.width = 200};  // all columns fit, so no line names those that do not
    const std::vector<EqualPostMortems> rows = folded(view);
    const Text table = post_mortem_table(rows, kNow, wide);
    EXPECT_EQ(table.size(), 6u) << "the titles, four alike, and four others";
    const std::string text = render_plain(table);
    EXPECT_THAT(text, testing::ContainsRegex("100 +4 +.*exit 0"));
    EXPECT_THAT(text, testing::ContainsRegex("104 +- +.*exit 1"));
    EXPECT_THAT(text, HasSubstr("SIGKILL"));
    EXPECT_THAT(text, HasSubstr("not known"));
    EXPECT_THAT(text, HasSubstr("exec"));
    EXPECT_EQ(rows[0].newest->process.pid, 100u);
    EXPECT_EQ(rows[0].oldest->process.pid, 103u);
    EXPECT_THAT(render_plain(post_mortem_table({rows.back()}, kNow, wide)), testing::Not(HasSubstr("ALIKE")));
    expect_fits_80_columns(view, post_mortems_text);
}

TEST(PostMortemsScreen, SaysWhatOthersHaveAndWhatWasMissed) {
    PostMortemListView view{origin(), 0, {}};
    view.hidden_post_mortems = 2;
    view.processes_missed = 1;
    const std::string text = render_plain(post_mortems_text(view, {}));
    EXPECT_THAT(text, HasSubstr("None of your tracked processes has died"));
    EXPECT_THAT(text,
                HasSubstr("\nNot listed: 2 post-mortems of other users' processes.\nTheir users, root"));
    EXPECT_THAT(text, HasSubstr("\nMissed: 1 short-lived process that ended before ttmemd could read it.\n"));
}

TEST(PostMortemScreen, SaysHowItEnded) {
    PostMortemView view = post_mortem();
    EXPECT_THAT(render_plain(post_mortem_text(view, {})), HasSubstr(" ended (how is not known) "));
    view.post_mortem.summary.ending = census::Ending::exit;
    view.post_mortem.summary.exit_code = 3;
    EXPECT_THAT(render_plain(post_mortem_text(view, {})), HasSubstr(" exited with code 3 "));
    view.post_mortem.summary.ending = census::Ending::signal;
    view.post_mortem.summary.signal = 11;
    EXPECT_THAT(render_plain(post_mortem_text(view, {})), HasSubstr(" was ended by signal 11 (SIGSEGV) "));
}

TEST(PostMortemScreen, ShowsWhatTheProcessHeldAndWhatWasInFlight) {
    GoldenFile golden(golden_path("post_mortem"));
    add_sizes_and_json(golden, "python3", post_mortem(), post_mortem_text);
    golden.add("nothing held, 80 columns", post_mortem_text(post_mortem_with_nothing(), {}));

    const std::string text = render_plain(post_mortem_text(post_mortem(), {}));
    for (const char* part : {"held 457 allocations on devices 0,1.",
                             "By name (3 of 43):", "thread 4713: a free, not yet in the figures",
                             "Failures before it died: 120 out-of-memory failures"}) {
        EXPECT_THAT(text, HasSubstr(part));
    }
    EXPECT_THAT(render_plain(post_mortem_text(post_mortem_with_nothing(), {})), HasSubstr("held nothing.\n"));
    expect_fits(below_headline(post_mortem_text(post_mortem(), {})), 80);
    expect_complete_at_any_width(post_mortem(), post_mortem_text);
}

}  // namespace
}  // namespace ttmem::view
