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
};

}  // namespace

void add_top(CLI::App& app, Action& chosen) {
    add_command<TopOptions>(
        app, chosen, "top", "The dashboard: devices, processes, charts, allocations",
        [](CLI::App& command, TopOptions& options) {
            add_direct(command, options);
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
        [](const TopOptions& options) {
            const auto device = device_number(options.device, options.mode);
            if (!device) {
                return fail(device.error().text);
            }
            tui::DashboardOptions top = options.top;
            top.mode = options.mode;
            top.device = *device;
            const auto code = tui::run(top);
            return code ? *code : fail(code.error().text);
        })
        ->footer(
            "Screens: 0 overview, 1 breakdown, 2 charts, 3 telemetry, 4 allocations, 5 map,\n"
            "6 events, 7 failures. Press ? for the keys. F12 saves the settings\n"
            "in ~/.config/ttmem/top.json.\n\n"
            "Examples:\n  ttmem top\n  ttmem top --refresh 2000 --screen 2 --device 0");
}

}  // namespace ttmem::cli
