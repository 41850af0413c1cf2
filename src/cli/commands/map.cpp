// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/commands.hpp"
#include "view/text/screens.hpp"

namespace ttmem::cli {

namespace {

struct MapOptions : CommonOptions {
    std::optional<std::string> device;
    census::MapQuery query{.limit = kDefaultLimit};
};

std::string check_core(const std::string& text) {
    return census::parse_core(text) ? "" : "'" + text + "': must be two numbers, such as 3,4";
}

void declare_map_options(CLI::App& command, MapOptions& options) {
    add_list_options(command, options);
    add_direct(command, options);
    add_recording(command, options);
    add_columns(command, options);
    add_device_list(command, options.device)->required();
    add_kinds(command, options.query.kind);
    command
        .add_option("--core", options.query.core,
                    "L1, or circular buffers, of this core (default: the fullest)")
        ->check(check_core)
        ->type_name("X,Y");
    add_pid(command, options.query.pid);
    add_limit(command, options.query.limit);
}

int show_map(const MapOptions& options) {
    census::MapQuery query = options.query;
    query.device = *options.device;
    // The picture needs all blocks; only the table is limited. With circular buffers, the number of maps is.
    const bool is_of_programs = query.kind == census::KindSet(census::Kind::cb);
    query.limit = options.json || is_of_programs ? options.query.limit : 0;
    return show(access::ask<view::Map>(query, options.mode), options,
                [&](const view::MapView& map, const view::Style& style) {
                    return view::map_text(map, style, is_of_programs ? 0 : options.query.limit);
                });
}

}  // namespace

void add_map(CLI::App& app, Action& chosen) {
    add_command<MapOptions>(app, chosen, "map", "Used and free addresses in the banks of devices",
                            declare_map_options, show_map)
        ->footer(
            "A map of L1 shows what circular buffers occupy on one core; they are never free.\n"
            "--kind cb shows one map per program. 'ttmem cores' lists the cores. Several\n"
            "devices follow one after another.\n\n"
            "Examples:\n"
            "  ttmem map --device 0 --kind dram --limit 0\n"
            "  ttmem map --device 0 --core 3,4\n"
            "  ttmem map --device 0 --kind cb\n"
            "  ttmem map --device 0,1 --kind dram,l1");
}

}  // namespace ttmem::cli
