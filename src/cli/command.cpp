// SPDX-License-Identifier: Apache-2.0
#include "cli/command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "access/recorded_host.hpp"
#include "base/name_pattern.hpp"
#include "base/nearest.hpp"
#include "view/model/devices.hpp"

namespace ttmem::cli {

namespace {

std::optional<uint64_t> parse_number(const std::string& text) {
    uint64_t number = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool is_number = problem == std::errc() && end == text.data() + text.size();
    return is_number ? std::optional(number) : std::nullopt;
}

}  // namespace

std::string check_number(const std::string& text) {
    return parse_number(text) ? "" : "'" + text + "': must be 0 or greater";
}

std::function<std::string(const std::string&)> check_at_least(uint64_t least) {
    return [least](const std::string& text) {
        const auto number = parse_number(text);
        return number && *number >= least ? std::string()
                                          : fmt::format("'{}': must be {} or greater", text, least);
    };
}

std::string check_count(const std::string& text) { return check_at_least(1)(text); }

std::function<std::string(const std::string&)> check_interval(uint64_t least_ms) {
    static constexpr uint64_t kLongestMs = 3'600'000;
    return [least_ms](const std::string& text) {
        const auto number = parse_number(text);
        const bool is_good = number && *number >= least_ms && *number <= kLongestMs;
        return is_good ? std::string()
                       : fmt::format("'{}': must be {} to {} milliseconds", text, least_ms, kLongestMs);
    };
}

std::string check_seconds(const std::string& text) {
    double seconds = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), seconds);
    const bool is_good =
        problem == std::errc() && end == text.data() + text.size() && seconds >= 0.1 && seconds <= 3600;
    return is_good ? "" : "'" + text + "': must be 0.1 to 3600 seconds";
}

std::string suggestion(const std::string& text, const std::vector<std::string>& choices) {
    const auto near = base::nearest(text, choices);
    return near ? fmt::format(" (did you mean '{}'?)", *near) : "";
}

std::optional<uint64_t> parse_size(std::string_view text) {
    uint64_t number = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (problem != std::errc()) {
        return std::nullopt;
    }
    std::string_view unit(end, static_cast<size_t>(text.data() + text.size() - end));
    constexpr std::string_view kLetters = "KMGT";
    const size_t power = unit.empty() ? std::string_view::npos : kLetters.find(unit.front());
    unit.remove_prefix(power == std::string_view::npos ? 0 : 1);
    const bool is_bytes = power == std::string_view::npos && (unit.empty() || unit == "B");
    if (!is_bytes && (power == std::string_view::npos || (!unit.empty() && unit != "B" && unit != "iB"))) {
        return std::nullopt;
    }
    uint64_t factor = 1;
    for (size_t i = 0; !is_bytes && i <= power; ++i) {
        factor *= unit == "B" ? 1000u : 1024u;
    }
    return number > UINT64_MAX / factor ? std::nullopt : std::optional(number * factor);
}

std::function<std::string(const std::string&)> check_choice(std::vector<std::string> choices) {
    return [choices = std::move(choices)](const std::string& text) {
        if (std::find(choices.begin(), choices.end(), text) != choices.end()) {
            return std::string();
        }
        return fmt::format("'{}': must be one of {}{}", text, fmt::join(choices, ", "),
                           suggestion(text, choices));
    };
}

void add_json_and_bytes(CLI::App& command, CommonOptions& options) {
    command.add_flag("--json", options.json, "Print JSON, for scripts");
    command.add_flag("--bytes", options.bytes, "Print plain bytes instead of KiB, MiB, GiB");
}

void add_list_options(CLI::App& command, CommonOptions& options) {
    add_json_and_bytes(command, options);
    command.add_flag("--no-header", options.no_header, "Leave out headings and the titles of columns");
    add_colour(command);
    add_watch(command, options);
}

void add_colour(CLI::App& command) {
    command
        .add_option_function<std::string>(
            "--color,--colour",
            [](const std::string& when) {
                choose_colour(when == "always"  ? ColourChoice::always
                              : when == "never" ? ColourChoice::never
                                                : ColourChoice::automatic);
            },
            "auto (on a terminal), always or never")
        ->check(check_choice({"auto", "always", "never"}))
        ->type_name("WHEN");
}

