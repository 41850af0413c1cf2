// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "base/name_pattern.hpp"
#include "cli/commands/commands.hpp"
#include "cli/named_marks.hpp"
#include "view/text/format.hpp"
#include "view/text/screens.hpp"

namespace ttmem::cli {

namespace {

struct LeakOptions : CommonOptions {
    view::LeakQuery query{.limit = 0};
    uint64_t limit = kDefaultLimit;
    std::optional<std::string> suppressions;
    bool host_marks = false;
    bool fail = false;
};

// One pattern per line; what follows a # is a comment.
base::Expected<std::vector<base::NamePattern>> read_suppressions(const std::string& path) {
    std::ifstream file(path);
    if (!file) {
        return base::error(base::Error::Code::failed, "can't read the suppressions " + path);
    }
    std::vector<base::NamePattern> patterns;
    size_t number = 0;
    for (std::string line; std::getline(file, line);) {
        ++number;
        line.erase(std::min(line.size(), line.find('#')));
        line.erase(0, std::min(line.size(), line.find_first_not_of(" \t\r")));
        line.erase(line.find_last_not_of(" \t\r") + 1);
        if (line.empty()) {
            continue;
        }
        auto pattern = base::NamePattern::parse(line);
        if (!pattern) {
            return base::error(base::Error::Code::failed,
                               path + ", line " + std::to_string(number) + ": " + pattern.error().text);
        }
        patterns.push_back(std::move(*pattern));
    }
    return patterns;
}

base::Expected<access::Reply<view::LeakView>> leaks_of_host_marks(const LeakOptions& options) {
    const auto marks = read_named_marks(options.query.mark_name);
    if (!marks) {
        return tl::unexpected(marks.error());
    }
    if (marks->size() < options.query.marks) {
        return base::error(
            base::Error::Code::gone,
            fmt::format("there are {} and {} are needed (set more with 'ttmem mark NAME')",
                        view::format_count(marks->size(), "mark of the host", "marks of the host"),
                        options.query.marks));
    }
    auto view = view::leaks_between(*marks, options.query, view::read_here());
    if (!view) {
        return tl::unexpected(view.error());
    }
    return access::Reply<view::LeakView>{std::move(*view), {}};
}

// Where no process marks moments itself, marks of the host do, if there are enough.
base::Expected<access::Reply<view::LeakView>> ask_leaks(const LeakOptions& options) {
    if (options.host_marks) {
        return leaks_of_host_marks(options);
    }
    auto reply = access::ask<view::Leaks>(options.query, options.mode);
    if (!reply || reply->view.marked != 0 || reply->view.processes == 0 || options.recording) {
        return reply;
    }
    auto of_host = leaks_of_host_marks(options);
    if (!of_host || of_host->view.marked == 0) {
        return reply;
    }
    of_host->notices.emplace_back("no process has enough marks of its own: these are marks of the host");
    return of_host;
}

int show_leaks(const LeakOptions& options) {
    std::vector<base::NamePattern> suppressed;
    if (options.suppressions) {
        auto read = read_suppressions(*options.suppressions);
        if (!read) {
            return fail(read.error());
        }
        suppressed = std::move(*read);
    }
    auto reply = ask_leaks(options);
    bool is_growing = false;
    if (reply) {
        view::LeakView& view = reply->view;
        view.total -= std::erase_if(view.leaks, [&](const view::NameLeak& leak) {
            return std::any_of(suppressed.begin(), suppressed.end(),
                               [&](const base::NamePattern& one) { return one.matches(leak.name); });
        });
        is_growing = view.is_growing();
        if (options.limit != 0 && view.leaks.size() > options.limit) {
            view.leaks.resize(options.limit);
        }
    }
    const int code = show(reply, options, view::leaks_text);
    return code == 0 && options.fail && is_growing ? kSomethingGrew : code;
}

void declare_leak_options(CLI::App& command, LeakOptions& options) {
    add_list_options(command, options);
    add_direct(command, options);
    add_recording(command, options);
    add_columns(command, options);
    add_device_list(command, options.query.device);
    add_pid(command, options.query.pid);
    add_kinds(command, options.query.kind);
    add_name(command, options.query.name);
    command.add_option("--mark", options.query.mark_name, "Only marks with this name")->type_name("NAME");
    command.add_option("--marks", options.query.marks, "Marks in a row that a name must have grown at")
        ->type_name("N")
        ->capture_default_str()
        ->check(check_at_least(view::kLeastMarks));
    command
        .add_flag("--host-marks", options.host_marks,
                  "Marks of 'ttmem mark NAME' only; without it where no program set enough")
        ->excludes("--recording");
    command.add_option("--suppressions", options.suppressions, "Leave out names by a file of patterns")
        ->type_name("FILE");
    command.add_flag("--fail", options.fail, "Exit with 3 if something grows");
    add_limit(command, options.limit);
}

}  // namespace

void add_leaks(CLI::App& app, Action& chosen) {
    add_command<LeakOptions>(app, chosen, "leaks", "What grew from mark to mark, by name",
                             declare_leak_options, show_leaks)
        ->footer(
            "A program marks a moment with ttmem_mark(\"step\"), and 'ttmem mark step' marks it\n"
            "for all programs. A name grows if it held more\n"
            "at each of its last marks than at the one before. One that grew and stopped is a\n"
            "plateau. A file of suppressions has a pattern like that of --name per line.\n\n"
            "Examples:\n  ttmem leaks --kind dram\n  ttmem leaks --mark step --marks 5");
}

}  // namespace ttmem::cli
