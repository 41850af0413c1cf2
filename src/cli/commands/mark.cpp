// SPDX-License-Identifier: Apache-2.0
#include "cli/mark.hpp"

#include "cli/commands/commands.hpp"
#include "cli/named_marks.hpp"
#include "view/text/format.hpp"

namespace ttmem::cli {

namespace {

struct MarkOptions : CommonOptions {
    std::optional<std::string> name;
    bool list = false;
};

int keep_named_mark(const MarkOptions& options) {
    const auto reply = access::ask<view::Inventory>({}, options.mode);
    if (!reply) {
        return fail(reply.error());
    }
    for (const std::string& notice : reply->notices) {
        print_error(notice);
    }
    const view::InventoryView& contents = reply->view;
    if (const auto kept = keep_mark(*options.name, contents); !kept) {
        return fail(kept.error());
    }
    if (options.json) {
        return print(view::to_json(contents));
    }
    return print("Marked as " + *options.name + ": " +
                 view::format_count(contents.sums.size(), "name", "names") + " of " +
                 view::format_count(contents.processes, "process", "processes") +
                 ". 'ttmem diff mark:" + *options.name + " now' shows what changes from now on.\n");
}

int mark_now(const MarkOptions& options) {
    if (options.list) {
        for (const std::string& name : mark_names()) {
            print(name + "\n");
        }
        return 0;
    }
    const auto moment = set_mark();
    if (!moment) {
        return fail(moment.error());
    }
    if (options.name) {
        return keep_named_mark(options);
    }
    if (options.json) {
        return print("{\"schema\": 1, \"monotonic_ns\": " + std::to_string(*moment) + "}\n");
    }
    return print("Marked. 'ttmem allocations --since-mark' shows allocations made from now on.\n");
}

}  // namespace

void add_mark(CLI::App& app, Action& chosen) {
    add_command<MarkOptions>(
        app, chosen, "mark", "Mark this moment, with a name for 'diff' and 'leaks'",
        [](CLI::App& command, MarkOptions& options) {
            command.add_flag("--json", options.json, "Print JSON, for scripts");
            add_direct(command, options);
            auto* name = command.add_option("name", options.name, "Keep what each name holds now")
                             ->type_name("NAME")
                             ->check(check_mark_name);
            command.add_flag("--list", options.list, "List the names of marks")->excludes(name);
        },
        mark_now)
        ->footer(
            "A quick leak check: mark, let the program do one more step, then see what\n"
            "stayed. A name may be used again: 'ttmem leaks --host-marks' compares all of\n"
            "them, 'ttmem diff' takes the last. The last 256 are kept, for this user.\n\n"
            "Examples:\n  ttmem mark step1 && sleep 60 && ttmem diff mark:step1 now\n"
            "  ttmem mark && sleep 60 && ttmem allocations --since-mark --group-by name");
}

}  // namespace ttmem::cli
