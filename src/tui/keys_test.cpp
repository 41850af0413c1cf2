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
    Wish press(int key) { return tui::press(key, model, ui, {24, 80}); }
    void type(const std::string& text) {
        for (const char c : text) {
            press(c);
        }
    }

    Model model = watched(view::t3000(), 1);
    Ui ui;
};

TEST_F(Keys, NumbersOpenTheScreens) {
    for (int i = 0; i < static_cast<int>(kScreens); ++i) {
        press('0' + i);
        EXPECT_EQ(ui.screen, static_cast<Screen>(i));
    }
    press('8');
    EXPECT_EQ(ui.screen, Screen::failures);
}

TEST_F(Keys, TabAndDGoThroughTheDevicesAndBeginAnew) {
    for (uint32_t id = 1; id < 8; ++id) {
        press(id % 2 == 0 ? static_cast<int>(kKeyTab) : 'd');
        EXPECT_EQ(ui.device, id);
    }
    press('d');
    EXPECT_EQ(ui.device, 0u);
    press('D');
    EXPECT_EQ(ui.device, 7u);
}

TEST_F(Keys, ArrowsChooseAProcessInTheOrderThatIsShown) {
    press(kKeyDown);
    EXPECT_EQ(ui.process, 4711u);
    press(kKeyDown);
    press(kKeyDown);
    EXPECT_EQ(ui.process, 12345u);
    press(kKeyHome);
    EXPECT_EQ(ui.process, 4711u);
    press('r');
    press(kKeyHome);
    EXPECT_EQ(ui.process, 12345u);
}

TEST_F(Keys, EnterShowsTheAllocationsOfTheChosenProcess) {
    press(kKeyDown);
    press(kKeyEnter);
    EXPECT_EQ(ui.screen, Screen::allocations);
    EXPECT_EQ(ui.pid, 4711u);
    press(kKeyEscape);
    EXPECT_EQ(ui.pid, std::nullopt);
}

TEST_F(Keys, AFilterIsTypedAndTakenOrLeft) {
    press('4');
    press('/');
    type("kvq");
    press(kKeyBackspace);
    EXPECT_EQ(*ui.prompt, "kv");
    EXPECT_EQ(ui.filter, "");
    press(kKeyEnter);
    EXPECT_EQ(ui.filter, "kv");
    press('/');
    type("_cache");
    press(kKeyEscape);
    EXPECT_EQ(ui.filter, "kv") << "as it was";
    EXPECT_EQ(ui.screen, Screen::allocations) << "letters of a filter are no commands";
    press('/');
    press(0x6f22);
    EXPECT_EQ(*ui.prompt, "kv漢");
    press(kKeyBackspace);
    EXPECT_EQ(*ui.prompt, "kv");
}

TEST_F(Keys, ASignalNeedsAProcessAndAConfirmation) {
    press(kKeyF9);
    EXPECT_FALSE(ui.signal);
    EXPECT_THAT(ui.message, HasSubstr("Choose a process"));
    model = watched(
        [] {
            view::View view = view::t3000();
            view.figures.processes[0].uid = geteuid();
            return view;
        }(),
        1);
    press(kKeyDown);
    press(kKeyF9);
    ASSERT_TRUE(ui.signal);
    EXPECT_EQ(ui.signal->pid, 4711u);
    press(kKeyDown);
    EXPECT_STREQ(kSignals[ui.signal->signal].name, "SIGINT");
    EXPECT_EQ(press('n'), Wish::none);
    EXPECT_FALSE(ui.signal);
    press(kKeyF9);
    EXPECT_EQ(press('y'), Wish::send_signal);
}

TEST_F(Keys, OthersProcessesAreNotSignalled) {
    if (geteuid() == 0) {
        ASSERT_EQ(seteuid(12345), 0);
    }
    press(kKeyDown);
    press(kKeyF9);
    EXPECT_FALSE(ui.signal);
    EXPECT_THAT(ui.message, HasSubstr("only its owner and root"));
    if (getuid() == 0) {
        ASSERT_EQ(seteuid(0), 0);
    }
}

TEST_F(Keys, TheIntervalGrowsAndShrinksWithinItsBounds) {
    for (int i = 0; i < 20; ++i) {
        EXPECT_EQ(press('+'), Wish::new_interval);
    }
    EXPECT_EQ(ui.interval_ms, kIntervals.back());
    for (int i = 0; i < 20; ++i) {
        press('-');
    }
    EXPECT_EQ(ui.interval_ms, kIntervals.front());
}

TEST_F(Keys, TheCursorOfAMapStaysInTheBank) {
    press('5');
    model.take({"", a_map(), ""});
    press(kKeyRight);
    EXPECT_GT(ui.map_cursor, 0u);
    for (const int key : {kKeyDown, kKeyPageDown, kKeyPageDown, kKeyPageDown, kKeyPageDown, kKeyRight}) {
        press(key);
        EXPECT_LT(ui.map_cursor, 1'000'000u);
    }
    for (int i = 0; i < 100; ++i) {
        press('z');
    }
    press(kKeyRight);
    press(kKeyHome);
    press(kKeyLeft);
    EXPECT_EQ(ui.map_cursor, 0u);
    for (int i = 0; i < 100; ++i) {
        press('Z');
    }
    EXPECT_EQ(ui.map_zoom, 0u);
}

TEST_F(Keys, GroupsAndOrdersGoRound) {
    press('4');
    for (int i = 0; i < 9; ++i) {
        press('g');
    }
    EXPECT_EQ(ui.group, census::GroupBy::name);
    press('G');
    EXPECT_EQ(ui.group, std::nullopt);
    press(kKeyF6);
    EXPECT_EQ(ui.sort, census::Sort::requested);
    EXPECT_EQ(press('m'), Wish::set_mark);
    ui.mark_ns = 5;
    press('M');
    EXPECT_EQ(ui.mark_ns, std::nullopt);
}

TEST_F(Keys, APauseKeepsWhatWasThere) {
    press('6');
    model.take({"", some_events(), ""});
    press(' ');
    EXPECT_TRUE(ui.paused);
    EXPECT_EQ(ui.paused_at, 7u);
    press(' ');
    EXPECT_FALSE(ui.paused);
}

TEST_F(Keys, ThereIsAlwaysAWayOut) {
    EXPECT_EQ(press('q'), Wish::quit);
    EXPECT_EQ(press(kKeyF10), Wish::quit);
    Model nothing;
    for (int key = 0; key < 256; ++key) {
        if (key != 'q') {
            Ui fresh;
            EXPECT_NE(tui::press(key, nothing, fresh, {24, 80}), Wish::quit) << key;
        }
    }
    for (int key = kKeyUp; key <= kKeyBackTab; ++key) {
        Ui fresh;
        tui::press(key, nothing, fresh, {1, 1});
    }
}

}  // namespace
}  // namespace ttmem::tui
