// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "cli/commands/commands.hpp"
#include "view/text/screens.hpp"

namespace ttmem::cli {

namespace {

struct PostMortemOptions : CommonOptions {
    std::optional<std::string> device;
    std::optional<uint32_t> pid;
    uint64_t limit = kDefaultLimit;
};

void declare_post_mortem_options(CLI::App& command, PostMortemOptions& options) {
    add_json_and_bytes(command, options);
    command
        .add_option_function<uint32_t>(
            "PID", [&options](uint32_t pid) { options.pid = pid; },
            "Show the last process with this number in detail")
        ->check(check_number);
    add_device(command, options.device);
    add_limit(command, options.limit);
}

bool held_device(const census::PostMortemSummary& summary, uint32_t device) {
    return std::any_of(summary.process.devices.begin(), summary.process.devices.end(),
                       [&](const auto& held) { return held.id == device; });
}

int show_post_mortems(const PostMortemOptions& options) {
    if (options.pid) {
        return show(access::ask<view::SinglePostMortem>({*options.pid, options.limit}), options,
                    view::post_mortem_text);
    }
    const auto device = device_number(options.device);
    if (!device) {
        return fail(device.error().text);
    }
    auto reply = access::ask<view::PostMortemList>();
    if (reply && *device) {
        std::erase_if(reply->view.post_mortems,
                      [&](const census::PostMortemSummary& one) { return !held_device(one, **device); });
        if (reply->view.post_mortems.empty() && !options.json) {
            return print("No process that died held this device.\n");
        }
    }
    return show(reply, options, view::post_mortems_text);
}

}  // namespace

void add_post_mortem(CLI::App& app, Action& chosen) {
    add_command<PostMortemOptions>(app, chosen, "post-mortem", "What processes held when they died",
                                   declare_post_mortem_options, show_post_mortems)
        ->footer(
            "Needs a running daemon (ttmemd). It keeps the last ledger of each process that\n"
            "died while it was running.\n\n"
            "Examples:\n  ttmem post-mortem\n  ttmem post-mortem 4711 --json | jq '.post_mortem.by_name[0]'");
}

}  // namespace ttmem::cli
