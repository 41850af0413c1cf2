// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "cli/commands/commands.hpp"
#include "view/text/screens.hpp"

namespace ttmem::cli {

namespace {

struct HistoryOptions : CommonOptions {
    std::optional<std::string> device;
    std::optional<census::Kind> kind;
    uint64_t seconds = 600;
};

void declare_history_options(CLI::App& command, HistoryOptions& options) {
    add_json_and_bytes(command, options);
    add_device(command, options.device);
    add_kind(command, options.kind);
    command.add_option("--seconds", options.seconds, "How far back (default: 600)")
        ->check(check_number)
        ->type_name("N");
}

int show_history(const HistoryOptions& options) {
    constexpr uint64_t kSecond = 1'000'000'000;
    std::optional<uint32_t> device;
    if (options.device) {
        const auto number = find_device_number(*options.device);
        if (!number) {
            return fail(number.error().text);
        }
        device = *number;
    }
    const uint64_t now = view::read_here().time_ns;
    const uint64_t span = std::min<uint64_t>(options.seconds, now / kSecond) * kSecond;
    return show(access::ask<view::History>({device, options.kind, now - span}), options, view::history_text);
}

}  // namespace

void add_history(CLI::App& app, Action& chosen) {
    add_command<HistoryOptions>(app, chosen, "history",
                                "Used bytes over time: a small chart per device and kind",
                                declare_history_options, show_history)
        ->footer(
            "Needs a running daemon (ttmemd). It keeps one value per second for an hour, and\n"
            "one per minute for a day. Each column shows the highest value of its period.\n\n"
            "Example:\n  ttmem history --device 0 --seconds 3600");
}

}  // namespace ttmem::cli
