// SPDX-License-Identifier: Apache-2.0
#include "tui/keys.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "tui/models_test_support.hpp"

namespace ttmem::tui {
namespace {

using testing::HasSubstr;

struct Keys : testing::Test {
    AppRequest press(Key key) { return tui::press(key, model, ui, {24, 80}); }
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

TEST_F(Keys, EnterShowsTheAllocationsOfTheSelectedProcess) {
    press(Key::down);
    press(Key::enter);
    EXPECT_EQ(ui.screen, Screen::allocations);
    EXPECT_EQ(ui.pid, 4711u);
    press(Key::escape);
    EXPECT_EQ(ui.pid, std::nullopt);
}

TEST_F(Keys, EnterAppliesAFilterAndEscapeCancelsIt) {
    press(U'4');
    press(U'/');
    type("kvq");
    press(Key::backspace);
    EXPECT_EQ(*ui.prompt, "kv");
    EXPECT_EQ(ui.filter, "");
    press(Key::enter);
    EXPECT_EQ(ui.filter, "kv");
    press(U'/');
    type("_cache");
    press(Key::escape);
    EXPECT_EQ(ui.filter, "kv") << "as it was";
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
    EXPECT_GT(ui.map_cursor, 0u);
    for (const Key key :
         {Key::down, Key::page_down, Key::page_down, Key::page_down, Key::page_down, Key::right}) {
        press(key);
        EXPECT_LT(ui.map_cursor, 1'000'000u);
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
    press(U'G');
    EXPECT_EQ(ui.group, std::nullopt);
    press(Key::f6);
    EXPECT_EQ(ui.sort, census::Sort::requested);
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
    press(U'/');
    EXPECT_EQ(ui.message, "/ works on 4 Allocations, 6 Events.");
    press(U'!');
    EXPECT_EQ(ui.message, "");
}

}  // namespace
}  // namespace ttmem::tui
