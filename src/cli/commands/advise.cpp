// SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <iterator>

#include "cli/commands/commands.hpp"
#include "view/model/run.hpp"
#include "view/text/screens.hpp"

namespace ttmem::cli {

namespace {

struct AdviseOptions : CommonOptions {
    std::optional<std::string> report;
};

// The settings that the peaks and failures of a run suggest. A report has no ledger.
base::Expected<access::Reply<view::AdviceView>> advice_on_report(const std::string& path) {
    std::ifstream file(path);
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    const auto report = view::from_json<view::RunView>(text);
    if (!file || !report || report->command.empty()) {
        return base::error(base::Error::Code::failed, path + ": must be a report of 'ttmem run --report'");
    }
    view::AdviceView view;
    view.origin = report->origin;
    view.inexact = report->figures.inexact;
    view.processes = report->figures.processes.size();
    view.advice = view::advise_on(report->figures, report->failures, report->small_banks);
    return access::Reply<view::AdviceView>{std::move(view), {}};
}

int show_advice(const AdviseOptions& options) {
    return show(
        options.report ? advice_on_report(*options.report) : access::ask<view::Advice>({}, options.mode),
        options, view::advice_text);
}

}  // namespace

void add_advise(CLI::App& app, Action& chosen) {
    add_command<AdviseOptions>(
        app, chosen, "advise", "Settings that peaks and failures suggest to change",
        [](CLI::App& command, AdviseOptions& options) {
            add_json_and_bytes(command, options);
            add_colour(command);
            add_direct(command, options);
            add_recording(command, options);
            command.add_option("--report", options.report, "Advise on a run ('ttmem run --report')")
                ->type_name("FILE")
                ->excludes("--recording");
        },
        show_advice)
        ->footer(
            "Says which l1_small_size and trace_region_size would have sufficed, what is\n"
            "large and was held long, what causes fragmentation, and which chips differ. A\n"
            "value has a margin of 10 %.\n\n"
            "Examples:\n  ttmem advise\n  ttmem run --report memory.json -- python3 model.py\n  ttmem advise "
            "--report memory.json");
}

}  // namespace ttmem::cli
