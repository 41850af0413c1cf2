// SPDX-License-Identifier: Apache-2.0

// A runtime without an accelerator: to try things out.

#include "cli/command.hpp"
#include "cli/demo.hpp"
#include "cli/sim.hpp"

namespace ttmem::cli {

void add_runtime(CLI::App& app, Run& chosen) {
    add_command<Common>(
        app, chosen, "demo", "A simulated T3000 at work: no accelerator needed",
        [](CLI::App& command, Common& options) {
            command.add_flag("--bytes", options.bytes, "Print plain bytes instead of KiB, MiB, GiB");
        },
        [](const Common& options) { return run_demo(options.bytes); })
        ->footer(
            "On a terminal it shows the dashboard ('ttmem top') with a daemon of its own,\n"
            "until q; elsewhere it prints one table and ends.\n\nExample:\n  ttmem demo");

    // Everything behind "sim" is the simulated runtime's own affair, also --help.
    CLI::App* sim = app.add_subcommand("sim", "The simulated runtime: 'ttmem sim list'");
    sim->prefix_command();
    sim->set_help_flag();
    sim->callback([sim, &chosen] { chosen = [arguments = sim->remaining()] { return run_sim(arguments); }; });
}

}  // namespace ttmem::cli
