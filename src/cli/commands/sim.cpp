// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/commands.hpp"
#include "cli/sim_program.hpp"

namespace ttmem::cli {

void add_sim(CLI::App& app, Action& chosen) {
    // ttmem-sim parses everything after "sim", --help included.
    CLI::App* sim = app.add_subcommand("sim", "The simulated runtime: 'ttmem sim list'");
    sim->prefix_command();
    sim->set_help_flag();
    sim->callback(
        [sim, &chosen] { chosen = [arguments = sim->remaining()] { return run_sim_program(arguments); }; });
}

}  // namespace ttmem::cli
