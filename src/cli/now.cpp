// SPDX-License-Identifier: Apache-2.0

// What is there now: devices, processes, programs, and who is where.

#include <algorithm>

#include "cli/command.hpp"
#include "view/devices.hpp"
#include "view/text.hpp"

namespace ttmem::cli {

namespace {

struct NowOptions : Common {
    std::optional<std::string> device;
};

void declare_now(CLI::App& command, NowOptions& options) {
    add_json_and_bytes(command, options);
    add_direct(command, options);
    add_device(command, options.device);
}

template <class AsText>
int show_now(const NowOptions& options, const AsText& as_text) {
    auto answer = access::status(options.way);
    if (answer && options.device) {
        if (auto problem = view::keep_devices(answer->view, {*options.device})) {
            complain(*problem);
            return 1;
        }
    }
    return show(answer, options, as_text);
}

struct ProgramOptions : Common {
    census::ProgramQuery query{.limit = kDefaultLimit};
};

struct MapOptions : Common {
    std::optional<std::string> device;
    census::MapQuery query{.limit = kDefaultLimit};
};

void add_status(CLI::App& app, Run& chosen) {
    add_command<NowOptions>(app, chosen, "status", "What is in use of each device (the default)", declare_now,
                            [](const NowOptions& options) { return show_now(options, view::status_text); })
        ->footer(
            "DRAM, and the L1 of the fullest core: circular buffers of any one program plus\n"
            "L1 buffers; HEADROOM is what lies between the two. Then what the driver says,\n"
            "and every kind: FREE/BANK is the largest free block of a bank, and a PEAK with\n"
            ">= is a lower bound.\n\n"
            "Examples:\n"
            "  ttmem status --device 0\n"
            "  ttmem status --json | jq '.devices[].memory.dram.used'");
}

void add_ps(CLI::App& app, Run& chosen) {
    add_command<NowOptions>(app, chosen, "ps", "What each process holds, by device and kind", declare_now,
                            [](const NowOptions& options) { return show_now(options, view::ps_text); })
        ->footer(
            "A process is untracked if it has a device open and reports nothing.\n\n"
            "Example:\n  ttmem ps --bytes");
}

void add_programs(CLI::App& app, Run& chosen) {
    add_command<ProgramOptions>(
        app, chosen, "programs", "Circular buffers and kernels of each program",
        [](CLI::App& command, ProgramOptions& options) {
            add_json_and_bytes(command, options);
            add_direct(command, options);
            add_device(command, options.query.device);
            add_pid(command, options.query.pid);
            command.add_option("--name", options.query.name, "Only with this text in a name")
                ->type_name("TEXT");
            add_limit(command, options.query.limit);
        },
        [](const ProgramOptions& options) {
            return show(access::programs(options.query, options.way), options, view::programs_text);
        })
        ->footer("Example:\n  ttmem programs --device 0 --top 10");
}

void add_map(CLI::App& app, Run& chosen) {
    add_command<MapOptions>(
        app, chosen, "map", "Who is where in a bank of a device, and what is free between",
        [](CLI::App& command, MapOptions& options) {
            add_json_and_bytes(command, options);
            add_direct(command, options);
            add_device(command, options.device)->required();
            add_kind(command, options.query.kind);
            add_pid(command, options.query.pid);
            add_limit(command, options.query.limit);
        },
        [](const MapOptions& options) {
            census::MapQuery query = options.query;
            query.device = *options.device;
            query.limit = options.json ? options.query.limit : 0;  // the picture is of all, the table of some
            return show(access::map(query, options.way), options,
                        [&](const view::MapView& map, const view::Style& style) {
                            return view::map_text(map, style, options.query.limit);
                        });
        })
        ->footer("Example:\n  ttmem map --device 0 --kind l1 --limit 0");
}

}  // namespace

void add_now(CLI::App& app, Run& chosen) {
    add_status(app, chosen);
    add_ps(app, chosen);
    add_programs(app, chosen);
    add_map(app, chosen);
}

}  // namespace ttmem::cli
