// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/commands.hpp"
#include "view/text/parts.hpp"
#include "view/text/screens.hpp"

namespace ttmem::cli {

namespace {

struct PostMortemOptions : CommonOptions {
    std::optional<std::string> device;
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
    add_device(command, options.device);
    add_limit(command, options.limit);
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
    return show(access::ask<view::PostMortemList>({*device, options.limit}), options,
                [&](const view::PostMortemListView& view, const view::Style& style) {
                    return *device && view.post_mortems.empty()
                               ? view::empty_list_text("No process that died held this device.",
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
            "died while it was running.\n\n"
            "Examples:\n  ttmem post-mortem\n  ttmem post-mortem 4711 --json | jq '.post_mortem.by_name[0]'");
}

}  // namespace ttmem::cli