void add_watch(CLI::App& command, CommonOptions& options) {
    command.add_option("-l,--watch", options.watch_seconds, "Repeat every N seconds, until Ctrl-C")
        ->check(check_seconds)
        ->type_name("N");
}

void add_recording(CLI::App& command, CommonOptions& options) {
    CLI::Option* const recording =
        command.add_option("--recording", options.recording, "Show a moment of a recording ('ttmem record')")
            ->type_name("FILE");
    command.add_option("--at", options.at, "Which: +12.5s, 13:05, peak:dram, failure:1, mark:NAME")
        ->type_name("TIME")
        ->needs(recording);
    if (CLI::Option* const repeated = command.get_option_no_throw("--watch")) {
        recording->excludes(repeated);
    }
}

int watch(const CommonOptions& options, const std::function<int()>& once) {
    if (options.recording) {
        auto host = access::RecordedHost::open(*options.recording, options.at);
        if (!host) {
            return fail(host.error());
        }
        access::answer_from(std::move(*host));
    }
    if (options.watch_seconds <= 0) {
        return once();
    }
    const auto interval = std::chrono::milliseconds(std::llround(options.watch_seconds * 1000));
    return repeat({.interval = interval, .json = options.json}, once);
}

view::Text without_headline(const view::Text& text, const std::string& host) {
    const std::vector<view::Line>& lines = text.lines();
    const bool has_headline = !lines.empty() && !lines[0].spans().empty() &&
                              lines[0].spans()[0] == view::Span{host, view::Tone::title};
    size_t first = has_headline ? 1 : 0;
    first += has_headline && first < lines.size() && lines[first].plain().empty() ? 1u : 0u;
    view::Text rest;
    for (size_t i = first; i < lines.size(); ++i) {
        rest.add(lines[i]);
    }
    return rest;
}

void add_direct(CLI::App& command, CommonOptions& options) {
    command.add_flag_callback(
        "--direct", [&options] { options.mode = access::ReadMode::direct; }, "Bypass the daemon");
}

void add_columns(CLI::App& command, CommonOptions& options) {
    command
        .add_option_function<std::string>(
            "--columns",
            [&options](const std::string& text) {
                for (size_t start = 0; start <= text.size();) {
                    const size_t end = std::min(text.find(',', start), text.size());
                    std::string name = text.substr(start, end - start);
                    std::transform(name.begin(), name.end(), name.begin(), [](char c) {
                        return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
                    });
                    if (!name.empty()) {
                        options.columns.push_back(std::move(name));
                    }
                    start = end + 1;
                }
            },
            "Only these columns, in this order")
        ->type_name("NAME,...");
}

CLI::Option* add_device(CLI::App& command, std::optional<std::string>& device) {
    return command
        .add_option_function<std::string>(
            "-d,-i,--device", [&device](const std::string& text) { device = text; },
            "Only this device: number, node, bus address or ASIC id")
        ->type_name("ID");
}

CLI::Option* add_devices(CLI::App& command, std::vector<std::string>& devices) {
    return command
        .add_option_function<std::vector<std::string>>(
            "-d,-i,--device",
            [&devices](const std::vector<std::string>& lists) {
                for (const std::string& list : lists) {
                    for (std::string& device : census::split_device_list(list)) {
                        devices.push_back(std::move(device));
                    }
                }
            },
            "Only these devices: number, node, bus address or ASIC id")
        ->expected(1)
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->type_name("ID");
}

base::Expected<uint32_t> find_device_number(const std::string& name, access::ReadMode mode) {
    const auto status = access::ask<view::Status>({.scan = false}, mode);
    if (!status) {
        return tl::unexpected(status.error());
    }
    const census::DeviceFigures* device = view::find_device(status->view, name);
    if (device == nullptr) {
        return base::error(base::Error::Code::not_found, view::no_such_device(name));
    }
    return device->id;
}

