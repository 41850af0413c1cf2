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

TEST(Breakdown, ShowsAChosenDeviceThatIsNotThereAsAbsent) {
    View view;
    view.origin.host = "quietbox";
    EXPECT_EQ(render_plain(monitor_text(view, {}, {7})),
              "quietbox: 0 devices, 0 tracked processes, figures exact\n"
              "\n"
              "Device 7: absent (no process and no driver reports it)\n");
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
    EXPECT_THAT(render_plain(ps_text(t3000(), {})), HasSubstr("0-7  "));
}

TEST(PsScreen, NamesTheColumnsThatDoNotFitAndShowsThemInAPipe) {
    EXPECT_THAT(
        render_plain(ps_text(t3000(), {})),
        HasSubstr("\nNot shown: state, kernel, source, trace, l1_small, rss, container. Widen the\n"));
    const std::string piped = render_plain(ps_text(with_driver(), {.cut = false}));
    for (const char* title : {"L1_SMALL", "TRACE", "KERNEL", "AGE", "STATE", "SOURCE", "RSS", "CONTAINER"}) {
        EXPECT_THAT(piped, HasSubstr(title));
    }
    EXPECT_THAT(piped, Not(HasSubstr("Not shown")));
    EXPECT_THAT(piped, HasSubstr("docker 3f2a1b4c5d6e, pid 17 inside"));
}

TEST(PsScreen, HasTheSameColumnsWhateverTheProcessesHold) {
    const auto titles = [](const View& view) {
        const std::string line = ps_text(view, {}).lines()[2].plain();
        std::string words;
        for (const char c : line) {
            words += c != ' ' || words.empty() || words.back() != ' ' ? std::string(1, c) : "";
        }
        return words;
    };
    const std::string usual = titles(one_device());
    for (const View& view : {t3000(), galaxy(), full(), with_driver(), long_names(), nothing_allocated()}) {
        EXPECT_EQ(titles(view).substr(titles(view).find("PID")), usual.substr(usual.find("PID")));
    }
}

TEST(PsScreen, ShowsTheChosenColumns) {
    ColumnChoice choice{{"pid", "dram", "rss"}, {}};
    View view = one_device();
    view.figures.processes[0].resident_bytes = 123'000'000;
    EXPECT_THAT(render_plain(ps_text(view, {.columns = &choice})),
                HasSubstr("\n PID     DRAM        RSS\n4711  5.4 GiB  117.3 MiB\n"));
}

TEST(StatusScreen, WithPlainBytesTheCountStays) {
    EXPECT_THAT(render_plain(status_text(galaxy(), {.bytes = true})), HasSubstr("  COUNT\n"));
    EXPECT_THAT(render_plain(status_text(galaxy(), {.bytes = true})), HasSubstr("\nNot shown: capacity."));
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

TEST(StatusScreen, SaysHowManyProcessesWereMissed) {
    View view = one_device();
    for (const auto& as_text : {status_text, ps_text, breakdown_text}) {
        view.figures.processes_missed = 3;
        EXPECT_THAT(
            render_plain(as_text(view, {})),
            HasSubstr("\nMissed: 3 short-lived processes that ended before ttmemd could read them.\n"));
        view.figures.processes_missed = 0;
        EXPECT_THAT(render_plain(as_text(view, {})), Not(HasSubstr("Missed")));
    }
}

TEST(StatusScreen, MoreThanAllOfAChipIsThatOfSeveralAllocators) {
    View view = one_device();
    EXPECT_THAT(render_plain(status_text(view, {})), Not(HasSubstr("several allocators")));
    census::MemoryFigures& dram = view.figures.devices[0].memory[index_of(Kind::dram)];
    dram.used = *dram.capacity + 1;
    dram.peak = dram.used;
    for (const auto& as_text : {status_text, breakdown_text}) {
        EXPECT_THAT(
            render_plain(as_text(view, {})),
            HasSubstr("\nMore than 100% of dram on device 0: several allocators share the memory.\n"));
    }
}

TEST(InexactText, NamesTheCountOnlyIfItIsAboveOne) {
    View view = one_device();
    view.figures.inexact = {{4711, census::Reason::settling, 1}, {4712, census::Reason::double_free, 3}};
    const std::string text = render_plain(status_text(view, {}));
    EXPECT_THAT(text, HasSubstr("  process 4711: settling: events were recorded meanwhile\n"));
    EXPECT_THAT(text, HasSubstr("  process 4712: double free (3)\n"));
}

}  // namespace
}  // namespace ttmem::view
