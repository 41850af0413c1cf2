// SPDX-License-Identifier: Apache-2.0
#pragma once

// A command: what it is called, what it takes, what it does. Each folder-mate adds a few that belong together, and main.cpp
// runs the one that the command line names.

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "access/access.hpp"
#include "cli/output.hpp"
#include "view/json.hpp"

namespace ttmem::cli {

// What is to be done, once the whole command line has been read: the exit code.
using Run = std::function<int()>;

// What most commands take.
struct Common {
    bool json = false;
    bool bytes = false;
    access::Way way = access::Way::daemon_if_there;
};

constexpr uint64_t kDefaultLimit = 50;
constexpr int kUsageError = 2;

void add_json_and_bytes(CLI::App& command, Common& common);
void add_direct(CLI::App& command, Common& common);
CLI::Option* add_device(CLI::App& command, std::optional<std::string>& device);
CLI::Option* add_pid(CLI::App& command, std::optional<uint32_t>& pid);
CLI::Option* add_kind(CLI::App& command, std::optional<census::Kind>& kind);
CLI::Option* add_limit(CLI::App& command, uint64_t& limit);

// The number of the device that has this name, by what is there now.
base::Expected<uint32_t> number_of_device(const std::string& name,
                                          access::Way way = access::Way::daemon_if_there);

// The same where a device may be known no more, or not yet: then a number is enough.
base::Expected<std::optional<uint32_t>> number_even_if_gone(const std::optional<std::string>& name,
                                                            access::Way way = access::Way::daemon_if_there);

// CLI11 takes -1 for a large number, and too large a number for the largest.
std::string refuse_what_is_no_number(const std::string& text);

// For times between two looks: at least so many milliseconds, and at most an hour.
std::function<std::string(const std::string&)> refuse_what_is_no_interval(uint64_t least_ms);

// Adds a command with options of its own type: `declare` adds them, `run` gets them when the command was named.
template <class Options>
CLI::App* add_command(CLI::App& app, Run& chosen, const std::string& name, const std::string& about,
                      const std::function<void(CLI::App&, Options&)>& declare,
                      std::function<int(const Options&)> run) {
    CLI::App* command = app.add_subcommand(name, about);
    const auto options = std::make_shared<Options>();
    declare(*command, *options);
    command->callback([&chosen, options, run = std::move(run)] { chosen = [=] { return run(*options); }; });
    return command;
}

// Prints a view, as JSON or by `as_text`, and the notices that came with it.
template <class View, class AsText>
int show(const base::Expected<access::Answer<View>>& answer, const Common& common, const AsText& as_text) {
    if (!answer) {
        complain(answer.error().text);
        return 1;
    }
    for (const std::string& notice : answer->notices) {
        complain(notice);
    }
    return print(common.json ? view::to_json(answer->view)
                             : as_text(answer->view, style_of_output(common.bytes)));
}

void add_now(CLI::App& app, Run& chosen);      // status, ps, programs, map
void add_live(CLI::App& app, Run& chosen);     // allocations, mark
void add_past(CLI::App& app, Run& chosen);     // why, post-mortem, history, events
void add_watch(CLI::App& app, Run& chosen);    // monitor, query, self
void add_run(CLI::App& app, Run& chosen);      // run
void add_doctor(CLI::App& app, Run& chosen);   // doctor
void add_runtime(CLI::App& app, Run& chosen);  // demo, sim
void add_top(CLI::App& app, Run& chosen);      // top

}  // namespace ttmem::cli
