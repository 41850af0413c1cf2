// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include "cli/commands/commands.hpp"
#include "view/text/screens.hpp"

namespace ttmem::cli {

namespace {

struct WhyOptions : CommonOptions {
    census::FailureQuery query{.limit = 10};
    bool shows_fixes = false;
};

void declare_why_options(CLI::App& command, WhyOptions& options) {
    add_list_options(command, options);
    add_columns(command, options);
    add_direct(command, options);
    add_recording(command, options);
    add_device_list(command, options.query.device);
    add_pid(command, options.query.pid);
    command
        .add_option_function<std::string>(
            "--type",
            [&options](const std::string& name) {
                options.query.type = base::by_name<census::FailureType>(name);
            },
            "Only out_of_memory, cb_clash or unknown_free")
        ->check(check_choice(choices_of<census::FailureType>()))
        ->type_name("TYPE");
    command.add_flag("--fix", options.shows_fixes, "What would have made the requests fit");
    add_limit(command, options.query.limit);
}

int show_why(const WhyOptions& options) {
    census::FailureQuery query = options.query;
    query.brief = !options.json;  // people see the part of the map that matters
    const auto reply = access::ask<view::Failures>(query, options.mode);
    const int code = show(reply, options, options.shows_fixes ? view::fixes_text : view::why_text);
    if (const auto recorded = access::chosen_host();
        recorded && reply && reply->view.failures.total == 0 && !options.at) {
        // The processes that failed have often ended before the end of a recording.
        const std::vector<view::PastMoment> past = recorded->past(0).moments;
        if (std::any_of(past.begin(), past.end(), [](const view::PastMoment& moment) {
                return moment.type == view::PastMomentType::failure;
            })) {
            print_error(
                "this is the end of the recording; it has failures before: --at failure:1 shows the first");
        }
    }
    return code;
}

}  // namespace

void add_why(CLI::App& app, Action& chosen) {
    add_command<WhyOptions>(app, chosen, "why",
                            "What failed, how much was missing, and what holds the memory",
                            declare_why_options, show_why)
        ->footer(
            "Verdicts: too big (more than a bank has), not enough (more than is free),\n"
            "fragmented (enough is free, but not in one block), clash (circular buffers\n"
            "reach into L1 buffers). SHORT/BANK is what was missing in each bank: of the\n"
            "bank, of the free memory or of the largest block, by the verdict; of a clash\n"
            "the overlap. A process keeps the first and last few failures of each type.\n"
            "A card is what the bank held when the request failed. --fix lists what to free\n"
            "or move, other requests and settings; each was tried with the allocator's\n"
            "rules, and the request then fits.\n\n"
            "Example:\n  ttmem why --device 0\n  ttmem why --fix");
}

}  // namespace ttmem::cli
