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

// Times of day are shown in local time.
struct EventsScreen : testing::Test {
    EventsScreen() {
        setenv("TZ", "UTC", 1);
        tzset();
    }
};

TEST_F(EventsScreen, HasALinePerEventAndSaysWhatIsMissing) {
    const EventsView none{.origin = origin(), .next = 1, .events = {}};
    GoldenFile golden(golden_path("events"));
    add_sizes_and_json(golden, "some", some_events(), events_text);
    add_sizes(golden, "long_names", long_event_names(), events_text);
    golden.add("none, 80 columns", events_text(none, {}));

    const Text text = events_text(some_events(), {});
    EXPECT_EQ(text.size(), some_events().events.size() + 1);
    EXPECT_EQ(text.lines().front().plain(), "(3 earlier events are no longer kept)");
    EXPECT_THAT(render_plain(text), HasSubstr("  gap: 12 events missed\n"));
    EXPECT_EQ(render_plain(events_text(none, {})), "No events since the daemon started.\n");
}

TEST_F(EventsScreen, OneMissingEventIsSingular) {
    EventsView view = some_events();
    view.missed = 1;
    view.events[2].count = 1;
    const std::string text = render_plain(events_text(view, {}));
    EXPECT_THAT(text, HasSubstr("(1 earlier event is no longer kept)\n"));
    EXPECT_THAT(text, HasSubstr("  gap: 1 event missed\n"));
}

TEST_F(EventsScreen, FitsIntoEightyColumns) {
    expect_fits_80_columns(some_events(), events_text);
    expect_fits_80_columns(long_event_names(), events_text);
}

TEST(HistoryScreen, HasAChartPerDeviceAndKindThatHeldSomething) {
    const HistoryView none{origin(), {}};
    GoldenFile golden(golden_path("history"));
    add_sizes_and_json(golden, "some", some_history(), history_text);
    golden.add("some, UTF-8", history_text(some_history(), {.utf8 = true}));
    add_sizes(golden, "galaxy", galaxy_history(), history_text);
    golden.add("none, 80 columns", history_text(none, {}));

    EXPECT_EQ(history_text(some_history(), {}).size(), 4u) << "headline, blank, two devices; l1 held nothing";
    EXPECT_THAT(render_plain(history_text(some_history(), {})), HasSubstr("highest 858.3 MiB"));
    EXPECT_EQ(render_plain(history_text(none, {})), "No memory has been in use since the daemon started.\n");
    expect_fits_80_columns(some_history(), history_text);
    expect_fits_80_columns(galaxy_history(), history_text);
}

TEST(HistoryScreen, SaysThatSeriesAreNotKept) {
    HistoryView view = some_history();
    view.dropped = 12;
    EXPECT_THAT(render_plain(history_text(view, {})),
                HasSubstr("(12 series are not kept: too many devices)\n"));
    view.series.clear();
    view.dropped = 1;
    EXPECT_THAT(render_plain(history_text(view, {})),
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

TEST(SelfScreen, HasALineAboutRefusalsAndFailuresOnlyWhereThereAreAny) {
    SelfView view = some_self();
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

TEST(PostMortemsScreen, HasARowPerProcessThatDied) {
    const PostMortemListView none{origin(), 0, {}};
    GoldenFile golden(golden_path("post_mortems"));
    add_sizes_and_json(golden, "several", several_post_mortems(), post_mortems_text);
    golden.add("none, 80 columns", post_mortems_text(none, {}));

    EXPECT_EQ(post_mortem_table(several_post_mortems(), {}).size(), 3u) << "the titles and two rows";
    const std::string text = render_plain(post_mortems_text(several_post_mortems(), {}));
    EXPECT_THAT(text, HasSubstr("... and 3 older ones no longer kept\n"));
    expect_fits_80_columns(several_post_mortems(), post_mortems_text);
    expect_complete_at_any_width(several_post_mortems(), post_mortems_text);
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
