// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/commands.hpp"
#include "view/text/parts.hpp"
#include "view/text/screens.hpp"

namespace ttmem::cli {

namespace {

struct PostMortemOptions : CommonOptions {
    std::vector<std::string> devices;
    std::optional<uint32_t> pid;
    uint64_t limit = kDefaultLimit;
};

void declare_post_mortem_options(CLI::App& command, PostMortemOptions& options) {
    add_list_options(command, options);
    add_columns(command, options);
    command
        .add_option_function<uint32_t>(
            "PID", [&options](uint32_t pid) { options.pid = pid; },
            "Show the last process with this number in detail")
        ->check(check_number);
    add_devices(command, options.devices);
    add_limit(command, options.limit);
}

int show_post_mortems(const PostMortemOptions& options) {
    if (options.pid && !options.devices.empty()) {
        print_error("PID shows one process on all its devices: leave out --device, or PID for a list");
        return kUsageError;
    }
    if (options.pid) {
        return show(access::ask<view::SinglePostMortem>({*options.pid, options.limit}), options,
                    view::post_mortem_text);
    }
    const auto devices = device_numbers(options.devices);
    if (!devices) {
        return fail(devices.error());
    }
    return show(access::ask<view::PostMortemList>({*devices, options.limit}), options,
                [&](const view::PostMortemListView& view, const view::Style& style) {
                    return !devices->empty() && view.post_mortems.empty()
                               ? view::empty_list_text(
                                     devices->size() == 1 ? "No process that died held this device."
                                                          : "No process that died held one of these devices.",
                                     view::hidden_line(view))
                               : view::post_mortems_text(view, style);
                });
}

}  // namespace

void add_post_mortem(CLI::App& app, Action& chosen) {
    add_command<PostMortemOptions>(app, chosen, "post-mortem", "What processes held when they died",
                                   declare_post_mortem_options, show_post_mortems)
        ->footer(
            "Needs a running daemon (ttmemd). It keeps the last ledger of each process that\n"
            "died while it was running, and on disk, through restarts, its sums and the 20\n"
            "largest names and allocations.\n\n"
            "Examples:\n  ttmem post-mortem\n  ttmem post-mortem 4711 --json | jq '.post_mortem.by_name[0]'");
}

}  // namespace ttmem::cli
