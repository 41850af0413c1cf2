// SPDX-License-Identifier: Apache-2.0

// The screens of the whole host: status, ps and monitor.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "view/testing/screens_test_support.hpp"
#include "view/testing/views_test_support.hpp"

namespace ttmem::view {
namespace {

using testing::HasSubstr;
using testing::Not;

struct Host {
    const char* name;
    View view;
};

// Screens show views that came through JSON, as from a daemon.
View through_json(const View& view) { return *from_json<View>(to_json(view)); }

std::vector<Host> hosts() {
    return {{"empty", through_json(empty_host())},
            {"one_device", through_json(one_device())},
            {"t3000", through_json(t3000())},
            {"galaxy", through_json(galaxy())},
            {"inexact", through_json(inexact())},
            {"unknown_capacity", through_json(unknown_capacity())},
            {"full", through_json(full())},
            {"long_names", through_json(long_names())},
            {"nothing_allocated", through_json(nothing_allocated())},
            {"with_driver", through_json(with_driver())}};
}

size_t lines_that_start_with(const Text& text, const std::string& start) {
    return static_cast<size_t>(std::count_if(text.lines().begin(), text.lines().end(), [&](const Line& line) {
        return line.plain().starts_with(start);
    }));
}

TEST(StatusScreen, HasARowPerDeviceAndTheFullestCoreOfEach) {
    GoldenFile golden(golden_path("status"));
    for (const auto& [name, view] : hosts()) {
        add_sizes(golden, name, view, status_text);
        const Text text = status_text(view, {});
        for (const census::DeviceFigures& device : view.figures.devices) {
            EXPECT_GE(lines_that_start_with(
                          text, fmt::format("{:>3}  {}", device.id, device.board.value_or("-").substr(0, 2))),
                      1u)
                << name << ": " << device.id;
        }
        EXPECT_EQ(render_plain(text).find("FULLEST CORE") != std::string::npos,
                  !view.figures.devices.empty());
    }
    golden.add("one_device, json", to_json(one_device()));
    golden.add("with_driver, json", to_json(with_driver()));
}

TEST(PsScreen, HasARowPerProcessAndGroupOfEqualDevices) {
    GoldenFile golden(golden_path("ps"));
    for (const auto& [name, view] : hosts()) {
        add_sizes(golden, name, view, ps_text);
        const Text text = ps_text(view, {});
        for (const census::ProcessFigures& process : view.figures.processes) {
            EXPECT_THAT(render_plain(text), HasSubstr(std::to_string(process.pid) + "  ")) << name;
        }
    }
    EXPECT_THAT(render_plain(ps_text(t3000(), {})), HasSubstr("python3       0-7  "));
}

TEST(BreakdownScreen, HasABarPerKindOfMemoryOfEachDevice) {
    GoldenFile golden(golden_path("breakdown"));
    for (const auto& [name, view] : hosts()) {
        if (name == std::string("nothing_allocated")) {
            continue;
        }
        add_sizes(golden, name, view, breakdown_text);
        const Text text = breakdown_text(view, {});
        EXPECT_EQ(lines_that_start_with(text, "Device "), view.figures.devices.size()) << name;
        EXPECT_EQ(lines_that_start_with(text, "    DRAM: "), view.figures.devices.size()) << name;
        EXPECT_EQ(lines_that_start_with(text, "    Kernels: "), view.figures.devices.size()) << name;
    }
}

TEST(HostScreens, FitIntoEightyColumnsWithBytesToo) {
    for (const auto& [name, view] : hosts()) {
        expect_fits_80_columns(view, status_text);
        expect_fits_80_columns(view, ps_text);
        expect_fits_80_columns(view, breakdown_text);
    }
}

TEST(HostScreens, KeepAllRowsAtAnyWidth) {
    for (const auto& [name, view] : hosts()) {
        SCOPED_TRACE(name);
        expect_complete_at_any_width(view, status_text);
        expect_complete_at_any_width(view, ps_text);
    }
}

TEST(StatusScreen, ColourIsNeverTheOnlySignal) {
    const Text text = status_text(full(), {});
    std::string colour = render_ansi(text, true);
    EXPECT_NE(colour, render_plain(text));
    for (size_t start; (start = colour.find('\x1b')) != std::string::npos;) {
        colour.erase(start, colour.find('m', start) - start + 1);
    }
    EXPECT_EQ(colour, render_plain(text));
}

TEST(StatusScreen, BarsAreSpansOfTheirOwn) {
    size_t bars = 0;
    const Text text = status_text(full(), {});
    for (const Line& line : text.lines()) {
        for (const Span& span : line.spans()) {
            bars += span.shape == Shape::bar ? 1 : 0;
            EXPECT_EQ(span.shape == Shape::bar, span.text.starts_with("[#")) << span.text;
        }
    }
    EXPECT_EQ(bars, 2u);
}

TEST(StatusScreen, UnknownIsShownAsUnknownAndNeverAsZeroOrFull) {
    const std::string text = render_plain(status_text(unknown_capacity(), {}));
    EXPECT_THAT(text, HasSubstr("14.1 MiB / unknown"));
    EXPECT_THAT(text, Not(HasSubstr("%")));
}

TEST(StatusScreen, SingularAndPluralOfDevicesWithUnknownKinds) {
    View view = with_driver();
    const std::string one = render_plain(status_text(view, {}));
    EXPECT_THAT(one, HasSubstr("Unknown for device 2: "));
    view.figures.devices[3].memory = view.figures.devices[2].memory;
    EXPECT_THAT(render_plain(status_text(view, {})), HasSubstr("Unknown for devices 2,3: "));
}

TEST(InexactText, NamesTheCountOnlyIfItIsAboveOne) {
    View view = one_device();
    view.figures.inexact = {{4711, census::Reason::not_listed, 1}, {4712, census::Reason::double_free, 3}};
    const std::string text = render_plain(status_text(view, {}));
    EXPECT_THAT(text, HasSubstr("  process 4711: another user's process: not listed\n"));
    EXPECT_THAT(text, HasSubstr("  process 4712: double free (3)\n"));
}

}  // namespace
}  // namespace ttmem::view
