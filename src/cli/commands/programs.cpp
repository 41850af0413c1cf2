// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/commands.hpp"
#include "view/text/screens.hpp"

namespace ttmem::cli {

namespace {

struct ProgramOptions : CommonOptions {
    census::ProgramQuery query{.limit = kDefaultLimit};
};

void declare_program_options(CLI::App& command, ProgramOptions& options) {
    add_list_options(command, options);
    add_direct(command, options);
    add_recording(command, options);
    add_columns(command, options);
    add_device_list(command, options.query.device);
    add_pid(command, options.query.pid);
    add_name(command, options.query.name);
    add_limit(command, options.query.limit);
}

int show_programs(const ProgramOptions& options) {
    return show(access::ask<view::Programs>(options.query, options.mode), options, view::programs_text);
}

}  // namespace

void add_programs(CLI::App& app, Action& chosen) {
    add_command<ProgramOptions>(app, chosen, "programs", "Circular buffers and kernels of each program",
                                declare_program_options, show_programs)
        ->footer("Example:\n  ttmem programs --device 0 --top 10");
}

}  // namespace ttmem::cli
