// SPDX-License-Identifier: Apache-2.0
#include "tui/keys.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

#include "tui/lists.hpp"
#include "tui/models_test_support.hpp"

namespace ttmem::tui {
namespace {

using testing::HasSubstr;

struct Keys : testing::Test {
    AppRequest press(const Input& input) { return tui::press(input, model, ui, {24, 80}); }
    AppRequest press(Key key) { return press(Input(key)); }
    AppRequest press(char32_t character) { return press(key_of(character)); }
    void type(const std::string& text) {
        for (const char c : text) {
            press(static_cast<char32_t>(c));
        }
    }

    Model model = watched(view::t3000(), 1);
    Ui ui;
};

TEST_F(Keys, NumbersOpenScreens) {
    for (int i = 0; i < static_cast<int>(kScreens); ++i) {
        press(U'0' + static_cast<char32_t>(i));
        EXPECT_EQ(ui.screen, static_cast<Screen>(i));
    }
    press(U'8');
    EXPECT_EQ(ui.screen, Screen::failures);
}

TEST_F(Keys, AReleasedButtonChangesNothing) {
    ui.message = "Saved.";
    ui.signal = SignalChoice{};
    press(Input(Key::none, 3, 10));
    EXPECT_EQ(ui.message, "Saved.");
    EXPECT_TRUE(ui.signal);
}

TEST_F(Keys, EnterOpensTheNewestOfEqualPostMortems) {
    view::PostMortemListView list = view::several_post_mortems();
    list.post_mortems.push_back(list.post_mortems.front());
    list.post_mortems.push_back(list.post_mortems.front());
    list.post_mortems[2].process.pid = 4801;  // newer than the next one
    list.post_mortems[3].process.pid = 4802;
    press(U'7');
    press(U'p');
    model.take({query_of(model, ui, 20), list, ""});
    EXPECT_EQ(row_count(model, ui), 3u);
    for (const char32_t direction : {U'r', U'r'}) {
        press(direction);
        press(ui.is_reverse() ? Key::home : Key::end);
        press(Key::enter);
        EXPECT_EQ(ui.open_post_mortem, 4801u) << ui.is_reverse();
        press(Key::escape);
    }
    // Another equal one ends: the cursor stays on the row.
    list.post_mortems.insert(list.post_mortems.begin() + 2, list.post_mortems[2]);
    list.post_mortems[2].process.pid = 4900;
    model.take({query_of(model, ui, 20), list, ""});
    press(Key::enter);
    EXPECT_EQ(ui.open_post_mortem, 4900u);
}

TEST_F(Keys, EnterOpensTheCardOfAFailureAndEscapeClosesIt) {
    view::WhyView why = a_why();
    why.failures.failures[1].card = view::card_of_clash();
    press(U'7');
    model.take({query_of(model, ui, 20), why, ""});
    press(Key::down);
    press(Key::enter);
    EXPECT_EQ(ui.screen, Screen::failures);
    ASSERT_TRUE(ui.open_card);
    EXPECT_EQ(ui.open_card->pid, 4711u);
    EXPECT_EQ(ui.open_card->number, 1u);
    press(Key::down);
    EXPECT_EQ(ui.scroll, 1u) << "the text of the card";
    press(Key::escape);
    EXPECT_FALSE(ui.open_card);
    EXPECT_EQ(ui.screen, Screen::failures);
}

TEST_F(Keys, EnterOpensTheKeptCardOfAProcessThatHasEnded) {
    view::WhyView why = a_why();
    why.failures.failures.resize(1);
    why.kept.newest_first.resize(2);
    for (size_t i = 0; i < 2; ++i) {
        census::FailureFigures& failure = why.kept.newest_first[i].failure;
        failure.pid = 99;  // two processes, one after the other
        failure.time_ns = 5 + i;
        failure.card = view::card_of_clash();
    }
    press(U'7');
    model.take({query_of(model, ui, 20), why, ""});
    press(Key::end);
    press(Key::enter);
    ASSERT_TRUE(ui.open_card);
    EXPECT_EQ(ui.open_card->pid, 99u);
    EXPECT_EQ(ui.open_card->kept_ns, 6u);
    press(Key::escape);
    press(Key::up);
    press(Key::enter);
    ASSERT_TRUE(ui.open_card);
    EXPECT_EQ(ui.open_card->kept_ns, 5u);
}

TEST_F(Keys, TabAndDCycleThroughTheDevices) {
    for (uint32_t id = 1; id < 8; ++id) {
        press(id % 2 == 0 ? Key::tab : key_of(U'd'));
        EXPECT_EQ(ui.device, id);
    }
    press(U'd');
    EXPECT_EQ(ui.device, 0u);
    press(U'D');
    EXPECT_EQ(ui.device, 7u);
}

TEST_F(Keys, ArrowsSelectAProcessInTheShownOrder) {
    press(Key::down);
    EXPECT_EQ(ui.process, 4711u);
    press(Key::down);
    press(Key::down);
    EXPECT_EQ(ui.process, 12345u);
    press(Key::home);
    EXPECT_EQ(ui.process, 4711u);
    press(U'r');
    press(Key::home);
    EXPECT_EQ(ui.process, 12345u);
}

TEST_F(Keys, EnterGoesFromADeviceToThePlaceOfAnAllocationAndEscapeBack) {
    press(Key::left);
    EXPECT_EQ(ui.device, 7u);
    press(Key::enter);
    EXPECT_EQ(ui.screen, Screen::overview);
    EXPECT_FALSE(ui.all_devices) << "the processes of device 7";
    press(Key::down);
    press(Key::enter);
    EXPECT_EQ(ui.screen, Screen::allocations);
    EXPECT_EQ(ui.pid, 4711u);
    EXPECT_EQ(ui.group, census::GroupBy::name);
    model.take({{}, view::groups_by_name(), ""});
    press(Key::enter);
    EXPECT_EQ(ui.group, std::nullopt);
    EXPECT_EQ(ui.filter(), "decoder.0/kv_cache");
    model.take({{}, view::several_allocations(), ""});
    const census::LiveAllocation live = view::several_allocations().allocations.front();
    press(Key::enter);
    ASSERT_EQ(ui.screen, Screen::map);
    ASSERT_TRUE(ui.target);
    EXPECT_EQ(ui.target->pid, live.pid);
    EXPECT_EQ(ui.target->address, live.address);
    const PoolMapQuery query = std::get<PoolMapQuery>(query_of(model, ui, 20));
    EXPECT_EQ(query.target, ui.target);

    press(Key::escape);
    EXPECT_EQ(ui.screen, Screen::allocations);
    EXPECT_EQ(ui.filter(), "decoder.0/kv_cache");
    press(Key::escape);
    EXPECT_EQ(ui.group, census::GroupBy::name);
    EXPECT_EQ(ui.filter(), "");
    press(Key::backspace);
    EXPECT_EQ(ui.screen, Screen::overview);
    EXPECT_EQ(ui.process, 4711u);
    press(Key::escape);
    EXPECT_TRUE(ui.all_devices);
    EXPECT_TRUE(ui.back.empty());
}

TEST_F(Keys, TheMapOfAnAllocationBeginsAtItsBlockInItsPool) {
    ui.screen = Screen::map;
    ui.target = MapTarget{4711, census::Kind::l1, "mesh 2x4", 0x100040 + 300'000};
    model.take({{}, a_map(), ""});
    const MapWindow window = map_window(model, ui, body_of({24, 80}, model));
    EXPECT_EQ(window.map->kind, census::Kind::l1) << "and not the fullest";
    EXPECT_EQ(window.cursor, 300'000u);
    press(Key::right);
    EXPECT_GT(*ui.map_cursor, 300'000u);
    press(U'n');
    EXPECT_EQ(map_window(model, ui, body_of({24, 80}, model)).map->kind, census::Kind::dram);
    ui.map_cursor = 0;
    press(Key::enter);
    EXPECT_EQ(ui.screen, Screen::allocations);
    EXPECT_EQ(ui.filter(), "decoder.0/kv_cache");
}

TEST_F(Keys, TheCursorOfAListFollowsItsEntry) {
    press(U'4');
    view::GroupView groups = view::groups_by_name();
    model.take({{}, groups, ""});
    press(Key::down);
    EXPECT_EQ(selected_row(model, ui), 1u);
    std::swap(groups.groups[1], groups.groups[2]);
    model.take({{}, groups, ""});
    EXPECT_EQ(selected_row(model, ui), 2u);
    groups.groups.resize(2);
    model.take({{}, groups, ""});
    EXPECT_EQ(selected_row(model, ui), 1u) << "its entry is gone: the row stays";
}

TEST_F(Keys, EveryListIsReversedSearchedAndOpened) {
    const std::vector<std::pair<Screen, ScreenView>> lists = {{Screen::overview, {}},
                                                              {Screen::telemetry, {}},
                                                              {Screen::allocations, view::groups_by_name()},
                                                              {Screen::events, some_events()},
                                                              {Screen::failures, a_why()}};
    for (const auto& [screen, answer] : lists) {
        ui = {};
        ui.screen = screen;
        model.take({{}, answer, ""});
        press(Key::home);
        const auto keys = row_keys(model, ui);
        ASSERT_GE(keys.size(), 2u) << static_cast<int>(screen);
        EXPECT_EQ(selected_row(model, ui), 0u) << static_cast<int>(screen);
        press(U'r');
        if (screen == Screen::allocations) {
            EXPECT_TRUE(std::get<view::GroupQuery>(query_of(model, ui, 20)).reverse);
        } else {
            const auto reversed = row_keys(model, ui);
            EXPECT_TRUE(std::equal(keys.begin(), keys.end(), reversed.rbegin(), reversed.rend()))
                << static_cast<int>(screen);
        }
        press(U'/');
        type("zzz");
        press(Key::enter);
        if (screen != Screen::allocations) {
            EXPECT_EQ(row_count(model, ui), 0u) << static_cast<int>(screen);
        }
        press(Key::escape);
        EXPECT_EQ(row_count(model, ui), screen == Screen::allocations ? 43 : keys.size());
        press(Key::down);
        press(Key::enter);
        EXPECT_FALSE(ui.back.empty()) << static_cast<int>(screen);
    }
}

TEST_F(Keys, EventsFollowTheNewestUntilOneIsSelected) {
    press(U'6');
    model.take({{}, some_events(), ""});
    EXPECT_EQ(selected_row(model, ui), std::nullopt);
    press(Key::up);
    EXPECT_EQ(selected_row(model, ui), 6u);
    press(Key::down);
    EXPECT_EQ(selected_row(model, ui), std::nullopt);
}

TEST_F(Keys, AClickSelectsAndASecondOneOpens) {
    const auto row_with = [&](const std::string& text) {
        const Canvas canvas = draw(model, ui, {24, 80}, Glyphs::utf8);
        for (int row = 3; row < canvas.rows(); ++row) {
            if (canvas.line(row).find(text) != std::string::npos) {
                return row;
            }
        }
        return -1;
    };
    press(Input(Key::click, row_with("12345"), 20));
    EXPECT_EQ(ui.process, 12345u);
    press(Input(Key::click, row_with("12345"), 20));
    EXPECT_EQ(ui.screen, Screen::allocations);
    EXPECT_EQ(ui.pid, 12345u);
    press(Input(Key::click, 1, 1));
    EXPECT_EQ(ui.screen, Screen::overview) << "the title of the screen";
    press(Key::escape);
    press(Input(Key::click, 3 + 1 + 5, 10));
    EXPECT_EQ(ui.device, 5u);
    EXPECT_TRUE(ui.all_devices);
    press(Input(Key::click, 3 + 1 + 5, 10));
    EXPECT_FALSE(ui.all_devices);
    press(Key::wheel_down);
    EXPECT_EQ(ui.process, 4711u) << "the last of the list";
    press(Input(Key::click, 23, 79));
    press(Input(Key::click, -1, -1));
}

TEST_F(Keys, ATreeOfScopesHasSumsAndOpens) {
    press(U'4');
    press(U't');
    EXPECT_EQ(std::get<view::GroupQuery>(query_of(model, ui, 20)).limit, 1000u) << "sums need all names";
    view::GroupView groups = view::groups_by_name();
    groups.groups = {view::group("model/a/x", 100, 1), view::group("model/b", 300, 2),
                     view::group("model/a/y", 50, 1), view::group("other", 10, 1)};
    groups.total = 4;
    model.take({{}, groups, ""});
    const auto picture = [&] {
        std::vector<std::pair<std::string, uint64_t>> rows;
        for (const ScopeRow& row : listed_scopes(model, ui)) {
            rows.emplace_back(row.path, row.sums.memory[census::index_of(census::Kind::dram)].used);
        }
        return rows;
    };
    EXPECT_THAT(picture(),
                testing::ElementsAre(testing::Pair("model", 450), testing::Pair("model/b", 300),
                                     testing::Pair("model/a", 150), testing::Pair("model/a/x", 100),
                                     testing::Pair("model/a/y", 50), testing::Pair("other", 10)));
    press(Key::down);
    press(Key::down);
    press(U' ');
    EXPECT_EQ(listed_scopes(model, ui).size(), 4u) << "model/a is closed";
    press(U' ');
    press(Key::enter);
    EXPECT_EQ(ui.filter(), "model/a");
    EXPECT_EQ(ui.group, census::GroupBy::name);
    press(Key::escape);
    EXPECT_TRUE(ui.tree);
    EXPECT_EQ(selected_row(model, ui), 2u);
}

TEST_F(Keys, WShowsWhatGrewInTheLastMinute) {
    press(U'4');
    press(U'w');
    ASSERT_TRUE(std::holds_alternative<view::GrowthQuery>(query_of(model, ui, 20)));
    EXPECT_EQ(std::get<view::GrowthQuery>(query_of(model, ui, 20)).device, std::nullopt);
    press(U'a');
    EXPECT_EQ(std::get<view::GrowthQuery>(query_of(model, ui, 20)).device, "0");
    view::GrowthView growth;
    growth.names = {{"decoder.3", census::Kind::dram, 0, 42}, {"rest", census::Kind::l1, 20, 10}};
    growth.total = 2;
    model.take({{}, growth, ""});
    press(Key::enter);
    EXPECT_EQ(ui.filter(), "decoder.3");
    EXPECT_EQ(ui.kind, census::Kind::dram);
    press(Key::escape);
    EXPECT_EQ(ui.growth, ShownGrowth::last_minute);
}

TEST_F(Keys, WAgainShowsWhatGrowsFromMarkToMark) {
    press(U'4');
    press(U'w');
    press(U'w');
    ASSERT_TRUE(std::holds_alternative<view::LeakQuery>(query_of(model, ui, 20)));
    view::LeakView leaks;
    leaks.leaks = {{.pid = 4711, .name = "rest"}, {.pid = 4712, .name = "cache", .kind = census::Kind::l1}};
    leaks.total = 2;
    model.take({{}, leaks, ""});
    press(Key::down);
    press(Key::enter);
    EXPECT_EQ(ui.filter(), "cache");
    EXPECT_EQ(ui.kind, census::Kind::l1);
    EXPECT_EQ(ui.pid, 4712u);
    press(Key::escape);
    EXPECT_EQ(ui.growth, ShownGrowth::at_marks);
    EXPECT_EQ(ui.pid, std::nullopt);
    press(U'w');
    EXPECT_TRUE(std::holds_alternative<view::GroupQuery>(query_of(model, ui, 20)));
}

TEST_F(Keys, CChangesTheScaleOfCharts) {
    EXPECT_EQ(ui.scale, ChartScale::capacity);
    press(U'c');
    EXPECT_EQ(ui.scale, ChartScale::values);
}

TEST_F(Keys, EnterAppliesAFilterAndEscapeCancelsIt) {
    press(U'4');
    press(U'/');
    type("kvq");
    press(Key::backspace);
    EXPECT_EQ(*ui.prompt, "kv");
    EXPECT_EQ(ui.filter(), "");
    press(Key::enter);
    EXPECT_EQ(ui.filter(), "kv");
    press(U'/');
    type("_cache");
    press(Key::escape);
    EXPECT_EQ(ui.filter(), "kv") << "as it was";
    EXPECT_EQ(ui.screen, Screen::allocations) << "letters of a filter are no commands";
    press(U'/');
    press(U'漢');
    EXPECT_EQ(*ui.prompt, "kv漢");
    press(Key::backspace);
    EXPECT_EQ(*ui.prompt, "kv");
}

TEST_F(Keys, ASignalNeedsAProcessAndAConfirmation) {
    press(Key::f9);
    EXPECT_FALSE(ui.signal);
    EXPECT_THAT(ui.message, HasSubstr("Select a process"));
    model = watched(
        [] {
            view::View view = view::t3000();
            view.figures.processes[0].uid = geteuid();
            return view;
        }(),
        1);
    press(Key::down);
    press(Key::f9);
    ASSERT_TRUE(ui.signal);
    EXPECT_EQ(ui.signal->pid, 4711u);
    press(Key::down);
    EXPECT_STREQ(kSignals[ui.signal->signal].name, "SIGINT");
    EXPECT_EQ(press(U'n'), AppRequest::none);
    EXPECT_FALSE(ui.signal);
    press(Key::f9);
    EXPECT_EQ(press(U'y'), AppRequest::send_signal);
}

TEST_F(Keys, AnotherUsersProcessIsNotSignalled) {
    if (geteuid() == 0) {
        ASSERT_EQ(seteuid(12345), 0);
    }
    press(Key::down);
    press(Key::f9);
    EXPECT_FALSE(ui.signal);
    EXPECT_THAT(ui.message, HasSubstr("only its owner and root"));
    if (getuid() == 0) {
        ASSERT_EQ(seteuid(0), 0);
    }
}

TEST_F(Keys, TheIntervalStaysWithinItsBounds) {
    for (int i = 0; i < 20; ++i) {
        EXPECT_EQ(press(U'+'), AppRequest::change_interval);
    }
    EXPECT_EQ(ui.interval_ms, kIntervals.back());
    for (int i = 0; i < 20; ++i) {
        press(U'-');
    }
    EXPECT_EQ(ui.interval_ms, kIntervals.front());
}

TEST_F(Keys, TheCursorOfAMapStaysInTheBank) {
    press(U'5');
    model.take({{}, a_map(), ""});
    press(Key::right);
    EXPECT_GT(*ui.map_cursor, 0u);
    for (const Key key :
         {Key::down, Key::page_down, Key::page_down, Key::page_down, Key::page_down, Key::right}) {
        press(key);
        EXPECT_LT(*ui.map_cursor, 1'000'000u);
    }
    for (int i = 0; i < 100; ++i) {
        press(U'z');
    }
    press(Key::right);
    press(Key::home);
    press(Key::left);
    EXPECT_EQ(ui.map_cursor, 0u);
    for (int i = 0; i < 100; ++i) {
        press(U'Z');
    }
    EXPECT_EQ(ui.map_zoom, 0u);
}

TEST_F(Keys, GroupsAndSortOrdersCycle) {
    press(U'4');
    for (int i = 0; i < 9; ++i) {
        press(U'g');
    }
    EXPECT_EQ(ui.group, census::GroupBy::name);
    press(Key::f6);
    EXPECT_EQ(ui.sort, census::Sort::requested);
    EXPECT_EQ(std::get<view::GroupQuery>(query_of(model, ui, 20)).sort, census::Sort::requested);
    press(Key::f6);
    press(Key::f6);
    EXPECT_EQ(ui.sort, census::Sort::name) << "groups have no address";
    press(U'G');
    EXPECT_EQ(ui.group, std::nullopt);
    EXPECT_EQ(press(U'm'), AppRequest::set_mark);
    ui.mark_ns = 5;
    press(U'M');
    EXPECT_EQ(ui.mark_ns, std::nullopt);
}

TEST_F(Keys, APauseRemembersTheLastShownEvent) {
    press(U'6');
    model.take({{}, some_events(), ""});
    press(U' ');
    EXPECT_TRUE(ui.paused);
    EXPECT_EQ(ui.paused_at, 7u);
    press(U' ');
    EXPECT_FALSE(ui.paused);
}

TEST_F(Keys, OnlyQAndF10Quit) {
    EXPECT_EQ(press(U'q'), AppRequest::quit);
    EXPECT_EQ(press(Key::f10), AppRequest::quit);
    Model nothing;
    for (char32_t character = 0; character < 256; ++character) {
        if (character != U'q') {
            Ui fresh;
            EXPECT_NE(tui::press(key_of(character), nothing, fresh, {24, 80}), AppRequest::quit)
                << static_cast<uint32_t>(character);
        }
    }
    for (auto key = static_cast<char32_t>(Key::up); key <= static_cast<char32_t>(Key::back_tab); ++key) {
        for (size_t screen = 0; screen < kScreens; ++screen) {
            Ui fresh;
            fresh.screen = static_cast<Screen>(screen);
            tui::press(key_of(key), nothing, fresh, {1, 1});
        }
    }
}

TEST_F(Keys, AKeyOfAnotherScreenNamesThatScreen) {
    press(U'n');
    EXPECT_EQ(ui.message, "n works on 5 Map.");
    press(U'g');
    EXPECT_EQ(ui.message, "g works on 4 Allocations.");
    press(U'!');
    EXPECT_EQ(ui.message, "");
}

struct RecordingKeys : Keys {
    RecordingKeys() { model = played(); }

    uint64_t first() const { return model.timeline()->first_ns; }
    // Where a key goes, in seconds; shows it.
    double jump(char32_t character) {
        ui.jump.reset();
        press(character);
        if (!ui.jump || ui.jump->target != PlaybackJump::JumpTarget::moment) {
            return -1;
        }
        view::View view = *model.status();
        view.origin.time_ns = ui.jump->time_ns + model.timeline()->epoch_offset_ns;
        model.take_status(view, {}, Link::recording);
        return static_cast<double>(ui.jump->time_ns - first()) / 1e9;
    }
};

TEST_F(RecordingKeys, PPausesAndPlaysOnEveryScreen) {
    for (int screen = 0; screen < static_cast<int>(kScreens); ++screen) {
        press(U'0' + static_cast<char32_t>(screen));
        for (const bool is_playing : {true, false}) {
            EXPECT_EQ(press(U'p'), AppRequest::play);
            EXPECT_EQ(ui.is_playing, is_playing);
        }
    }
}

TEST_F(RecordingKeys, AtTheEndItIsPlayedAgain) {
    EXPECT_EQ(jump(U'}'), 40);
    EXPECT_EQ(jump(U'p'), 0);
    EXPECT_TRUE(ui.is_playing);
}

TEST_F(RecordingKeys, StepsPause) {
    ui.is_playing = true;
    EXPECT_EQ(press(U'.'), AppRequest::play);
    EXPECT_FALSE(ui.is_playing);
    EXPECT_EQ(ui.jump->target, PlaybackJump::JumpTarget::event_after);
    press(U',');
    EXPECT_EQ(ui.jump->target, PlaybackJump::JumpTarget::event_before);
}

TEST_F(RecordingKeys, SpeedsHaveEnds) {
    for (size_t i = 0; i < 20; ++i) {
        press(U'[');
    }
    EXPECT_EQ(ui.speed, 0u);
    for (size_t i = 0; i < 20; ++i) {
        press(U']');
    }
    EXPECT_EQ(ui.speed, kSpeeds.size() - 1);
}

TEST_F(RecordingKeys, FailuresAndMarksHaveANextAndAPreviousOne) {
    ui.is_playing = true;
    EXPECT_EQ(jump(U'f'), 33);
    EXPECT_EQ(ui.message, "Failure 2 of 2: l1, process 4711.");
    EXPECT_FALSE(ui.is_playing);
    EXPECT_EQ(jump(U'f'), -1);
    EXPECT_THAT(ui.message, HasSubstr("There is no failure after this one"));
    EXPECT_EQ(jump(U'F'), 20);
    EXPECT_EQ(jump(U'B'), 5);
    EXPECT_EQ(ui.message, "Mark 1 of 2: warm, process 4711.");
    EXPECT_EQ(jump(U'b'), 25);
}

TEST_F(RecordingKeys, PeaksComeOneAfterAnother) {
    EXPECT_EQ(jump(U'P'), 20);
    EXPECT_THAT(ui.message, HasSubstr("Peak of dram 37.3 GiB, cb 1.0 MiB."));
    EXPECT_EQ(jump(U'P'), 22);
    EXPECT_THAT(ui.message, HasSubstr("Peak of l1 15.0 MiB"));
    EXPECT_EQ(jump(U'P'), 20);
}

TEST_F(RecordingKeys, MomentsThatAreNotKnownYetAreNotDenied) {
    access::Timeline timeline = *model.timeline();
    timeline.has_moments = false;
    timeline.points.clear();
    timeline.peaks = {};
    model.take(timeline);
    press(U'P');
    EXPECT_EQ(ui.message, "Nothing is in use yet: the recording is being read.");
    press(U'f');
    EXPECT_EQ(ui.message, "There is no failure yet: the recording is being read.");
}

TEST_F(RecordingKeys, AClickOnTheTimelineGoesThere) {
    ui.jump.reset();
    press(Input(Key::click, 21, 79));
    ASSERT_TRUE(ui.jump);
    EXPECT_GT(ui.jump->time_ns, first() + 39 * kSecond);
    EXPECT_LT(ui.jump->time_ns, first() + 40 * kSecond);
}

TEST_F(RecordingKeys, NoSignalIsSentToAProcessOfARecording) {
    press(Key::down);
    press(Key::f9);
    EXPECT_FALSE(ui.signal);
    EXPECT_EQ(ui.message, "F9 works on the host, not in a recording.");
}

TEST_F(Keys, OfARecordingWorkInARecordingOnly) {
    press(U'P');
    EXPECT_EQ(ui.message, "P works in a recording.");
}

}  // namespace
}  // namespace ttmem::tui
