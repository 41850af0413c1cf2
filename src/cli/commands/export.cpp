// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "access/direct_host.hpp"
#include "cli/commands/commands.hpp"
#include "cli/commands/export_html.hpp"
#include "exports/formats.hpp"
#include "exports/sources.hpp"
#include "view/text/format.hpp"

namespace ttmem::cli {

namespace {

struct ExportOptions {
    exports::ExportTarget target;
    std::optional<std::string> recording;
    std::optional<std::string> at;
    std::optional<uint64_t> max_allocations;

    uint64_t most() const { return max_allocations.value_or(exports::default_allocations(target.format)); }
};

base::Expected<exports::ExportModel> read_model(const ExportOptions& options) {
    if (options.recording) {
        return exports::read_recording(*options.recording, options.at, options.most());
    }
    const access::DirectHost host;
    exports::ExportModel model = exports::read_host(host.census(), host.origin().host);
    // The daemon alone knows those that report to it by its socket.
    if (const auto status = access::ask<view::Status>({.scan = false}, access::ReadMode::daemon_first)) {
        const auto& processes = status->view.figures.processes;
        const auto clients = std::count_if(processes.begin(), processes.end(), [](const auto& process) {
            return process.source == census::ProcessSource::classic;
        });
        if (clients != 0) {
            model.notes.push_back(view::format_count(static_cast<uint64_t>(clients), "client", "clients") +
                                  " of the classic protocol " +
                                  (clients == 1 ? "is left out: only the daemon knows it"
                                                : "are left out: only the daemon knows them"));
        }
    }
    return model;
}

int run_export(const ExportOptions& options) {
    if (options.target.format == exports::Format::html) {
        return options.recording ? export_html(options.target, *options.recording, options.at, options.most())
                                 : export_html(options.target);
    }
    const auto model = read_model(options);
    if (!model) {
        return fail(model.error());
    }
    const auto notes = exports::write_export(*model, options.target);
    if (!notes) {
        return fail(notes.error());
    }
    for (const auto& all : {model->notes, *notes}) {
        for (const std::string& note : all) {
            print_error(note);
        }
    }
    if (options.target.path != "-") {
        print_error("exported " + view::format_count(model->spans.size(), "allocation", "allocations") +
                    " of " + view::format_count(model->processes.size(), "process", "processes") + " into " +
                    options.target.path);
    }
    return 0;
}

std::vector<std::string> format_names() {
    const auto names = enum_names(exports::Format{});
    return {names.begin(), names.end()};
}

void declare_export_options(CLI::App& command, ExportOptions& options) {
    command
        .add_option_function<std::string>(
            "--format",
            [&options](const std::string& name) {
                options.target.format = *base::by_name<exports::Format>(name);
            },
            "csv, html, jsonl, memory-viz, perfetto, pprof or ttnn-visualizer")
        ->check(check_choice(format_names()))
        ->type_name("FORMAT")
        ->required();
    command.add_option("-o,--output", options.target.path, "The file or folder; - is standard output")
        ->type_name("OUT")
        ->required();
    command.add_flag("--force", options.target.force, "Replace what exists");
    CLI::Option* recording =
        command.add_option("--recording", options.recording, "Export a recording, not the living host")
            ->type_name("FILE");
    command.add_option("--at", options.at, "End there: +12.5s, 13:05, peak:dram, failure:1, mark:NAME")
        ->type_name("TIME")
        ->needs(recording);
    command
        .add_option("--max-allocations", options.max_allocations,
                    "Keep the last N that are freed (default: 1000000)")
        ->type_name("N")
        ->check(check_count)
        ->needs(recording);
}

}  // namespace

void add_export(CLI::App& app, Action& chosen) {
    add_command<ExportOptions>(app, chosen, "export", "Write allocations in the format of another program",
                               declare_export_options, run_export)
        ->footer(
            "A recording gives every allocation from its beginning to TIME or to its end,\n"
            "with failures and marks. The living host gives what is allocated now, of the\n"
            "processes that this user may read. The file is for this user only. What is left\n"
            "out is reported on standard error.\n\n"
            "  csv              a table for spreadsheets\n"
            "  html             the page with its data inside; needs no network\n"
            "  jsonl            one JSON object per line\n"
            "  memory-viz       a snapshot for pytorch.org/memory_viz; a name that ends in\n"
            "                   .pickle gives a pickle; the limit is 200000\n"
            "  perfetto         a trace for ui.perfetto.dev\n"
            "  pprof            a heap profile for 'go tool pprof' and speedscope\n"
            "  ttnn-visualizer  a folder with a report: peaks, marks, failures, the end\n\n"
            "Examples:\n"
            "  ttmem export --format csv -o -\n"
            "  ttmem export --format pprof -o memory.pb.gz\n"
            "  ttmem export --format html -o report.html\n"
            "  ttmem record -o run4.ttmem --seconds 0.2\n"
            "  ttmem export --format perfetto --recording run4.ttmem -o run.pftrace");
}

}  // namespace ttmem::cli
