// SPDX-License-Identifier: Apache-2.0
#pragma once

// What commands share. Each command has a file of its own in cli/commands/, which adds it to the command line.

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "access/access.hpp"
#include "cli/output.hpp"
#include "view/json/json.hpp"

namespace ttmem::cli {

// Runs a command after the whole command line has been parsed. Returns the exit code.
using Action = std::function<int()>;

struct CommonOptions {
    bool json = false;
    bool bytes = false;
    access::ReadMode mode = access::ReadMode::daemon_first;
};

constexpr uint64_t kDefaultLimit = 50;
constexpr int kUsageError = 2;

void add_json_and_bytes(CLI::App& command, CommonOptions& options);
void add_direct(CLI::App& command, CommonOptions& options);
CLI::Option* add_device(CLI::App& command, std::optional<std::string>& device);
CLI::Option* add_pid(CLI::App& command, std::optional<uint32_t>& pid);
CLI::Option* add_kind(CLI::App& command, std::optional<census::Kind>& kind);
// The default is the value of `limit`.
CLI::Option* add_limit(CLI::App& command, uint64_t& limit);

// Checks for CLI11: the problem with a value, or no text. CLI11 itself reads -1 as a large number, and clamps a number that is too
// large.
std::string check_number(const std::string& text);
// Milliseconds between two samples: from `least_ms` to an hour.
std::function<std::string(const std::string&)> check_interval(uint64_t least_ms);
// One of a list of names. The problem lists them and suggests the nearest one.
std::function<std::string(const std::string&)> check_choice(std::vector<std::string> choices);

// " (did you mean 'status'?)", or no text if none of the choices is near.
std::string suggestion(const std::string& text, const std::vector<std::string>& choices);

// The number of the device with this name.
base::Expected<uint32_t> find_device_number(const std::string& name,
                                            access::ReadMode mode = access::ReadMode::daemon_first);

// The same for a device that may not exist at the moment: then the name must be a number.
base::Expected<std::optional<uint32_t>> device_number(const std::optional<std::string>& name,
                                                      access::ReadMode mode = access::ReadMode::daemon_first);

// Adds a command with options of its own type: `declare` adds them, `run` gets them if the command line names the command.
template <class Options>
CLI::App* add_command(CLI::App& app, Action& chosen, const std::string& name, const std::string& about,
                      const std::function<void(CLI::App&, Options&)>& declare,
                      std::function<int(const Options&)> run) {
    CLI::App* command = app.add_subcommand(name, about);
    const auto options = std::make_shared<Options>();
    declare(*command, *options);
    command->callback([&chosen, options, run = std::move(run)] { chosen = [=] { return run(*options); }; });
    return command;
}

// Prints an error and returns the exit code.
int fail(const std::string& problem);

// Prints a view, as JSON or by `as_text`, and its notices.
template <class View, class AsText>
int show(const base::Expected<access::Reply<View>>& reply, const CommonOptions& options,
         const AsText& as_text) {
    if (!reply) {
        return fail(reply.error().text);
    }
    for (const std::string& notice : reply->notices) {
        print_error(notice);
    }
    return options.json ? print(view::to_json(reply->view))
                        : print(as_text(reply->view, style_of_output(options.bytes)));
}

}  // namespace ttmem::cli
