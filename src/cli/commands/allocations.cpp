// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/commands.hpp"
#include "cli/mark.hpp"
#include "view/text/format.hpp"
#include "view/text/screens.hpp"

namespace ttmem::cli {

namespace {

struct AllocationOptions : CommonOptions {
    view::AllocationQuery query{.limit = kDefaultLimit};
    std::optional<census::GroupBy> group;
    uint32_t scope_depth = 1;
    bool since_mark = false;
};

// "process" is the name on the command line, "pid" the name in a view.
std::optional<census::GroupBy> group_of(const std::string& name) {
    return base::by_name<census::GroupBy>(name == "process" ? "pid" : name);
}

void declare_order(CLI::App& command, AllocationOptions& options) {
    view::AllocationQuery& query = options.query;
    CLI::Option* sort =
        command
            .add_option_function<std::string>(
                "--sort",
                [&query](const std::string& name) { query.sort = *base::by_name<census::Sort>(name); },
                "used (the default), requested, age, address or name")
            ->check(check_choice({"used", "requested", "age", "address", "name"}))
            ->type_name("ORDER");
    CLI::Option* cursor = command
                              .add_option_function<std::string>(
                                  "--cursor", [&query](const std::string& text) { query.cursor = text; },
                                  "Continue after the previous page")
                              ->type_name("TEXT");
    CLI::Option* group =
        command
            .add_option_function<std::string>(
                "--group-by,--group", [&options](const std::string& name) { options.group = group_of(name); },
                "Sums by name, scope, kind, process, device or age (and more)")
            ->check(check_choice(
                {"name", "scope", "kind", "process", "pid", "device", "set", "thread", "owner", "age"}))
            ->type_name("BY")
            ->excludes(cursor)
            ->excludes(sort);
    command.add_option("--depth", options.scope_depth, "Parts of a name that make a scope (default: 1)")
        ->check(check_number)
        ->type_name("N")
        ->needs(group);
}

void declare_allocation_options(CLI::App& command, AllocationOptions& options) {
    add_list_options(command, options);
    add_direct(command, options);
    add_recording(command, options);
    add_columns(command, options);
    add_device_list(command, options.query.device);
    add_pid(command, options.query.pid);
    add_kinds(command, options.query.kind);
    add_name(command, options.query.name);
    command.add_flag("--since-mark", options.since_mark, "Only allocations after 'ttmem mark'")
        ->excludes(command.get_option("--recording"));
    add_limit(command, options.query.limit);
    declare_order(command, options);
}

int show_allocations(const AllocationOptions& options) {
    view::AllocationQuery query = options.query;
    if (options.since_mark) {
        const auto mark = read_mark();
        if (!mark) {
            return fail(mark.error());
        }
        query.since = mark->monotonic_ns;
        if (!options.json) {
            print("Since the mark, " + view::format_age(mark->age_ns) + " ago:\n\n");
        }
    }
    if (!options.group) {
        return show(access::ask<view::Allocations>(query, options.mode), options, view::allocations_text);
    }
    const view::GroupQuery groups{.device = query.device,
                                  .pid = query.pid,
                                  .kind = query.kind,
                                  .name = query.name,
                                  .since = query.since,
                                  .limit = query.limit,
                                  .group = *options.group,
                                  .scope_depth = options.scope_depth};
    return show(access::ask<view::Groups>(groups, options.mode), options, view::groups_text);
}

}  // namespace

void add_allocations(CLI::App& app, Action& chosen) {
    add_command<AllocationOptions>(app, chosen, "allocations", "Live allocations, largest first",
                                   declare_allocation_options, show_allocations)
        ->footer(
            "A name matches if it contains the text (case matters), as a whole if the text is\n"
            "a glob with * or ?, or by a regular expression between slashes. Bytes are per\n"
            "device; those of groups are over all devices (SUM), or on the device of\n"
            "--device. A scope is the beginning of a name: decoder.3 of\n"
            "decoder.3/ttnn::matmul, or one part more with --depth 2. Groups may also be by\n"
            "set, thread and owner (the number that the process gave), and are sorted by\n"
            "DRAM, then by L1 and the other kinds. A page ends with the cursor of the next\n"
            "page, which needs the same filters and the same --sort.\n\n"
            "Examples:\n"
            "  ttmem allocations --device 0 --kind dram --top 10\n"
            "  ttmem allocations --name kv_cache --sort age\n"
            "  ttmem allocations --name 'decoder.*/kv?' --kind dram,l1 -d 0 -d 1\n"
            "  ttmem allocations --group-by scope\n"
            "  ttmem mark; sleep 60; ttmem allocations --since-mark --group-by name");
}

}  // namespace ttmem::cli
