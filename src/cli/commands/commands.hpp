// SPDX-License-Identifier: Apache-2.0
#pragma once

// One function per command, each in the file of its name. It adds the command to the command line; if that names it, `chosen`
// becomes its action.

#include "cli/command.hpp"

namespace ttmem::cli {

void add_status(CLI::App& app, Action& chosen);
void add_ps(CLI::App& app, Action& chosen);
void add_top(CLI::App& app, Action& chosen);
void add_allocations(CLI::App& app, Action& chosen);
void add_mark(CLI::App& app, Action& chosen);
void add_diff(CLI::App& app, Action& chosen);
void add_advise(CLI::App& app, Action& chosen);
void add_growth(CLI::App& app, Action& chosen);
void add_leaks(CLI::App& app, Action& chosen);
void add_peak(CLI::App& app, Action& chosen);
void add_programs(CLI::App& app, Action& chosen);
void add_map(CLI::App& app, Action& chosen);
void add_fit(CLI::App& app, Action& chosen);
void add_cores(CLI::App& app, Action& chosen);
void add_why(CLI::App& app, Action& chosen);
void add_post_mortem(CLI::App& app, Action& chosen);
void add_history(CLI::App& app, Action& chosen);
void add_events(CLI::App& app, Action& chosen);
void add_monitor(CLI::App& app, Action& chosen);
void add_query(CLI::App& app, Action& chosen);
void add_self(CLI::App& app, Action& chosen);
void add_web(CLI::App& app, Action& chosen);
void add_run(CLI::App& app, Action& chosen);
void add_record(CLI::App& app, Action& chosen);
void add_export(CLI::App& app, Action& chosen);
void add_doctor(CLI::App& app, Action& chosen);
void add_observer(CLI::App& app, Action& chosen);
void add_completion(CLI::App& app, Action& chosen);
void add_demo(CLI::App& app, Action& chosen);
void add_sim(CLI::App& app, Action& chosen);

}  // namespace ttmem::cli
