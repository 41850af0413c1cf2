// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/commands.hpp"
#include "view/text/screens.hpp"

namespace ttmem::cli {

namespace {

struct GrowthOptions : CommonOptions {
    view::GrowthQuery query{.limit = kDefaultLimit};
};

void declare_growth_options(CLI::App& command, GrowthOptions& options) {
    add_list_options(command, options);
    add_columns(command, options);
    add_device_list(command, options.query.device);
    add_pid(command, options.query.pid);
    add_kinds(command, options.query.kind);
    add_name(command, options.query.name);
    add_limit(command, options.query.limit);
}

int show_growth(const GrowthOptions& options) {
    return show(access::ask<view::Growth>(options.query), options, view::growth_text);
}

}  // namespace

void add_growth(CLI::App& app, Action& chosen) {
    add_command<GrowthOptions>(app, chosen, "growth", "What grew in the last minute, by name (daemon)",
                               declare_growth_options, show_growth)
        ->footer("Examples:\n  ttmem growth --kind dram\n  ttmem growth -d 0-3 --name 'model/*'");
}

}  // namespace ttmem::cli
