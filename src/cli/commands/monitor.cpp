// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/commands.hpp"
#include "cli/host_view.hpp"
#include "view/text/screens.hpp"

namespace ttmem::cli {

namespace {

struct MonitorOptions : CommonOptions {
    bool all = false;
    std::vector<std::string> devices;
    uint64_t interval_ms = 1000;
    uint64_t count = 0;  // 0: until Ctrl-C
};

void declare_monitor_options(CLI::App& command, MonitorOptions& options) {
    add_json_and_bytes(command, options);
    add_colour(command);
    add_direct(command, options);
    command.add_flag("-a,--all", options.all, "All devices (the default), with those of -d");
    add_devices(command, options.devices)->description("Only these devices; absent ones are shown as such");
    command.add_option("-r,--refresh", options.interval_ms, "Milliseconds between samples (default: 1000)")
        ->check(check_interval(1))
        ->type_name("MS");
    command.add_option("-n,--count", options.count, "Stop after N samples (default: at Ctrl-C)")
        ->check(check_count)
        ->type_name("N");
}

// Only the chosen devices that are there, and the numbers of the others.
base::Expected<std::vector<uint32_t>> choose_devices(view::View& view, const MonitorOptions& options) {
    std::vector<uint32_t> absent;
    std::vector<std::string> present;
    for (const std::string& name : options.devices) {
        if (view::find_device(view, name) != nullptr) {
            present.push_back(name);
        } else if (const auto number = parse_device_number(name)) {
            absent.push_back(*number);
        } else {
            return base::error(base::Error::Code::not_found, view::no_such_device(name));
        }
    }
    if (!options.devices.empty() && !options.all) {
        view::keep_devices(view, present);
    }
    return absent;
}

int print_sample(const MonitorOptions& options) {
    auto reply = access::ask<view::Status>({}, options.mode);
    if (!reply) {
        return fail(reply.error());
    }
    const auto absent = choose_devices(reply->view, options);
    if (!absent) {
        return fail(absent.error());
    }
    for (const std::string& notice : reply->notices) {
        print_error(notice);
    }
    return options.json
               ? print(view::JsonForm<view::View>::write_line(reply->view) + "\n")
               : print(view::monitor_text(reply->view, style_of_output(options.bytes), *absent).blank());
}

int monitor(const MonitorOptions& options) {
    return repeat({.interval = std::chrono::milliseconds(options.interval_ms),
                   .count = options.count,
                   .json = options.json,
                   .blank_between = false},
                  [&] { return print_sample(options); });
}

}  // namespace

void add_monitor(CLI::App& app, Action& chosen) {
    add_command<MonitorOptions>(app, chosen, "monitor", "Memory of each device, repeatedly",
                                declare_monitor_options, monitor)
        ->footer(
            "Redraws the screen on a terminal; in a pipe, prints one block per sample, and\n"
            "with --json one document per line.\n\n"
            "Examples:\n  ttmem monitor -a -r 500\n  ttmem monitor -d 0 -d 1 -n 10 > log.txt");
}

}  // namespace ttmem::cli
