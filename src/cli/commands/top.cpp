// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include "cli/commands/commands.hpp"
#include "tui/app.hpp"

namespace ttmem::cli {

namespace {

constexpr uint64_t kShortestMs = 100;

struct TopOptions : CommonOptions {
    tui::DashboardOptions top;
    std::optional<std::string> device;
    // Other commands show one moment of a recording; the dashboard plays it.
    std::optional<std::string> played;
    std::optional<std::string> from;
};

void declare_played(CLI::App& command, TopOptions& options) {
    CLI::Option* const direct = command.get_option("--direct");
    CLI::Option* const file = command.add_option("file", options.played, "The same as --recording FILE")
                                  ->type_name("FILE")
                                  ->excludes(direct);
    command.add_option("--recording", options.played, "Play a recording ('ttmem record')")
        ->type_name("FILE")
        ->excludes(direct)
        ->excludes(file);
    command.add_option("--at", options.from, "Begin there, paused: +12.5s, peak:dram, mark:NAME")
        ->type_name("TIME");
}

int show_dashboard(const TopOptions& options) {
    std::unique_ptr<access::RecordingPlayer> player;
    if (options.played) {
        auto opened = access::RecordingPlayer::open(*options.played, options.from);
        if (!opened) {
            return fail(opened.error());
        }
        player = std::move(*opened);
    } else if (options.from) {
        print_error("--at needs a recording (ttmem top FILE --at TIME)");
        return kUsageError;
    }
    const auto device = device_number(options.device, options.mode);
    if (!device) {
        return fail(device.error());
    }
    tui::DashboardOptions top = options.top;
    top.mode = options.mode;
    top.device = *device;
    top.plays = !options.from;
    const auto code = tui::run(top, std::move(player));
    return code ? *code : fail(code.error());
}

}  // namespace

void add_top(CLI::App& app, Action& chosen) {
    add_command<TopOptions>(
        app, chosen, "top", "The dashboard: devices, processes, charts, allocations",
        [](CLI::App& command, TopOptions& options) {
            add_direct(command, options);
            declare_played(command, options);
            command
                .add_option_function<uint64_t>(
                    "-r,--refresh", [&options](uint64_t interval) { options.top.interval_ms = interval; },
                    "Milliseconds between samples (default: 500)")
                ->check(check_interval(kShortestMs))
                ->type_name("MS");
            add_device(command, options.device)
                ->description("Start with this device: number, node, bus address or ASIC id");
            command
                .add_option_function<unsigned>(
                    "-s,--screen",
                    [&options](unsigned screen) { options.top.screen = static_cast<tui::Screen>(screen); },
                    "Start with this screen")
                ->check([](const std::string& text) {
                    const bool is_screen = check_number(text).empty() && std::stoul(text) < tui::kScreens;
                    return is_screen ? std::string()
                                     : fmt::format("'{}': must be 0 to {}", text, tui::kScreens - 1);
                })
                ->type_name("0-7");
        },
        show_dashboard)
        ->footer(
            "Screens: 0 overview, 1 breakdown, 2 charts, 3 telemetry, 4 allocations, 5 map,\n"
            "6 events, 7 failures. Press ? for the keys. F12 saves the settings\n"
            "in ~/.config/ttmem/top.json. A recording is played from its\n"
            "beginning; p pauses it, and the keys of recordings are at the end of the help.\n\n"
            "Examples:\n  ttmem top\n  ttmem top --refresh 2000 --screen 2 --device 0\n  ttmem top run.ttmem "
            "--at peak:dram");
}

}  // namespace ttmem::cli
