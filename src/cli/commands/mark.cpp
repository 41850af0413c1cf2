// SPDX-License-Identifier: Apache-2.0
#include "cli/mark.hpp"

#include "cli/commands/commands.hpp"

namespace ttmem::cli {

namespace {

int mark_now(const CommonOptions& options) {
    const auto moment = set_mark();
    if (!moment) {
        return fail(moment.error().text);
    }
    if (options.json) {
        return print("{\"schema\": 1, \"monotonic_ns\": " + std::to_string(*moment) + "}\n");
    }
    return print("Marked. 'ttmem allocations --since-mark' shows allocations made from now on.\n");
}

}  // namespace

void add_mark(CLI::App& app, Action& chosen) {
    add_command<CommonOptions>(
        app, chosen, "mark", "Mark this moment for 'allocations --since-mark'",
        [](CLI::App& command, CommonOptions& options) {
            command.add_flag("--json", options.json, "Print JSON, for scripts");
        },
        mark_now)
        ->footer(
            "A quick leak check: mark, let the program do one more step, then see what\n"
            "stayed.\n\nExample:\n  ttmem mark && sleep 60 && ttmem allocations --since-mark --group-by "
            "name");
}

}  // namespace ttmem::cli
