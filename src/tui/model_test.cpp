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
using What = Moment::What;

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
    // Each second has another value: 300 of them are told apart, and of 900 each part has the higher of its two or three.
    const auto fine = track.columns(kEnd - 300 * kSecond, kEnd, 300);
    EXPECT_EQ(std::count(fine.begin(), fine.end(), std::optional(0.0)), 150);
    EXPECT_THAT(track.columns(kEnd - 900 * kSecond, kEnd, 300), Each(Optional(1)));
}

TEST(Track, PutsTogetherWhatComesVeryFastAndPassesOverWhatGoesBack) {
    Track track;
    track.add(10 * kSecond, 1);
    track.add(10 * kSecond + kSecond / 10, 8);
    track.add(9 * kSecond, 77);
    track.add(11 * kSecond, 2);
    EXPECT_THAT(track.columns(9 * kSecond, 12 * kSecond, 3),
                ElementsAre(std::nullopt, Optional(8), Optional(2)));
    EXPECT_EQ(track.last(), 2);
}

TEST(Track, TakesThePastOnlyFromBeforeItsOwnBeginning) {
    Track track;
    track.add(10 * kSecond, 5);
    track.put_before({{8 * kSecond, 1}, {9 * kSecond, 2}, {10 * kSecond, 3}, {11 * kSecond, 4}});
    EXPECT_THAT(track.columns(7 * kSecond, 12 * kSecond, 5),
                ElementsAre(std::nullopt, Optional(1), Optional(2), Optional(5), Optional(5)));
}

TEST(Model, SeesWhoCameAndWhoDied) {
    Model model;
    view::View view = view::t3000();
    model.take_status(view, {}, Link::daemon);
    view.figures.processes.erase(view.figures.processes.begin());
    view.origin.time_ns += kSecond;
    model.take_status(view, {}, Link::daemon);
    EXPECT_THAT(model.moments(), Contains(Moment{What::start, kNow - 200 * kSecond, 4711}));
    EXPECT_THAT(model.moments(), Contains(Moment{What::death, kNow + kSecond, 4711}));
    EXPECT_THAT(model.moments(), Not(Contains(Moment{What::start, kNow - 90'000 * kSecond, 12345})))
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
    EXPECT_THAT(model.moments(), Contains(Moment{What::gap, kNow, 4711}));
}

TEST(Model, IsStaleSinceItLostItsHost) {
    Model model = watched(view::one_device(), 3);
    const auto values = [&] {
        return model.tracks().at(0).dram.columns(kNow - 10 * kSecond, kNow + 10 * kSecond, 20);
    };
    const auto before = values();
    model.lose("gone", kNow + kSecond);
    model.tick(kNow + 5 * kSecond);
    EXPECT_TRUE(model.is_stale());
    EXPECT_EQ(model.lost_since_ns(), kNow + kSecond);
    EXPECT_EQ(values(), before) << "the charts go on with what was last known";
    model.lose("still gone", kNow + 9 * kSecond);
    EXPECT_EQ(model.lost_since_ns(), kNow + kSecond) << "since it began";
    model.take_status(view::one_device(), {}, Link::daemon);
    EXPECT_FALSE(model.is_stale());
}

TEST(Model, RemembersALimitedNumberOfEvents) {
    Model model;
    view::EventsView page{view::origin(), 0, 1, std::vector<view::EventView>(1500, event(1, "free"))};
    model.take({"events", page, ""});
    model.take({"events", page, ""});
    EXPECT_EQ(model.events().size(), 2000u);
    EXPECT_EQ(model.events_missed(), 2u);
}

TEST(Model, AsksForThePastOfADeviceOnce) {
    Model model = watched(view::one_device(), 3);
    Ui ui;
    ui.screen = Screen::charts;
    EXPECT_EQ(question_of(model, ui, 20).about, Question::About::past);
    Past past;
    past.history.series = {{0, census::Kind::dram, {{kNow - 60 * kSecond, 77}}}};
    past.why.failures = view::several_failures();
    model.take({question_of(model, ui, 20).key(), past, ""});
    EXPECT_THAT(model.tracks().at(0).dram.columns(kNow - 60 * kSecond, kNow - 59 * kSecond, 1),
                ElementsAre(Optional(77)));
    EXPECT_THAT(model.moments(), Contains(Moment{What::failure, kNow - 12 * kSecond, 4711}));
    EXPECT_EQ(question_of(model, ui, 20).about, Question::About::failures);
}

TEST(Question, IsAboutWhatIsVisibleAndNoMore) {
    const Model model = watched(view::t3000(), 1);
    Ui ui;
    EXPECT_EQ(question_of(model, ui, 20).about, Question::About::nothing);
    ui.screen = Screen::allocations;
    EXPECT_EQ(question_of(model, ui, 20).allocations.limit, 20u);
    EXPECT_EQ(question_of(model, ui, 20).allocations.device, std::nullopt);
    ui.all_devices = false;
    ui.device = 3;
    ui.scroll = 100;
    EXPECT_EQ(question_of(model, ui, 20).allocations.device, "3");
    EXPECT_EQ(question_of(model, ui, 20).allocations.limit, 120u);
    ui.scroll = 1'000'000;
    EXPECT_EQ(question_of(model, ui, 20).allocations.limit, 1000u) << "never the whole list";
}

TEST(Question, TwoThatDifferHaveKeysThatDiffer) {
    const Model model = watched(view::t3000(), 1);
    Ui ui;
    ui.screen = Screen::allocations;
    const std::string before = question_of(model, ui, 20).key();
    EXPECT_EQ(question_of(model, ui, 20).key(), before);
    for (const auto& change : std::vector<std::function<void(Ui&)>>{
             [](Ui& u) { u.filter = "x"; }, [](Ui& u) { u.group.reset(); }, [](Ui& u) { u.pid = 1; },
             [](Ui& u) { u.mark_ns = 1; }, [](Ui& u) { u.sort = census::Sort::age; },
             [](Ui& u) { u.all_devices = false; }}) {
        Ui other = ui;
        change(other);
        EXPECT_NE(question_of(model, other, 20).key(), before);
    }
}

}  // namespace
}  // namespace ttmem::tui
