// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/commands.hpp"
#include "view/text/screens.hpp"

namespace ttmem::cli {

namespace {

struct MapOptions : CommonOptions {
    std::optional<std::string> device;
    census::MapQuery query{.limit = kDefaultLimit};
};

void declare_map_options(CLI::App& command, MapOptions& options) {
    add_json_and_bytes(command, options);
    add_direct(command, options);
    add_device(command, options.device)->required();
    add_kind(command, options.query.kind);
    add_pid(command, options.query.pid);
    add_limit(command, options.query.limit);
}

int show_map(const MapOptions& options) {
    census::MapQuery query = options.query;
    query.device = *options.device;
    // The picture needs all blocks; only the table is limited.
    query.limit = options.json ? options.query.limit : 0;
    return show(access::ask<view::Map>(query, options.mode), options,
                [&](const view::MapView& map, const view::Style& style) {
                    return view::map_text(map, style, options.query.limit);
                });
}

}  // namespace

void add_map(CLI::App& app, Action& chosen) {
    add_command<MapOptions>(app, chosen, "map", "Used and free addresses in the banks of a device",
                            declare_map_options, show_map)
        ->footer("Example:\n  ttmem map --device 0 --kind l1 --limit 0");
}

}  // namespace ttmem::cli
