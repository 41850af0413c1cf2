// SPDX-License-Identifier: Apache-2.0
#include "cli/command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "base/nearest.hpp"
#include "view/model/devices.hpp"

namespace ttmem::cli {

namespace {

const std::vector<std::string> kKinds = {"dram", "l1", "l1_small", "trace", "cb", "kernel", "system_memory"};

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

std::function<std::string(const std::string&)> check_interval(uint64_t least_ms) {
    static constexpr uint64_t kLongestMs = 3'600'000;
    return [least_ms](const std::string& text) {
        const auto number = parse_number(text);
        const bool is_good = number && *number >= least_ms && *number <= kLongestMs;
        return is_good ? std::string()
                       : fmt::format("'{}': must be {} to {} milliseconds", text, least_ms, kLongestMs);
    };
}

std::string suggestion(const std::string& text, const std::vector<std::string>& choices) {
    const auto near = base::nearest(text, choices);
    return near ? fmt::format(" (did you mean '{}'?)", *near) : "";
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

void add_direct(CLI::App& command, CommonOptions& options) {
    command.add_flag_callback(
        "--direct", [&options] { options.mode = access::ReadMode::direct; }, "Bypass the daemon");
}

CLI::Option* add_device(CLI::App& command, std::optional<std::string>& device) {
    return command
        .add_option_function<std::string>(
            "-d,--device", [&device](const std::string& text) { device = text; },
            "Only this device: number, node, bus address or ASIC id")
        ->type_name("ID");
}

base::Expected<uint32_t> find_device_number(const std::string& name, access::ReadMode mode) {
    const auto status = access::ask<view::Status>({.scan = false}, mode);
    if (!status) {
        return tl::unexpected(status.error());
    }
    const census::DeviceFigures* device = view::find_device(status->view, name);
    if (device == nullptr) {
        return base::error(base::Error::Code::gone, view::no_such_device(name));
    }
    return device->id;
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
    const auto number = parse_number(*name);
    if (number && *number <= UINT32_MAX) {
        return static_cast<uint32_t>(*number);
    }
    return tl::unexpected(found.error());
}

CLI::Option* add_pid(CLI::App& command, std::optional<uint32_t>& pid) {
    return command
        .add_option_function<uint32_t>(
            "--pid", [&pid](uint32_t number) { pid = number; }, "Only this process")
        ->check(check_number)
        ->type_name("PID");
}

CLI::Option* add_kind(CLI::App& command, std::optional<census::Kind>& kind) {
    return command
        .add_option_function<std::string>(
            "--kind", [&kind](const std::string& name) { kind = base::by_name<census::Kind>(name); },
            "Only this kind: dram, l1, l1_small, trace, cb, kernel")
        ->check(check_choice(kKinds))
        ->type_name("KIND");
}

CLI::Option* add_limit(CLI::App& command, uint64_t& limit) {
    return command
        .add_option("--limit,--top", limit, fmt::format("Maximum rows; 0 for all (default: {})", limit))
        ->check(check_number)
        ->type_name("N");
}

int fail(const std::string& problem) {
    print_error(problem);
    return 1;
}

}  // namespace ttmem::cli
