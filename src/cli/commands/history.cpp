// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "cli/commands/commands.hpp"
#include "view/text/screens.hpp"

namespace ttmem::cli {

namespace {

struct HistoryOptions : CommonOptions {
    std::vector<std::string> devices;
    census::KindSet kinds;
    uint64_t seconds = 600;
    view::HistoryScale scale = view::HistoryScale::capacity;
};

void declare_history_options(CLI::App& command, HistoryOptions& options) {
    add_list_options(command, options);
    add_recording(command, options);
    add_devices(command, options.devices);
    add_kinds(command, options.kinds);
    command.add_option("--seconds", options.seconds, "How far back (default: 600)")
        ->check(check_number)
        ->type_name("N");
    command
        .add_option_function<std::string>(
            "--scale",
            [&options](const std::string& name) {
                options.scale =
                    name == "highest" ? view::HistoryScale::highest : view::HistoryScale::capacity;
            },
            "What a full cell means: capacity (default) or highest")
        ->check(check_choice({"capacity", "highest"}))
        ->type_name("SCALE");
}

int show_history(const HistoryOptions& options) {
    constexpr uint64_t kSecond = 1'000'000'000;
    census::DeviceIdSet devices;
    const auto recorded = access::chosen_host();
    for (const std::string& name : options.devices) {
        // A recording may have had it before.
        const auto number = recorded ? device_number(name)
                                     : base::Expected<std::optional<uint32_t>>(find_device_number(name));
        if (!number) {
            return fail(number.error().text);
        }
        devices.add(**number);
    }
    const uint64_t now = recorded ? recorded->origin().time_ns : view::read_here().time_ns;
    const uint64_t span = std::min<uint64_t>(options.seconds, now / kSecond) * kSecond;
    const auto reply = access::ask<view::History>({devices, options.kinds, now - span});
    return show(reply, options, [&](const view::HistoryView& history, const view::Style& style) {
        // The status has the capacities. Without it, charts are scaled to their highest values.
        const auto status = access::ask<view::Status>({.scan = false});
        return view::history_text(
            history, status ? status->view.figures.devices : std::vector<census::DeviceFigures>(), style,
            options.scale);
    });
}

}  // namespace

void add_history(CLI::App& app, Action& chosen) {
    add_command<HistoryOptions>(app, chosen, "history",
                                "Used bytes over time: a small chart per device and kind",
                                declare_history_options, show_history)
        ->footer(
            "Needs a running daemon (ttmemd), or a recording. There is one value per second\n"
            "for an hour, and one per minute for a day; a recording has 250 values or more.\n"
            "Each column shows the highest value of its period.\n\n"
            "Examples:\n  ttmem history --device 0 --seconds 3600\n  ttmem history -d 0-3 --kind dram,l1");
}

}  // namespace ttmem::cli
