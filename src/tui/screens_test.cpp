// SPDX-License-Identifier: Apache-2.0

// Every screen as people have looked at it and found it good, at three sizes, with what each letter means. TTMEM_UPDATE_GOLDEN=1
// replaces those.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>
#include <fstream>
#include <sstream>

#include "tui/models_test_support.hpp"
#include "tui/screens.hpp"

namespace ttmem::tui {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::array<Size, 3> kSizes = {{{24, 80}, {40, 120}, {60, 200}}};

std::string text_of(const Canvas& canvas) {
    std::string text;
    for (int row = 0; row < canvas.rows(); ++row) {
        text += canvas.line(row) + "\n";
    }
    return text;
}

std::string picture_of(const Canvas& canvas) {
    std::string text = text_of(canvas) + "--- looks\n";
    for (int row = 0; row < canvas.rows(); ++row) {
        text += canvas.looks(row) + "\n";
    }
    return text;
}

void expect_golden(const std::string& name, const Canvas& canvas) {
    const std::string path = std::string(TTMEM_SOURCE_DIR) + "/src/tui/golden/" + name + ".txt";
    const std::string text = picture_of(canvas);
    if (std::getenv("TTMEM_UPDATE_GOLDEN") != nullptr) {
        std::ofstream(path) << text;
    }
    std::ifstream file(path);
    std::ostringstream golden;
    golden << file.rdbuf();
    EXPECT_EQ(text, golden.str()) << "the screen is not that of " << path;
}

void expect_screens(const std::string& name, const Model& model, const Ui& ui) {
    for (const Size& size : kSizes) {
        expect_golden(name + "." + std::to_string(size.columns) + "x" + std::to_string(size.rows),
                      draw(model, ui, size, Glyphs::utf8));
    }
}

struct Screens : testing::Test {
    Screens() {
        setenv("TZ", "UTC", 1);
        tzset();
        ui.interval_ms = 1000;
    }

    Ui at(Screen screen) {
        ui.screen = screen;
        return ui;
    }

