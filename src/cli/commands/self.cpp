// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/commands.hpp"
#include "view/text/screens.hpp"

namespace ttmem::cli {

void add_self(CLI::App& app, Action& chosen) {
    add_command<CommonOptions>(app, chosen, "self", "What the daemon itself costs, and whether it keeps up",
                               add_list_options,
                               [](const CommonOptions& options) {
                                   return show(access::ask<view::Self>(), options, view::self_text);
                               })
        ->footer("Needs a running daemon (ttmemd).\n\nExample:\n  ttmem self --json | jq .events_lost");
}

}  // namespace ttmem::cli
