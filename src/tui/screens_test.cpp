// SPDX-License-Identifier: Apache-2.0

// Each screen is compared with its golden file, which has a section per size of the terminal, with the characters and their
// styles. TTMEM_UPDATE_GOLDEN=1 rewrites the files.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>

#include "tui/lists.hpp"
#include "tui/models_test_support.hpp"
#include "tui/screens.hpp"
#include "view/testing/golden_test_support.hpp"

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
    std::string text = text_of(canvas) + "--- styles\n";
    for (int row = 0; row < canvas.rows(); ++row) {
        text += canvas.styles(row) + "\n";
    }
    return text;
}

void expect_golden(const std::string& name, const Model& model, const Ui& ui) {
    view::GoldenFile golden("src/tui/golden/" + name + ".txt");
    for (const Size& size : kSizes) {
        golden.add(std::to_string(size.columns) + "x" + std::to_string(size.rows),
                   picture_of(draw(model, ui, size, Glyphs::utf8)));
    }
    golden.add("80x24 ascii", picture_of(draw(model, ui, {24, 80}, Glyphs::ascii)));
}

// The rows in which every character is selected.
std::vector<std::string> selected_rows(const Canvas& canvas) {
    std::vector<std::string> rows;
    for (int row = 0; row < canvas.rows(); ++row) {
        if (canvas.styles(row) == std::string(static_cast<size_t>(canvas.columns()), 's')) {
            rows.push_back(canvas.line(row));
        }
    }
    return rows;
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

TEST_F(Screens, OverviewShowsEveryDeviceAndProcess) { expect_golden("overview", model, ui); }

TEST_F(Screens, BelowARecordingIsItsTimeline) {
    const Model recording = played();
    expect_golden("recording", recording, ui);
    expect_golden("recording_charts", recording, at(Screen::charts));
    ui.is_playing = true;
    ui.speed = 0;
    for (const Size& size : kSizes) {
        const Canvas canvas = draw(recording, ui, size, Glyphs::utf8);
        EXPECT_THAT(canvas.line(size.rows - 3), HasSubstr("▇█▇")) << "used DRAM";
        EXPECT_THAT(canvas.line(size.rows - 3), testing::EndsWith("··")) << "not read yet";
        EXPECT_THAT(canvas.line(size.rows - 2), HasSubstr("playing 1/10000x +30.000s of 40.000s"));
        EXPECT_THAT(canvas.line(size.rows - 2), testing::ContainsRegex("▲.*◆.*≈.*!.*◆.*┃.*!.*✗"));
    }
}

TEST_F(Screens, ARecordingCanBeDrawnAtEverySize) {
    const Model recording = played();
    for (int rows = 1; rows < 30; ++rows) {
        for (const int columns : {1, 7, 30, 50, 79, 300}) {
            for (size_t screen = 0; screen < kScreens; ++screen) {
                draw(recording, at(static_cast<Screen>(screen)), {rows, columns}, Glyphs::utf8);
            }
        }
    }
}

TEST_F(Screens, OverviewOfAGalaxyFitsOnOneScreen) {
    const Model galaxy_model = watched(galaxy(), 2);
    expect_golden("galaxy", galaxy_model, ui);
    for (const Size& size : kSizes) {
        const std::string text = text_of(draw(galaxy_model, ui, size, Glyphs::utf8));
        EXPECT_THAT(text, testing::ContainsRegex("31 +\\[")) << size.columns;
        EXPECT_THAT(text, HasSubstr("8x4 devices")) << "the mesh of the Galaxy";
        EXPECT_THAT(text, HasSubstr("worker-")) << "processes have room too";
        EXPECT_THAT(text, HasSubstr("Device 0 DRAM")) << "and charts";
    }
}

TEST_F(Screens, DevicesHaveTheShapeAndOrderOfTheMeshThatAProcessDescribes) {
    view::View view = t3000_with_driver();
    view.figures.meshes = {{2, 4, {0, 4, 1, 5, 2, 6, 3, 7}}};
    const Size low = {16, 120};  // too low for one row per device
    const Canvas drawn = draw(watched(view, 2), ui, low, Glyphs::utf8);
    const std::string text = text_of(drawn);
    EXPECT_THAT(text, HasSubstr("2x4 mesh: DRAM"));
    EXPECT_THAT(
        text, testing::ContainsRegex("\n *0 \\[.* 4 \\[.* 1 \\[.* 5 \\[.*\n *2 \\[.* 6 \\[.* 3 \\[.* 7 \\["));
    view.figures.meshes = {{1, 4, {0, 1, 2, 3}}};
    EXPECT_THAT(text_of(draw(watched(view, 2), ui, low, Glyphs::utf8)), HasSubstr("2x6 devices by number"))
        << "a mesh of some devices is not the host's";
    view.figures.meshes = {{8, 1, {0, 1, 2, 3, 4, 5, 6, 7}}, {2, 4, {0, 1, 2, 3, 4, 5, 6, 6}}};
    EXPECT_THAT(text_of(draw(watched(view, 2), ui, low, Glyphs::utf8)), HasSubstr("8x1 mesh"));
}

TEST_F(Screens, AGalaxyHasTheColumnsOfItsDescribedMesh) {
    view::View view = galaxy();
    census::MeshFigures mesh{4, 8, {}};
    for (uint32_t id = 0; id < 32; ++id) {
        mesh.devices.push_back(id);
    }
    view.figures.meshes = {mesh};
    for (const Size& size : kSizes) {
        EXPECT_THAT(text_of(draw(watched(view, 2), ui, size, Glyphs::utf8)), HasSubstr("4x8 mesh"));
    }
}

TEST_F(Screens, BreakdownShowsEveryKindAndTheGridOfCores) {
    model.take({{}, some_cores(), ""});
    expect_golden("breakdown", model, at(Screen::breakdown));
}

TEST_F(Screens, BreakdownShowsTheFullestCoreAndNotTheSumOfAll) {
    const std::string text = text_of(draw(model, at(Screen::breakdown), {24, 80}, Glyphs::utf8));
    for (const char* row : {"L1 Buffers:", "CBs:", "Kernels:", "Total L1:"}) {
        EXPECT_THAT(text, HasSubstr(row));
    }
    EXPECT_THAT(text, testing::ContainsRegex("Total L1:.*730.6 KiB / +1.3 MiB +53%  headroom 630.2 KiB"));
}

TEST_F(Screens, ChartsShowOneDeviceOrAll) {
    expect_golden("charts_all", model, at(Screen::charts));
    ui.all_devices = false;
    ui.zoom = 1;
    expect_golden("charts", model, at(Screen::charts));
}

TEST_F(Screens, ChartsScaleToTheCapacityFirst) {
    ui.all_devices = false;
    const auto picture = [&] { return text_of(draw(model, at(Screen::charts), {24, 80}, Glyphs::utf8)); };
    EXPECT_THAT(picture(), HasSubstr(" 100%"));
    ui.scale = ChartScale::values;
    EXPECT_THAT(picture(), testing::AllOf(HasSubstr("  50%"), HasSubstr("   0%")));
}

TEST_F(Screens, ChartsSayHowManyDevicesAreNotShown) {
    EXPECT_THAT(text_of(draw(model, at(Screen::charts), {24, 80}, Glyphs::utf8)),
                HasSubstr("2 of 8 devices, from device 0 on"));
}

TEST_F(Screens, TheBreakdownOfAllDevicesIsOnOnePage) {
    ui.all_sections = true;
    expect_golden("breakdown_all", model, at(Screen::breakdown));
    EXPECT_THAT(text_of(draw(model, ui, {24, 80}, Glyphs::utf8)), HasSubstr("2 of 8 devices"));
    const std::string text = text_of(draw(model, ui, {50, 200}, Glyphs::utf8));
    for (const char* device : {"Device 0", "Device 7"}) {
        EXPECT_THAT(text, HasSubstr(device));
    }
}

TEST_F(Screens, CircularBuffersAndKernelsHaveAShareOfL1) {
    const std::string text = text_of(draw(model, at(Screen::breakdown), {24, 80}, Glyphs::utf8));
    EXPECT_THAT(text, testing::ContainsRegex("CBs: +\\[.*15.0 MiB / +74.4 MiB +20%"));
    EXPECT_THAT(text, testing::ContainsRegex("Kernels: +\\[.*228.0 KiB / +74.4 MiB +<1%"));
}

TEST_F(Screens, ADeviceOfTheOverviewHasItsOwnProcesses) {
    ui.all_devices = false;
    ui.device = 7;
    expect_golden("overview_device", model, ui);
    EXPECT_THAT(text_of(draw(model, ui, {24, 80}, Glyphs::utf8)),
                testing::AllOf(HasSubstr("Processes on device 7"), HasSubstr("12345")));
    ui.device = 0;
    EXPECT_THAT(text_of(draw(model, ui, {24, 80}, Glyphs::utf8)), Not(HasSubstr("12345")));
}

TEST_F(Screens, TheColumnThatRowsAreSortedByIsNeverLeftOut) {
    for (size_t i = 0; i < kOrders; ++i) {
        ui.order = static_cast<ProcessOrder>(i);
        EXPECT_THAT(text_of(draw(model, ui, {24, 80}, Glyphs::utf8)),
                    testing::ContainsRegex("[A-Z0-9]v( |\n)"))
            << name_of(ui.order);
    }
}

TEST_F(Screens, TheColourOfABlockDoesNotDependOnItsNeighbours) {
    const auto colours = [&](const view::MapView& map) {
        Model one = model;
        one.take({{}, map, ""});
        ui.map_cursor = 999'999;
        return draw(one, at(Screen::map), {24, 80}, Glyphs::utf8).styles(7).substr(0, 20);
    };
    view::MapView map = a_map();
    const std::string before = colours(map);
    auto& blocks = map.maps[1].blocks;
    blocks.erase(blocks.begin());
    blocks.insert(blocks.begin(), {taken(0x100040, 100'000, "decoder.0/kv_cache"),
                                   taken(0x100040 + 100'000, 200'000, "decoder.0/kv_cache")});
    EXPECT_EQ(colours(map), before);
}

TEST_F(Screens, TelemetryShowsValuesLimitsAndTheLastMinute) {
    expect_golden("telemetry", model, at(Screen::telemetry));
}

TEST_F(Screens, AllocationsAreShownInGroupsOrAsAList) {
    model.take({{}, view::groups_by_name(), ""});
    expect_golden("allocations_groups", model, at(Screen::allocations));
    model.take({{}, view::several_allocations(), ""});
    ui.group.reset();
    ui.filters[static_cast<size_t>(Screen::allocations)] = "decoder";
    ui.mark_ns = 1;
    ui.mark_time_ns = kNow - 12 * kSecond;
    expect_golden("allocations_list", model, at(Screen::allocations));
}

TEST_F(Screens, AllocationsAreShownAsATreeOfScopes) {
    view::GroupView groups = view::groups_by_name();
    groups.groups.push_back(view::group("decoder.0/mlp", 1'048'576, 2));
    groups.total = 45;
    model.take({{}, groups, ""});
    ui.tree = true;
    expect_golden("allocations_tree", model, at(Screen::allocations));
    EXPECT_THAT(text_of(draw(model, ui, {24, 80}, Glyphs::utf8)), HasSubstr("without 41 small names"));
}

TEST_F(Screens, GrowthIsShownWithItsTime) {
    view::GrowthView growth;
    growth.processes = 2;
    growth.span_ns = 63 * kSecond;
    growth.unsampled = 1;
    growth.total = 2;
    growth.names = {{"decoder.3/kv_cache", census::Kind::dram, 1'000'000, 5'000'000},
                    {"activations", census::Kind::l1, 8'192, 0}};
    model.take({{}, growth, ""});
    ui.growth = ShownGrowth::last_minute;
    expect_golden("growth", model, at(Screen::allocations));
}

TEST_F(Screens, WhatGrowsFromMarkToMarkIsToldApartFromCaches) {
    view::LeakView leaks;
    leaks.processes = 2;
    leaks.marked = leaks.unmarked = 1;
    leaks.total = 3;
    leaks.leaks = {
        {4711, "decoder.3/attention_mask", census::Kind::dram, view::LeakVerdict::growing, 6, 1'000'000,
         6'000'000, 90 * kSecond, 2'000, 36'000 * kSecond},
        {4711, "ttnn::matmul", census::Kind::cb, view::LeakVerdict::program_cache, 4, 65'536, 262'144,
         60 * kSecond},
        {4711, "kv_cache", census::Kind::dram, view::LeakVerdict::plateau, 2, 0, 1'048'576, 90 * kSecond}};
    model.take({{}, leaks, ""});
    ui.growth = ShownGrowth::at_marks;
    expect_golden("growing", model, at(Screen::allocations));
}

TEST_F(Screens, MapShowsABankAndTheBlockAtTheCursor) {
    model.take({{}, a_map(), ""});
    ui.map_cursor = 350'000;
    expect_golden("map", model, at(Screen::map));
    ui.map_zoom = 3;
    expect_golden("map_zoomed", model, at(Screen::map));
}

TEST_F(Screens, EventsAreShownWithTheNewestAtTheBottom) {
    model.take({{}, some_events(), ""});
    expect_golden("events", model, at(Screen::events));
}

TEST_F(Screens, FailuresAreShownWithTheHoldersOfTheMemory) {
    model.take({{}, a_why(), ""});
    expect_golden("failures", model, at(Screen::failures));
}

TEST_F(Screens, TheCardOfAFailureIsShownWithItsMap) {
    view::WhyView why = a_why();
    why.failures.failures[0].card = view::card_of_dram();
    model.take({{}, why, ""});
    ui.open_card = UiLocation::OpenCard{4711, 3};
    expect_golden("failure_card", model, at(Screen::failures));
    ui.open_card->number = 99;
    EXPECT_THAT(text_of(draw(model, at(Screen::failures), {24, 80}, Glyphs::utf8)),
                HasSubstr("This card is no longer kept."));
}

TEST_F(Screens, AKeptCardIsShownLikeThatOfAProcessThatIsThere) {
    view::WhyView why = a_why();
    why.failures.failures.clear();
    why.kept.newest_first.resize(1);
    census::FailureFigures& failure = why.kept.newest_first[0].failure;
    failure.pid = 99;
    failure.time_ns = 5;
    failure.card = view::card_of_dram();
    model.take({{}, why, ""});
    ui.open_card = UiLocation::OpenCard{99, 3, 5};
    const auto shown = [&] { return text_of(draw(model, at(Screen::failures), {24, 80}, Glyphs::utf8)); };
    EXPECT_THAT(shown(), HasSubstr("Card 3: "));
    ui.open_card->kept_ns = 6;
    EXPECT_THAT(shown(), HasSubstr("This card is no longer kept."));
    ui.open_card = UiLocation::OpenCard{99, 3};
    EXPECT_THAT(shown(), HasSubstr("Card 3: ")) << "the process ended while its card was open";
}

TEST_F(Screens, PostMortemsAreListedWithOneSelected) {
    model.take({{}, view::several_post_mortems(), ""});
    ui.post_mortems = true;
    expect_golden("post_mortems", model, at(Screen::failures));
}

TEST_F(Screens, HistoryThatIsNotKeptIsANotice) {
    view::PostMortemListView list = view::several_post_mortems();
    list.inexact = {{0, census::Reason::history_not_kept, 3, "/x/history.db: the disk is full"}};
    model.take({{}, list, ""});
    EXPECT_THAT(text_of(draw(model, at(Screen::charts), {24, 80}, Glyphs::utf8)),
                HasSubstr("history on disk: /x/history.db: the disk is full"));
}

TEST_F(Screens, EqualPostMortemsAreOneRow) {
    view::PostMortemListView list = view::several_post_mortems();
    list.post_mortems.insert(list.post_mortems.begin(), 2, list.post_mortems.front());
    list.post_mortems[0].process.pid = 4713;
    list.post_mortems[1].process.pid = 4714;
    model.take({{}, list, ""});
    ui.post_mortems = true;
    expect_golden("equal_post_mortems", model, at(Screen::failures));
}

TEST_F(Screens, TheSelectedPostMortemIsVisibleInALongList) {
    view::PostMortemListView list = view::several_post_mortems();
    list.post_mortems.resize(100, list.post_mortems.front());
    for (uint32_t i = 0; i < 100; ++i) {
        list.post_mortems[i].process.pid = 70'000 + i;
        list.post_mortems[i].allocations = i;  // else they would be one row
    }
    model.take({{}, list, ""});
    ui.post_mortems = true;
    for (const size_t selected : std::initializer_list<size_t>{0, 12, 17, 18, 50, 98, 99}) {
        ui.screen = Screen::failures;
        select_row(model, ui, selected);
        EXPECT_THAT(selected_rows(draw(model, at(Screen::failures), {24, 80}, Glyphs::utf8)),
                    testing::ElementsAre(HasSubstr(std::to_string(70'000 + selected))))
            << selected;
    }
}

TEST_F(Screens, HelpListsTheKeysOfEveryScreen) {
    ui.help = true;
    expect_golden("help", model, ui);
}

TEST_F(Screens, TheSignalDialogIsInTheMiddle) {
    ui.signal = SignalChoice{4711, 0, "python3", 0};
    expect_golden("signal", model, ui);
}

TEST_F(Screens, AStaleScreenShowsTheLastFiguresAndSaysSo) {
    model.set_disconnected("the daemon at /run/ttmem/api.sock has ended its stream", kNow);
    model.tick(kNow + 12 * kSecond);
    expect_golden("stale", model, ui);
    const std::string text = text_of(draw(model, ui, {24, 80}, Glyphs::utf8));
    EXPECT_THAT(text, HasSubstr("STALE 12s"));
    EXPECT_THAT(text, HasSubstr("No figures for 12s"));
    EXPECT_THAT(text, Not(HasSubstr("exact")));
    EXPECT_THAT(text, HasSubstr("n300"));
}

TEST_F(Screens, AfterALostDaemonDirectFiguresSaySo) {
    model.set_disconnected("the daemon has ended its stream", kNow);
    model.take_status(t3000_with_driver(), {}, Link::direct);
    EXPECT_THAT(
        text_of(draw(model, ui, {24, 80}, Glyphs::utf8)),
        testing::AllOf(HasSubstr("exact  direct"), HasSubstr("The daemon is gone: reading directly")));
    model.tick(kNow + 20 * kSecond);
    EXPECT_THAT(text_of(draw(model, ui, {24, 80}, Glyphs::utf8)),
                testing::AllOf(HasSubstr("STALE 20s"), Not(HasSubstr("exact"))));
    model.take_status(t3000_with_driver(), {}, Link::daemon);
    EXPECT_THAT(text_of(draw(model, ui, {24, 80}, Glyphs::utf8)), Not(HasSubstr("gone")));
}

TEST_F(Screens, InexactnessIsShownOnEveryScreen) {
    view::View view = view::inexact();
    view.figures.processes[0].followed = 10;
    view.figures.processes[0].lost = 3;
    Model doubtful = watched(view, 1);
    view.figures.inexact = {{4711, census::Reason::settling, 1}};
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

TEST_F(Screens, WithoutUtf8EveryScreenIsAscii) {
    for (size_t i = 0; i < kScreens; ++i) {
        Model named = watched(view::long_names(), 3);
        named.take({{}, a_map(), ""});
        const std::string text = text_of(draw(named, at(static_cast<Screen>(i)), {24, 80}, Glyphs::ascii));
        EXPECT_TRUE(std::all_of(text.begin(), text.end(), [](char c) {
            return c == '\n' || (c >= ' ' && c <= '~');
        })) << text;
    }
}

TEST_F(Screens, EveryHostCanBeDrawnAtEverySize) {
    const std::vector<view::View> hosts = {
        view::empty_host(), view::one_device(),  view::unknown_capacity(),  view::full(),
        view::long_names(), view::with_driver(), view::nothing_allocated(), galaxy()};
    for (const view::View& host : hosts) {
        Model some = watched(host, 2);
        for (size_t i = 0; i < kScreens; ++i) {
            some.take(i % 2 == 0 ? ScreenAnswer{{}, some_cores(), ""} : ScreenAnswer{{}, a_map(), ""});
            for (const Size size : {Size{1, 1}, Size{1, 300}, Size{100, 1}, Size{2, 2}, Size{5, 20},
                                    Size{100, 300}, Size{0, 0}}) {
                const Canvas canvas = draw(some, at(static_cast<Screen>(i)), size, Glyphs::utf8);
                EXPECT_EQ(canvas.columns(), std::max(size.columns, 1));
            }
        }
    }
}

TEST_F(Screens, WithoutFiguresAScreenSaysWhatIsMissing) {
    const std::string text = text_of(draw(Model(), ui, {24, 80}, Glyphs::utf8));
    EXPECT_THAT(text, HasSubstr("Connecting"));
    expect_golden("empty_host", watched(view::empty_host(), 1), ui);
}

}  // namespace
}  // namespace ttmem::tui
