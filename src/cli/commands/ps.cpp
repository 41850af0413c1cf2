// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/commands.hpp"
#include "cli/host_view.hpp"
#include "view/text/screens.hpp"

namespace ttmem::cli {

void add_ps(CLI::App& app, Action& chosen) {
    add_command<HostOptions>(
        app, chosen, "ps", "What each process holds, by device and kind", declare_host_options,
        [](const HostOptions& options) { return show(read_host(options), options, view::ps_text); })
        ->footer(
            "A process is untracked if it has a device open and reports nothing.\n\n"
            "Example:\n  ttmem ps --bytes");
}

}  // namespace ttmem::cli
