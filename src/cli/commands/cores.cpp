// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/commands.hpp"
#include "view/text/screens.hpp"

namespace ttmem::cli {

namespace {

struct CoreOptions : CommonOptions {
    std::optional<std::string> device;
    uint64_t limit = kDefaultLimit;
};

void declare_core_options(CLI::App& command, CoreOptions& options) {
    add_list_options(command, options);
    add_direct(command, options);
    add_recording(command, options);
    add_columns(command, options);
    add_device(command, options.device)->required();
    add_limit(command, options.limit);
}

int show_cores(const CoreOptions& options) {
    return show(access::ask<view::Cores>({*options.device}, options.mode), options,
                [&](const view::CoreView& cores, const view::Style& style) {
                    return view::cores_text(cores, style, options.limit);
                });
}

}  // namespace

void add_cores(CLI::App& app, Action& chosen) {
    add_command<CoreOptions>(app, chosen, "cores", "L1 of each core: circular buffers, headroom and program",
                             declare_core_options, show_cores)
        ->footer(
            "The core with the least headroom comes first. 'ttmem map --core X,Y' shows what\n"
            "is in one core. --json prints all cores, row by row.\n\n"
            "Example:\n  ttmem cores --device 0 --limit 10");
}

}  // namespace ttmem::cli
