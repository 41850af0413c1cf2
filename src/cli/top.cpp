// SPDX-License-Identifier: Apache-2.0

// The dashboard.

#include "cli/command.hpp"
#include "tui/app.hpp"

namespace ttmem::cli {

namespace {

constexpr uint64_t kShortestMs = 100;

struct TopOptions : Common {
    tui::Options top;
    std::optional<std::string> device;
};

}  // namespace

void add_top(CLI::App& app, Run& chosen) {
    add_command<TopOptions>(
        app, chosen, "top", "The dashboard: devices, processes, charts, allocations",
        [](CLI::App& command, TopOptions& options) {
            add_direct(command, options);
            command
                .add_option_function<uint64_t>(
                    "-r,--refresh", [&options](uint64_t interval) { options.top.interval_ms = interval; },
                    "Milliseconds between two looks (default: 500)")
                ->check(refuse_what_is_no_interval(kShortestMs))
                ->type_name("MS");
            add_device(command, options.device)
                ->description("Begin with it: N, /dev/tenstorrent/N, bus address or ASIC id");
            command
                .add_option_function<unsigned>(
                    "-s,--screen",
                    [&options](unsigned screen) { options.top.screen = static_cast<tui::Screen>(screen); },
                    "The screen to begin with")
                ->check(CLI::Range(0, static_cast<int>(tui::kScreens) - 1))
                ->type_name("0-7");
        },
        [](const TopOptions& options) {
            const auto device = number_even_if_gone(options.device, options.way);
            if (!device) {
                complain(device.error().text);
                return 1;
            }
            tui::Options top = options.top;
            top.way = options.way;
            top.device = *device;
            const auto code = tui::run(top);
            if (!code) {
                complain(code.error().text);
                return 1;
            }
            return *code;
        })
        ->footer(
            "Screens: 0 overview, 1 breakdown, 2 charts, 3 telemetry, 4 allocations, 5 map,\n"
            "6 events, 7 failures. Press ? for the keys; F12 saves settings in\n"
            "~/.config/ttmem/top.json.\n\n"
            "Examples:\n  ttmem top\n  ttmem top --refresh 2000 --screen 2 --device 0");
}

}  // namespace ttmem::cli
