// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/commands.hpp"
#include "cli/host_view.hpp"
#include "view/text/screens.hpp"

namespace ttmem::cli {

void add_status(CLI::App& app, Action& chosen) {
    add_command<HostOptions>(
        app, chosen, "status", "Memory in use on each device (the default)", declare_host_options,
        [](const HostOptions& options) { return show(read_host(options), options, view::status_text); })
        ->footer(
            "FULLEST CORE is the L1 core with the most bytes: L1 buffers plus the circular\n"
            "buffers of one program. HEADROOM is the space between the two. The driver\n"
            "reports FIRMWARE and the columns beside it. FREE/BANK is the largest free block\n"
            "of a bank. A PEAK with >= is a lower bound.\n\n"
            "Examples:\n"
            "  ttmem status --device 0\n"
            "  ttmem status --json | jq '.devices[].memory.dram.used'");
}

}  // namespace ttmem::cli
