// SPDX-License-Identifier: Apache-2.0
#include "tui/model.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tui/models_test_support.hpp"
#include "tui/ui.hpp"

namespace ttmem::tui {
namespace {

using testing::AnyOf;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::Not;
using testing::Optional;
using Cause = ChartMark::Cause;

TEST(Track, PutsIntoEachColumnTheHighestValueOfItsTime) {
    Track track;
    for (uint64_t i = 0; i < 10; ++i) {
        track.add(100 * kSecond + i * kSecond, static_cast<double>(i == 5 ? 50 : i));
    }
    EXPECT_THAT(track.columns(100 * kSecond, 110 * kSecond, 5), ElementsAre(1, 3, 50, 7, 9));
}

TEST(Track, HoldsAValueUntilTheNextAndHasNoneBeforeTheFirst) {
    Track track;
    track.add(4 * kSecond, 7);
    EXPECT_THAT(track.columns(0, 10 * kSecond, 5), ElementsAre(std::nullopt, std::nullopt, std::optional(7.0),
                                                               std::optional(7.0), std::optional(7.0)));
}

TEST(Track, ShowsAnHourAndThePeaksInIt) {
    Track track;
    constexpr uint64_t kEnd = 20'000 * kSecond;
    for (uint64_t time = 0; time <= kEnd; time += kSecond / 2) {
        track.add(time, time == kEnd - 3000 * kSecond ? 9 : 1);
    }
    const auto hour = track.columns(kEnd - 3600 * kSecond, kEnd, 600);
    EXPECT_THAT(hour, Each(Optional(AnyOf(1, 9))));
    EXPECT_EQ(std::max(hour[99], hour[100]), 9) << "no more than a part from where it was";
    EXPECT_EQ(std::count(hour.begin(), hour.end(), std::optional(9.0)), 1);
    EXPECT_THAT(track.columns(kEnd - 3700 * kSecond, kEnd - 3650 * kSecond, 5), Each(std::nullopt));
}

TEST(Track, IsAsFineAsTheWidestChartOfASpan) {
    Track track;
    constexpr uint64_t kEnd = 4000 * kSecond;
    for (uint64_t time = 0; time <= kEnd; time += kSecond / 2) {
        track.add(time, static_cast<double>(time / kSecond % 2));
    }
    // Each second has another value: 300 of them are separate, and of 900 each part has the higher of its two or three.
    const auto fine = track.columns(kEnd - 300 * kSecond, kEnd, 300);
    EXPECT_EQ(std::count(fine.begin(), fine.end(), std::optional(0.0)), 150);
    EXPECT_THAT(track.columns(kEnd - 900 * kSecond, kEnd, 300), Each(Optional(1)));
}

TEST(Track, MergesFastValuesAndIgnoresOlderOnes) {
    Track track;
    track.add(10 * kSecond, 1);
    track.add(10 * kSecond + kSecond / 10, 8);
    track.add(9 * kSecond, 77);
    track.add(11 * kSecond, 2);
    EXPECT_THAT(track.columns(9 * kSecond, 12 * kSecond, 3),
                ElementsAre(std::nullopt, Optional(8), Optional(2)));
    EXPECT_EQ(track.last(), 2);
}

TEST(Track, ASmallStepBackOfTheClockLeavesEveryLevelInOrder) {
    Track track;
    constexpr uint64_t kTenth = kSecond / 10;
    track.add(100 * kTenth, 1);
    track.add(114 * kTenth, 2);
    track.add(115 * kTenth, 3);  // within a step of the finest level, and a new value of the next one
    track.add(114 * kTenth + kTenth / 2, 9);
    track.add(3210 * kTenth, 5);  // the finest level does not reach back to the first value now
    const auto coarse = track.columns(100 * kTenth, 120 * kTenth, 40);
    EXPECT_EQ(coarse[29], 2) << "before the clock went back";
    EXPECT_EQ(coarse[30], 9) << "both values, at the time of the first of them";
    EXPECT_EQ(coarse[39], 9);
}

TEST(Track, TakesThePastOnlyFromBeforeItsOwnBeginning) {
    Track track;
    track.add(10 * kSecond, 5);
    track.put_before({{8 * kSecond, 1}, {9 * kSecond, 2}, {10 * kSecond, 3}, {11 * kSecond, 4}});
    EXPECT_THAT(track.columns(7 * kSecond, 12 * kSecond, 5),
                ElementsAre(std::nullopt, Optional(1), Optional(2), Optional(5), Optional(5)));
}

TEST(Model, MarksStartsAndDeathsOfProcesses) {
    Model model;
    view::View view = view::t3000();
    model.take_status(view, {}, Link::daemon);
    view.figures.processes.erase(view.figures.processes.begin());
    view.origin.time_ns += kSecond;
    model.take_status(view, {}, Link::daemon);
    EXPECT_THAT(model.marks(), Contains(ChartMark{Cause::start, kNow - 200 * kSecond, 4711}));
    EXPECT_THAT(model.marks(), Contains(ChartMark{Cause::death, kNow + kSecond, 4711}));
    EXPECT_THAT(model.marks(), Not(Contains(ChartMark{Cause::start, kNow - 90'000 * kSecond, 12345})))
        << "too long ago";
}

TEST(Model, SeesAGap) {
    Model model;
    view::View view = view::one_device();
    view.figures.processes[0].lost = 5;
    model.take_status(view, {}, Link::daemon);
    EXPECT_EQ(model.lost_events(), 5u);
    view.figures.processes[0].lost = 6;
    model.take_status(view, {}, Link::daemon);
    EXPECT_THAT(model.marks(), Contains(ChartMark{Cause::gap, kNow, 4711}));
}

TEST(Model, IsStaleSinceItLostItsHost) {
    Model model = watched(view::one_device(), 3);
    const auto values = [&] {
        return model.tracks().at(0).dram.columns(kNow - 10 * kSecond, kNow + 10 * kSecond, 20);
    };
    const auto before = values();
    model.set_disconnected("gone", kNow + kSecond);
    model.tick(kNow + 5 * kSecond);
    EXPECT_TRUE(model.is_stale());
    EXPECT_EQ(model.lost_since_ns(), kNow + kSecond);
    EXPECT_EQ(values(), before) << "the charts go on with what was last known";
    model.set_disconnected("still gone", kNow + 9 * kSecond);
    EXPECT_EQ(model.lost_since_ns(), kNow + kSecond) << "since it began";
    model.take_status(view::one_device(), {}, Link::daemon);
    EXPECT_FALSE(model.is_stale());
}

view::EventsView events_from(uint64_t first, size_t count, uint64_t missed) {
    view::EventsView page{view::origin(), 0, missed, {}};
    for (uint64_t sequence = first; sequence < first + count; ++sequence) {
        page.events.push_back(event(sequence, history::RecordType::free));
    }
    return page;
}

TEST(Model, RemembersALimitedNumberOfEvents) {
    Model model;
    model.take({view::EventQuery{}, events_from(1, 1500, 1), ""});
    model.take({view::EventQuery{}, events_from(1501, 1500, 1), ""});
    EXPECT_EQ(model.events().size(), 2000u);
    EXPECT_EQ(model.events().back().sequence, 3000u);
    EXPECT_EQ(model.events_missed(), 2u);
}

TEST(Model, EventsThatBeginAnewReplaceThoseBefore) {
    Model model;
    model.take({view::EventQuery{}, events_from(100, 10, 0), ""});
    model.take({view::EventQuery{}, events_from(1, 3, 0), ""});
    EXPECT_EQ(model.events().size(), 3u);
}

TEST(Model, AsksForThePastOfADeviceOncePerMinute) {
    Model model = watched(view::one_device(), 3);
    Ui ui;
    ui.screen = Screen::charts;
    const ScreenQuery query = query_of(model, ui, 20);
    EXPECT_EQ(query, ScreenQuery(DevicePastQuery{0}));
    DevicePastView past;
    past.history.series = {{0, census::Kind::dram, {{kNow - 60 * kSecond, 77}}}};
    past.why.failures = view::several_failures();
    model.take({query, past, ""});
    EXPECT_THAT(model.tracks().at(0).dram.columns(kNow - 60 * kSecond, kNow - 59 * kSecond, 1),
                ElementsAre(Optional(77)));
    EXPECT_THAT(model.marks(), Contains(ChartMark{Cause::failure, kNow - 12 * kSecond, 4711}));
    EXPECT_TRUE(std::holds_alternative<view::FailureQuery>(query_of(model, ui, 20)));
    model.tick(kNow + 61 * kSecond);
    EXPECT_EQ(query_of(model, ui, 20), query);
}

TEST(Model, KnowsWhyHistoryIsNotKept) {
    const census::Inexactness full{0, census::Reason::history_not_kept, 3, "/x/history.db: the disk is full"};
    Model model = watched(view::one_device(), 3);
    DevicePastView past;
    past.history.inexact = {full};
    model.take({DevicePastQuery{0}, past, ""});
    ASSERT_TRUE(model.unkept_history());
    EXPECT_EQ(*model.unkept_history(), full);
    view::PostMortemListView list;
    model.take({view::PostMortemListQuery{}, list, ""});
    EXPECT_FALSE(model.unkept_history());
    list.inexact = {full};
    model.take({view::PostMortemListQuery{}, list, ""});
    EXPECT_TRUE(model.unkept_history());
}

TEST(Query, CoversOnlyTheVisibleScreen) {
    const Model model = watched(view::t3000(), 1);
    Ui ui;
    const auto groups = [&] { return std::get<view::GroupQuery>(query_of(model, ui, 20)); };
    EXPECT_EQ(query_of(model, ui, 20), ScreenQuery(DevicePastQuery{0})) << "for the charts";
    ui.screen = Screen::telemetry;
    EXPECT_EQ(query_of(model, ui, 20), ScreenQuery());
    ui.screen = Screen::allocations;
    EXPECT_EQ(groups().limit, 20u);
    EXPECT_EQ(groups().device, std::nullopt);
    ui.all_devices = false;
    ui.device = 3;
    ui.cursor.row = 100;
    EXPECT_EQ(groups().device, "3");
    EXPECT_EQ(groups().limit, 120u);
    ui.cursor.row = 1'000'000;
    EXPECT_EQ(groups().limit, 1000u) << "never the whole list";
}

TEST(Query, DiffersWhereAnyChoiceDiffers) {
    const Model model = watched(view::t3000(), 1);
    Ui ui;
    ui.screen = Screen::allocations;
    ui.group.reset();
    const ScreenQuery before = query_of(model, ui, 20);
    EXPECT_EQ(query_of(model, ui, 20), before);
    for (const auto& change : std::vector<std::function<void(Ui&)>>{
             [](Ui& u) { u.filter() = "x"; }, [](Ui& u) { u.reverse[4] = true; },
             [](Ui& u) { u.kind = census::Kind::l1; }, [](Ui& u) { u.group = census::GroupBy::name; },
             [](Ui& u) { u.pid = 1; }, [](Ui& u) { u.mark_ns = 1; },
             [](Ui& u) { u.sort = census::Sort::age; }, [](Ui& u) { u.all_devices = false; }}) {
        Ui other = ui;
        change(other);
        EXPECT_NE(query_of(model, other, 20), before);
    }
}

}  // namespace
}  // namespace ttmem::tui
