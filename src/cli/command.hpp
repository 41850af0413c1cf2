// SPDX-License-Identifier: Apache-2.0
#pragma once

// What commands share. Each command has a file of its own in cli/commands/, which adds it to the command line.

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
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
    std::vector<std::string> columns;
    bool no_header = false;
    double watch_seconds = 0;  // 0: once
    access::ReadMode mode = access::ReadMode::daemon_first;
    std::optional<std::string> recording;  // a file in place of the living host
    std::optional<std::string> at;         // a moment of it; absent: its end
};

constexpr uint64_t kDefaultLimit = 50;
constexpr int kUsageError = 2;
constexpr int kNotFound = 4;  // no such device, process or post-mortem
constexpr int kUnknownCommand = 5;
constexpr int kSomethingGrew = 3;  // with --fail

void add_json_and_bytes(CLI::App& command, CommonOptions& options);
// --json, --bytes, --no-header, --color and --watch.
void add_list_options(CLI::App& command, CommonOptions& options);
void add_colour(CLI::App& command);
void add_watch(CLI::App& command, CommonOptions& options);
void add_direct(CLI::App& command, CommonOptions& options);
// --recording and --at.
void add_recording(CLI::App& command, CommonOptions& options);
// For commands that print tables.
void add_columns(CLI::App& command, CommonOptions& options);
CLI::Option* add_device(CLI::App& command, std::optional<std::string>& device);
// Several devices: -d 0 -d 3, -d 0,3 or -d 0-3.
CLI::Option* add_devices(CLI::App& command, std::vector<std::string>& devices);
CLI::Option* add_pid(CLI::App& command, std::optional<uint32_t>& pid);
CLI::Option* add_kinds(CLI::App& command, census::KindSet& kinds);
// The same in one text, as queries have it.
CLI::Option* add_device_list(CLI::App& command, std::optional<std::string>& devices);
CLI::Option* add_name(CLI::App& command, std::string& name);
// The default is the value of `limit`.
CLI::Option* add_limit(CLI::App& command, uint64_t& limit);

// Checks for CLI11: the problem with a value, or no text. CLI11 itself reads -1 as a large number, and clamps a number that is too
// large.
std::string check_number(const std::string& text);
std::function<std::string(const std::string&)> check_at_least(uint64_t least);
// A number of at least 1.
std::string check_count(const std::string& text);
// Milliseconds between two samples: from `least_ms` to an hour.
std::function<std::string(const std::string&)> check_interval(uint64_t least_ms);
// Seconds between two samples: from a tenth to an hour.
std::string check_seconds(const std::string& text);
// "8GiB", "8GB", "512M", "4096". KB, MB, GB and TB are powers of 1000; KiB and so on, and single letters, powers of 1024.
std::optional<uint64_t> parse_size(std::string_view text);
// One of a list of names. The problem lists them and suggests the nearest one.
std::function<std::string(const std::string&)> check_choice(std::vector<std::string> choices);

// The names of an enumeration, or of its first `count` values.
template <base::NamedEnum T>
std::vector<std::string> choices_of(size_t count = base::enum_size<T>()) {
    const auto names = enum_names(T{});
    return {names.begin(), names.begin() + static_cast<std::ptrdiff_t>(count)};
}

// " (did you mean 'status'?)", or no text if none of the choices is near.
std::string suggestion(const std::string& text, const std::vector<std::string>& choices);

// The number of the device with this name.
base::Expected<uint32_t> find_device_number(const std::string& name,
                                            access::ReadMode mode = access::ReadMode::daemon_first);

// The number of a device that may not exist: "3" or "/dev/tenstorrent/3".
std::optional<uint32_t> parse_device_number(const std::string& name);

// The same for a device that may not exist at the moment: then the name must be a number.
base::Expected<std::optional<uint32_t>> device_number(const std::optional<std::string>& name,
                                                      access::ReadMode mode = access::ReadMode::daemon_first);
base::Expected<census::DeviceIdSet> device_numbers(const std::vector<std::string>& names);

// Runs a command once, or repeatedly with --watch. With --recording it is answered from the recording.
int watch(const CommonOptions& options, const std::function<int()>& once);

// Adds a command with options of its own type: `declare` adds them, `run` gets them if the command line names the command.
template <class Options>
CLI::App* add_command(CLI::App& app, Action& chosen, const std::string& name, const std::string& about,
                      const std::function<void(CLI::App&, Options&)>& declare,
                      std::function<int(const Options&)> run) {
    CLI::App* command = app.add_subcommand(name, about);
    const auto options = std::make_shared<Options>();
    declare(*command, *options);
    command->callback([&chosen, options, run = std::move(run)] {
        if constexpr (std::is_base_of_v<CommonOptions, Options>) {
            chosen = [=] { return watch(*options, [=] { return run(*options); }); };
        } else {
            chosen = [=] { return run(*options); };
        }
    });
    return command;
}

// Prints an error and returns the exit code.
int fail(const std::string& problem);
int fail(const base::Error& error);

// What --no-header leaves of a screen: not the line about the host above a list. Tables leave out their titles themselves.
view::Text without_headline(const view::Text& text, const std::string& host);

enum class Paging : uint8_t { allowed, never };

// Prints a screen as the options want it: its columns, and with or without titles. `host` begins the line about the host. A
// column that no table has is a usage error.
int print_screen(const CommonOptions& options, const std::string& host,
                 const std::function<view::Text(const view::Style& style)>& as_text,
                 Paging paging = Paging::allowed);

// The host of a view. That of `why` is in its list of failures.
template <class View>
const std::string& host_of(const View& view) {
    if constexpr (requires { view.origin; }) {
        return view.origin.host;
    } else {
        return view.failures.origin.host;
    }
}

// Prints a view, as JSON or by `as_text`, and its notices.
template <class View, class AsText>
int show(const base::Expected<access::Reply<View>>& reply, const CommonOptions& options,
         const AsText& as_text) {
    if (!reply) {
        return fail(reply.error());
    }
    for (const std::string& notice : reply->notices) {
        print_error(notice);
    }
    if (options.json) {
        return print(is_repeating() ? view::JsonForm<View>::write_line(reply->view) + "\n"
                                    : view::to_json(reply->view));
    }
    return print_screen(options, host_of(reply->view),
                        [&](const view::Style& style) { return as_text(reply->view, style); });
}

}  // namespace ttmem::cli