    Model model = watched(t3000_with_driver());
    Ui ui;
};

TEST_F(Screens, OverviewLooksAsItDid) { expect_screens("overview", model, ui); }

TEST_F(Screens, OverviewOfAGalaxyFitsOnOneScreen) {
    const Model galaxy_model = watched(galaxy(), 2);
    expect_screens("galaxy", galaxy_model, ui);
    for (const Size& size : kSizes) {
        const std::string text = text_of(draw(galaxy_model, ui, size, Glyphs::utf8));
        EXPECT_THAT(text, testing::ContainsRegex("31 +(\\[|galaxy)")) << size.columns;
        EXPECT_THAT(text, HasSubstr("worker-")) << "processes have room too";
    }
}

TEST_F(Screens, BreakdownLooksAsItDid) {
    model.take({"", some_cores(), ""});
    expect_screens("breakdown", model, at(Screen::breakdown));
}

TEST_F(Screens, BreakdownHasTheRowsOfTheSeeds) {
    const std::string text = text_of(draw(model, at(Screen::breakdown), {24, 80}, Glyphs::utf8));
    for (const char* row : {"L1 Buffers:", "CBs:", "Kernels:", "Total L1:"}) {
        EXPECT_THAT(text, HasSubstr(row));
    }
    // The worst core's, and not the sum of all.
    EXPECT_THAT(text, testing::ContainsRegex("Total L1:.*730.6 KiB / +1.3 MiB +53%  headroom 630.2 KiB"));
}

TEST_F(Screens, ChartsLookAsTheyDid) {
    expect_screens("charts_all", model, at(Screen::charts));
    ui.all_devices = false;
    ui.zoom = 1;
    expect_screens("charts", model, at(Screen::charts));
}

TEST_F(Screens, TelemetryLooksAsItDid) { expect_screens("telemetry", model, at(Screen::telemetry)); }

TEST_F(Screens, AllocationsLookAsTheyDid) {
    model.take({"", view::groups_by_name(), ""});
    expect_screens("allocations_groups", model, at(Screen::allocations));
    model.take({"", view::several_allocations(), ""});
    ui.group.reset();
    ui.filter = "decoder";
    ui.mark_ns = 1;
    ui.mark_time_ns = kNow - 12 * kSecond;
    expect_screens("allocations_list", model, at(Screen::allocations));
}

TEST_F(Screens, MapLooksAsItDid) {
    model.take({"", a_map(), ""});
    ui.map_cursor = 350'000;
    expect_screens("map", model, at(Screen::map));
    ui.map_zoom = 3;
    expect_screens("map_zoomed", model, at(Screen::map));
}

TEST_F(Screens, EventsLookAsTheyDid) {
    model.take({"", some_events(), ""});
    expect_screens("events", model, at(Screen::events));
}

TEST_F(Screens, FailuresLookAsTheyDid) {
    model.take({"", a_why(), ""});
    expect_screens("failures", model, at(Screen::failures));
    model.take({"", view::several_post_mortems(), ""});
    ui.post_mortems = true;
    expect_screens("post_mortems", model, at(Screen::failures));
}

TEST_F(Screens, HelpLooksAsItDid) {
    ui.help = true;
    expect_screens("help", model, ui);
}

TEST_F(Screens, SignalIsAskedForInTheMiddle) {
    ui.signal = SignalChoice{4711, 0, "python3", 0};
    expect_screens("signal", model, ui);
}

TEST_F(Screens, AStaleOneSaysSoAndShowsTheLastPicture) {
    model.lose("the daemon at /run/ttmem/api.sock has ended its stream", kNow);
    model.tick(kNow + 12 * kSecond);
    expect_screens("stale", model, ui);
    const std::string text = text_of(draw(model, ui, {24, 80}, Glyphs::utf8));
    EXPECT_THAT(text, HasSubstr("STALE 12s"));
    EXPECT_THAT(text, HasSubstr("The daemon is gone since 12s"));
    EXPECT_THAT(text, HasSubstr("n300"));
}

TEST_F(Screens, DoubtIsSeenOnEveryScreen) {
    view::View view = view::inexact();
    view.figures.processes[0].followed = 10;
    view.figures.processes[0].lost = 3;
    Model doubtful = watched(view, 1);
    view.figures.inexact = {{4711, "settling: events were recorded meanwhile", 1, false}};
    const Model settling = watched(view, 1);
    for (size_t i = 0; i < kScreens; ++i) {
        const Ui here = at(static_cast<Screen>(i));
        EXPECT_THAT(text_of(draw(doubtful, here, {24, 80}, Glyphs::utf8)), HasSubstr("  inexact  ")) << i;
        EXPECT_THAT(text_of(draw(doubtful, here, {24, 80}, Glyphs::utf8)), HasSubstr("inexact: process 4711"))
            << i;
        EXPECT_THAT(text_of(draw(settling, here, {24, 80}, Glyphs::utf8)), HasSubstr("  settling  ")) << i;
    }
    view.figures.inexact.clear();
    EXPECT_THAT(text_of(draw(watched(view, 1), ui, {24, 80}, Glyphs::utf8)), HasSubstr("gap: 3 events"));
}

TEST_F(Screens, WithoutUtf8EverythingIsAscii) {
    for (size_t i = 0; i < kScreens; ++i) {
        Model named = watched(view::long_names(), 3);
        named.take({"", a_map(), ""});
        const std::string text = text_of(draw(named, at(static_cast<Screen>(i)), {24, 80}, Glyphs::ascii));
        EXPECT_TRUE(std::all_of(text.begin(), text.end(), [](char c) {
            return c == '\n' || (c >= ' ' && c <= '~');
        })) << text;
    }
    expect_golden("ascii_overview.80x24", draw(model, at(Screen::overview), {24, 80}, Glyphs::ascii));
    expect_golden("ascii_charts.80x24", draw(model, at(Screen::charts), {24, 80}, Glyphs::ascii));
    model.take({"", a_map(), ""});
    expect_golden("ascii_map.80x24", draw(model, at(Screen::map), {24, 80}, Glyphs::ascii));
}

TEST_F(Screens, EverySizeAndEveryHostCanBeDrawn) {
    const std::vector<view::View> hosts = {
        view::empty_host(), view::one_device(),  view::unknown_capacity(),  view::full(),
        view::long_names(), view::with_driver(), view::nothing_allocated(), galaxy()};
    for (const view::View& host : hosts) {
        Model some = watched(host, 2);
        for (size_t i = 0; i < kScreens; ++i) {
            some.take(i % 2 == 0 ? Answer{"", some_cores(), ""} : Answer{"", a_map(), ""});
            for (const Size size : {Size{1, 1}, Size{1, 300}, Size{100, 1}, Size{2, 2}, Size{5, 20},
                                    Size{100, 300}, Size{0, 0}}) {
                const Canvas canvas = draw(some, at(static_cast<Screen>(i)), size, Glyphs::utf8);
                EXPECT_EQ(canvas.columns(), std::max(size.columns, 1));
            }
        }
    }
}

TEST_F(Screens, BeforeAnythingIsKnownTheySayWhatIsGoingOn) {
    const std::string text = text_of(draw(Model(), ui, {24, 80}, Glyphs::utf8));
    EXPECT_THAT(text, HasSubstr("Looking for devices"));
    expect_golden("nobody.80x24", draw(watched(view::empty_host(), 1), ui, {24, 80}, Glyphs::utf8));
}

}  // namespace
}  // namespace ttmem::tui
