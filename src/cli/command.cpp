// SPDX-License-Identifier: Apache-2.0
#include "cli/command.hpp"

#include <charconv>

#include "view/devices.hpp"

namespace ttmem::cli {

namespace {

const std::vector<std::string> kKinds = {"dram", "l1", "l1_small", "trace", "cb", "kernel", "system_memory"};

}  // namespace

std::string refuse_what_is_no_number(const std::string& text) {
    uint64_t number = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool is_number = problem == std::errc() && end == text.data() + text.size();
    return is_number ? "" : "'" + text + "' is no number from 0 up";
}

std::function<std::string(const std::string&)> refuse_what_is_no_interval(uint64_t least_ms) {
    constexpr uint64_t kLongestMs = 3'600'000;
    return [least_ms](const std::string& text) {
        uint64_t number = 0;
        std::from_chars(text.data(), text.data() + text.size(), number);
        const bool is_good =
            refuse_what_is_no_number(text).empty() && number >= least_ms && number <= kLongestMs;
        return is_good ? std::string()
                       : "'" + text + "' is no number of milliseconds from " + std::to_string(least_ms) +
                             " to " + std::to_string(kLongestMs);
    };
}

void add_json_and_bytes(CLI::App& command, Common& common) {
    command.add_flag("--json", common.json, "Print JSON: the view, for scripts");
    command.add_flag("--bytes", common.bytes, "Print plain bytes instead of KiB, MiB, GiB");
}

void add_direct(CLI::App& command, Common& common) {
    command.add_flag_callback(
        "--direct", [&common] { common.way = access::Way::direct; },
        "Look by itself, also where a daemon runs");
}

CLI::Option* add_device(CLI::App& command, std::optional<std::string>& device) {
    return command
        .add_option_function<std::string>(
            "-d,--device", [&device](const std::string& text) { device = text; },
            "Only this one: N, /dev/tenstorrent/N, bus address or ASIC id")
        ->type_name("ID");
}

base::Expected<uint32_t> number_of_device(const std::string& name, access::Way way) {
    const auto status = access::status(way);
    if (!status) {
        return tl::unexpected(status.error());
    }
    const census::DeviceFigures* device = view::find_device(status->view, name);
    if (device == nullptr) {
        return base::error(base::Error::Code::gone, view::no_such_device(name));
    }
    return device->id;
}

base::Expected<std::optional<uint32_t>> number_even_if_gone(const std::optional<std::string>& name,
                                                            access::Way way) {
    if (!name) {
        return std::nullopt;
    }
    const auto number = number_of_device(*name, way);
    if (number) {
        return *number;
    }
    uint32_t plain = 0;
    const auto [end, problem] = std::from_chars(name->data(), name->data() + name->size(), plain);
    if (problem == std::errc() && end == name->data() + name->size()) {
        return plain;
    }
    return tl::unexpected(number.error());
}

CLI::Option* add_pid(CLI::App& command, std::optional<uint32_t>& pid) {
    return command
        .add_option_function<uint32_t>(
            "--pid", [&pid](uint32_t number) { pid = number; }, "Only of this process")
        ->check(refuse_what_is_no_number)
        ->type_name("PID");
}

CLI::Option* add_kind(CLI::App& command, std::optional<census::Kind>& kind) {
    return command
        .add_option_function<std::string>(
            "--kind", [&kind](const std::string& name) { kind = census::kind_by_name(name); },
            "Only of this kind")
        ->check(CLI::IsMember(kKinds))
        ->type_name("KIND");
}

CLI::Option* add_limit(CLI::App& command, uint64_t& limit) {
    return command.add_option("--limit,--top", limit, "At most so many; 0 for all (default: 50)")
        ->check(refuse_what_is_no_number)
        ->type_name("N");
}

}  // namespace ttmem::cli
