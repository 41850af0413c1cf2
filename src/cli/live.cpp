// SPDX-License-Identifier: Apache-2.0

// What is live, as a list or in groups, and what of it is new since a mark.

#include "cli/command.hpp"
#include "cli/mark.hpp"
#include "view/format.hpp"
#include "view/text.hpp"

namespace ttmem::cli {

namespace {

struct AllocationOptions : Common {
    census::AllocationQuery query{.limit = kDefaultLimit};
    bool since_mark = false;
};

// What people call it here, and what it is called in a view.
std::optional<census::GroupBy> group_of(const std::string& name) {
    return census::group_by_name(name == "process" ? "pid" : name);
}

void declare_order(CLI::App& command, census::AllocationQuery& query) {
    CLI::Option* sort =
        command
            .add_option_function<std::string>(
                "--sort", [&query](const std::string& name) { query.sort = *census::sort_by_name(name); },
                "used (the default), requested, age, address or name")
            ->check([](const std::string& name) {
                return census::sort_by_name(name) ? std::string() : "there is no order '" + name + "'";
            })
            ->type_name("ORDER");
    CLI::Option* cursor = command
                              .add_option_function<std::string>(
                                  "--cursor", [&query](const std::string& text) { query.cursor = text; },
                                  "Go on where a page before ended")
                              ->type_name("TEXT");
    CLI::Option* group =
        command
            .add_option_function<std::string>(
                "--group,--group-by", [&query](const std::string& name) { query.group = group_of(name); },
                "Sums by name, scope, kind, process, device or age (and more)")
            ->check([](const std::string& name) {
                return group_of(name) ? std::string() : "there are no groups by '" + name + "'";
            })
            ->type_name("BY")
            ->excludes(cursor)
            ->excludes(sort);
    command.add_option("--depth", query.scope_depth, "How many parts of a name are its scope (default: 1)")
        ->check(refuse_what_is_no_number)
        ->type_name("N")
        ->needs(group);
}

int list(const AllocationOptions& options) {
    census::AllocationQuery query = options.query;
    if (options.since_mark) {
        const auto mark = read_mark();
        if (!mark) {
            complain(mark.error().text);
            return 1;
        }
        query.since = mark->monotonic_ns;
        if (!options.json) {
            print("Since the mark, " + view::format_age(mark->age_ns) + " ago:\n\n");
        }
    }
    return query.group ? show(access::groups(query, options.way), options, view::groups_text)
                       : show(access::allocations(query, options.way), options, view::allocations_text);
}

void add_allocations(CLI::App& app, Run& chosen) {
    add_command<AllocationOptions>(
        app, chosen, "allocations", "What is live, the largest first",
        [](CLI::App& command, AllocationOptions& options) {
            add_json_and_bytes(command, options);
            add_direct(command, options);
            add_device(command, options.query.device);
            add_pid(command, options.query.pid);
            add_kind(command, options.query.kind);
            command
                .add_option("--name", options.query.name, "Only with this text in the name (a and A differ)")
                ->type_name("TEXT");
            command.add_flag("--since-mark", options.since_mark, "Only what came after 'ttmem mark'");
            add_limit(command, options.query.limit);
            declare_order(command, options.query);
        },
        list)
        ->footer(
            "Bytes are those on each device of an allocation. Groups are also by set, thread\n"
            "and owner (the number that the process gave). A scope is the beginning of a\n"
            "name: decoder.3 of decoder.3/ttnn::matmul, and with --depth 2 one part more.\n"
            "Groups come by what they use. A page ends with the cursor of the next one,\n"
            "which is asked for with the same filters and the same --sort.\n\n"
            "Examples:\n"
            "  ttmem allocations --device 0 --kind dram --top 10\n"
            "  ttmem allocations --name kv_cache --sort age\n"
            "  ttmem allocations --group-by scope\n"
            "  ttmem mark; sleep 60; ttmem allocations --since-mark --group-by name");
}

void add_mark(CLI::App& app, Run& chosen) {
    add_command<Common>(
        app, chosen, "mark", "Remember this moment, for 'allocations --since-mark'",
        [](CLI::App& command, Common& options) {
            command.add_flag("--json", options.json, "Print JSON, for scripts");
        },
        [](const Common& options) {
            const auto done = set_mark();
            if (!done) {
                complain(done.error().text);
                return 1;
            }
            if (options.json) {
                return print("{\"schema\": 1, \"monotonic_ns\": " + std::to_string(*done) + "}\n");
            }
            return print("Marked. 'ttmem allocations --since-mark' shows what is new from here on.\n");
        })
        ->footer(
            "The quick leak check: mark, let the program do one more step, and look what has\n"
            "stayed.\n\nExample:\n  ttmem mark && sleep 60 && ttmem allocations --since-mark --group-by "
            "name");
}

}  // namespace

void add_live(CLI::App& app, Run& chosen) {
    add_allocations(app, chosen);
    add_mark(app, chosen);
}

}  // namespace ttmem::cli
