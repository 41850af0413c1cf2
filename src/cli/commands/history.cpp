// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>

#include "cli/commands/commands.hpp"
#include "view/text/screens.hpp"

namespace ttmem::cli {

namespace {

struct HistoryOptions : CommonOptions {
    std::vector<std::string> devices;
    census::KindSet kinds;
    std::optional<uint32_t> pid;
    uint64_t seconds = 600;
    uint64_t step = 0;
    view::HistoryScale scale = view::HistoryScale::capacity;
};

// A chart needs no more, however long it is.
constexpr uint64_t kMostSteps = 1000;

// "6h" in seconds.
std::optional<uint64_t> parse_span(const std::string& text) {
    constexpr uint64_t kMost = uint64_t{3650} * 24 * 3600;
    uint64_t number = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
    const std::string_view unit(end, static_cast<size_t>(text.data() + text.size() - end));
    const uint64_t seconds = unit == "s"   ? 1
                             : unit == "m" ? 60
                             : unit == "h" ? 3600
                             : unit == "d" ? 86400
                                           : 0;
    if (problem != std::errc() || seconds == 0 || number > kMost / seconds) {
        return std::nullopt;
    }
    return number * seconds;
}

void declare_history_options(CLI::App& command, HistoryOptions& options) {
    add_list_options(command, options);
    add_recording(command, options);
    add_devices(command, options.devices);
    add_kinds(command, options.kinds);
    add_pid(command, options.pid);
    command.add_option("--seconds", options.seconds, "How far back (default: 600)")
        ->check(check_number)
        ->type_name("N");
    command
        .add_option_function<std::string>(
            "--last", [&options](const std::string& text) { options.seconds = *parse_span(text); },
            "How far back, with a unit: 90s, 30m, 6h, 7d")
        ->check([](const std::string& text) {
            return parse_span(text) ? std::string()
                                    : "'" + text + "': must be a number with s, m, h or d: 6h";
        })
        ->type_name("SPAN");
    command.add_option("--step", options.step, "Only the highest value of each N seconds (with --json)")
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
            return fail(number.error());
        }
        devices.add(**number);
    }
    const uint64_t now = recorded ? recorded->origin().time_ns : view::read_here().time_ns;
    const uint64_t span = std::min<uint64_t>(options.seconds, now / kSecond) * kSecond;
    const uint64_t step = options.json || options.step != 0 ? options.step : options.seconds / kMostSteps;
    if (options.pid) {
        if (!devices.empty()) {
            print_error("--pid shows a process on all its devices: leave out --device");
            return kUsageError;
        }
        return show(access::ask<view::ProcessHistory>({*options.pid, options.kinds, now - span, step}),
                    options, view::process_history_text);
    }
    const auto reply = access::ask<view::History>({devices, options.kinds, now - span, step});
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
            "for an hour, and one per minute for a day. On disk, through restarts, there is\n"
            "one per ten seconds for a day, and one per minute for a month. A recording has\n"
            "250 values or more. Each column shows the highest value of its period.\n"
            "Below are times without a daemon, and failures, marks and deaths; '(card)':\n"
            "'ttmem why' shows what was held.\n\n"
            "Examples:\n  ttmem history --device 0 --last 1h\n  ttmem history -d 0-3 --kind dram,l1\n"
            "  ttmem history --last 7d\n  ttmem history --pid 4711");
}

}  // namespace ttmem::cli
