// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/commands.hpp"
#include "view/text/screens.hpp"

namespace ttmem::cli {

namespace {

struct PeakOptions : CommonOptions {
    view::PeakQuery query{.limit = kDefaultLimit};
};

void declare_peak_options(CLI::App& command, PeakOptions& options) {
    add_list_options(command, options);
    add_direct(command, options);
    add_columns(command, options);
    add_device(command, options.query.device);
    add_pid(command, options.query.pid);
    command
        .add_option_function<std::string>(
            "--kind",
            [&options](const std::string& name) { options.query.kind = *base::by_name<census::Kind>(name); },
            "dram (the default), l1, l1_small, trace, cb or kernel")
        ->check(check_choice(choices_of<census::Kind>()))
        ->type_name("KIND");
    add_limit(command, options.query.limit);
}

int show_peak(const PeakOptions& options) {
    return show(access::ask<view::PeakContents>(options.query, options.mode), options, view::peak_text);
}

}  // namespace

void add_peak(CLI::App& app, Action& chosen) {
    add_command<PeakOptions>(app, chosen, "peak", "What the peak of each process was made of, by name",
                             declare_peak_options, show_peak)
        ->footer(
            "The moment at which a process had requested most, with what was live then. It\n"
            "comes from the last events that the process keeps (16,384 of each thread). If\n"
            "earlier ones are lost, the answer is the highest since then, and says so. Bytes\n"
            "are requested bytes; a name is the last that an allocation had.\n\n"
            "Examples:\n"
            "  ttmem peak -d 0 --kind dram\n"
            "  ttmem peak --kind l1 --limit 0 --json");
}

}  // namespace ttmem::cli