std::optional<uint32_t> parse_device_number(const std::string& name) {
    constexpr std::string_view kFolder = "/dev/tenstorrent/";
    const auto number = parse_number(name.starts_with(kFolder) ? name.substr(kFolder.size()) : name);
    return number && *number <= UINT32_MAX ? std::optional(static_cast<uint32_t>(*number)) : std::nullopt;
}

base::Expected<std::optional<uint32_t>> device_number(const std::optional<std::string>& name,
                                                      access::ReadMode mode) {
    if (!name) {
        return std::nullopt;
    }
    const auto found = find_device_number(*name, mode);
    if (found) {
        return *found;
    }
    const auto number = parse_device_number(*name);
    return number ? base::Expected<std::optional<uint32_t>>(number) : tl::unexpected(found.error());
}

base::Expected<census::DeviceIdSet> device_numbers(const std::vector<std::string>& names) {
    census::DeviceIdSet numbers;
    for (const std::string& name : names) {
        const auto number = device_number(name);
        if (!number) {
            return tl::unexpected(number.error());
        }
        numbers.add(**number);
    }
    return numbers;
}

CLI::Option* add_pid(CLI::App& command, std::optional<uint32_t>& pid) {
    return command
        .add_option_function<uint32_t>(
            "--pid", [&pid](uint32_t number) { pid = number; }, "Only this process")
        ->check(check_number)
        ->type_name("PID");
}

CLI::Option* add_kinds(CLI::App& command, census::KindSet& kinds) {
    return command
        .add_option_function<std::vector<std::string>>(
            "--kind",
            [&kinds](const std::vector<std::string>& names) {
                for (const std::string& name : names) {
                    kinds.add(*base::by_name<census::Kind>(name));
                }
            },
            "Only these kinds: dram, l1, l1_small, trace, cb, kernel")
        ->check(check_choice(choices_of<census::Kind>()))
        ->delimiter(',')
        ->expected(1)
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->type_name("KIND");
}

CLI::Option* add_device_list(CLI::App& command, std::optional<std::string>& devices) {
    return command
        .add_option_function<std::vector<std::string>>(
            "-d,-i,--device",
            [&devices](const std::vector<std::string>& names) {
                devices = fmt::format("{}", fmt::join(names, ","));
            },
            "Only these devices: number, node, bus address or ASIC id")
        ->expected(1)
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->type_name("ID");
}

CLI::Option* add_name(CLI::App& command, std::string& name) {
    return command.add_option("--name", name, "Only names with this text; or a glob*, or a /regex/")
        ->check([](const std::string& text) {
            const auto pattern = base::NamePattern::parse(text);
            return pattern ? std::string() : pattern.error().text;
        })
        ->type_name("TEXT");
}

CLI::Option* add_limit(CLI::App& command, uint64_t& limit) {
    return command
        .add_option("--limit,--top", limit, fmt::format("Maximum rows; 0 for all (default: {})", limit))
        ->check(check_number)
        ->type_name("N");
}

int print_screen(const CommonOptions& options, const std::string& host,
                 const std::function<view::Text(const view::Style& style)>& as_text, Paging paging) {
    view::ColumnChoice choice{options.columns, {}};
    view::Style style = style_of_output(options.bytes);
    style.columns = &choice;
    style.header = !options.no_header;
    view::Text text = as_text(style);
    if (const std::string name = choice.unknown(); !name.empty()) {
        print_error(fmt::format("--columns: '{}' is not a column: must be {}{}", name,
                                fmt::join(choice.offered, ", "), suggestion(name, choice.offered)));
        return kUsageError;
    }
    if (options.no_header) {
        text = without_headline(text, host);
    }
    return paging == Paging::allowed ? print(text) : print(render_ansi(text, wants_colour(STDOUT_FILENO)));
}

int fail(const std::string& problem) {
    print_error(problem);
    return 1;
}

int fail(const base::Error& error) {
    print_error(error.text);
    return error.code == base::Error::Code::not_found ? kNotFound : 1;
}

}  // namespace ttmem::cli
