// SPDX-License-Identifier: Apache-2.0
#include "daemon/options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <sstream>

#include "base/runtime_directory.hpp"
#include "daemon/config.hpp"
#include "daemon/http/query.hpp"

namespace ttmem::daemon {

using base::Error;

namespace {

constexpr int kUsageError = 2;
constexpr uint64_t kMostFlightHours = 10 * 365 * 24;
constexpr uint64_t kMostFlightBytes = uint64_t{1} << 50;  // a negative number on the command line is more
constexpr char kOldServer[] = "allocation_server_poc";
constexpr char kClassicSocket[] = "/tmp/tt_allocation_server.sock";

const std::map<std::string, EventLogLevel> kLogLevels = {
    {"off", EventLogLevel::off}, {"summary", EventLogLevel::summary}, {"all", EventLogLevel::all}};

base::Expected<std::string> read_file(const std::string& path) {
    std::ifstream file(path);
    std::ostringstream text;
    // A folder opens, but cannot be read.
    if (!file.is_open() || (file.peek() != std::ifstream::traits_type::eof() && !(text << file.rdbuf())) ||
        file.bad()) {
        return base::error(Error::Code::failed,
                           "can't read the configuration " + path + ": " + std::strerror(errno));
    }
    return text.str();
}

std::string describe_unexpected(const std::vector<std::string>& arguments) {
    const auto option = std::find_if(arguments.begin(), arguments.end(),
                                     [](const std::string& text) { return text.starts_with('-'); });
    const std::string help = " (ttmemd --help lists the options)";
    return option != arguments.end() ? "unknown option " + *option + help
           : arguments.empty()       ? "unexpected argument" + help
                                     : "unexpected argument '" + arguments.front() + "'" + help;
}

ParsedOptions refusal(const std::string& text) {
    std::cerr << "ttmemd: " << text << "\n";
    return {std::nullopt, kUsageError};
}

}  // namespace

bool ListenAddress::is_loopback() const {
    boost::system::error_code error;
    return boost::asio::ip::make_address(host, error).is_loopback() && !error;
}

std::string ListenAddress::text() const {
    const bool has_colons = host.find(':') != std::string::npos;
    return (has_colons ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

base::Expected<ListenAddress> parse_address(const std::string& text) {
    const size_t colon = std::min(text.rfind(':'), text.size());
    std::string host = text.substr(0, colon);
    const uint64_t port =
        http::parse_number(text.substr(std::min(colon + 1, text.size()))).value_or(UINT64_MAX);
    if (host.starts_with('[') && host.ends_with(']')) {
        host = host.substr(1, host.size() - 2);
    }
    host = host == "localhost" ? "127.0.0.1" : host;
    boost::system::error_code error;
    boost::asio::ip::make_address(host, error);
    if (error || port > UINT16_MAX) {
        return base::error(
            Error::Code::refused,
            "'" + text + "' is not an address to listen on (valid: 127.0.0.1:9479, [::1]:9479, none)");
    }
    return ListenAddress{host, static_cast<uint16_t>(port)};
}

base::Expected<void> set_listen(DaemonOptions& options, const std::string& text) {
    options.is_listen_explicit = true;
    if (text == "none") {
        options.listen.reset();
        return {};
    }
    auto address = parse_address(text);
    if (!address) {
        return tl::unexpected(address.error());
    }
    options.listen = std::move(*address);
    return {};
}

base::Expected<void> set_log_events(DaemonOptions& options, const std::string& text) {
    const auto level = kLogLevels.find(text);
    if (level == kLogLevels.end()) {
        return base::error(Error::Code::refused,
                           "'" + text + "' is not a level of the event log (valid: off, summary, all)");
    }
    options.log_events = level->second;
    return {};
}

base::Expected<void> check_flight(const FlightSettings& flight) {
    if (flight.limits.hours < 1 || flight.limits.hours > kMostFlightHours) {
        return base::error(Error::Code::refused,
                           "hours of the flight recorder: must be 1 to " + std::to_string(kMostFlightHours));
    }
    if (flight.limits.bytes < recording::kLeastFlightBytes || flight.limits.bytes > kMostFlightBytes) {
        return base::error(Error::Code::refused, "bytes of the flight recorder: must be " +
                                                     std::to_string(recording::kLeastFlightBytes) +
                                                     " (16MiB) to 1PiB");
    }
    return {};
}

std::string classic_wire_path(const DaemonOptions& options) {
    if (!options.classic_wire.empty()) {
        return options.classic_wire == "none" ? "" : options.classic_wire;
    }
    const char* named = base::runtime_directories().named;
    const std::string directory = !options.runtime_dir.empty() ? options.runtime_dir
                                  : named != nullptr           ? named
                                                               : "";
    return directory.empty() ? kClassicSocket : directory + "/classic.sock";
}

ParsedOptions parse_options(int argument_count, char** arguments) {
    CLI::App app(
        "ttmemd tracks device memory on this host and serves the figures to ttmem, HTTP clients and "
        "Prometheus. "
        "Runs in the foreground until SIGTERM or Ctrl-C.",
        "ttmemd");
    app.footer(
        "Examples:\n"
        "  ttmemd                                   log processes, failures and gaps to standard output\n"
        "  ttmemd --log-events all > out.log        log every allocation and free, one line per device\n"
        "  ttmemd --listen none --quiet             Unix socket only, no output\n"
        "  ttmemd --listen 0.0.0.0:9479 --token-file /etc/ttmem/token\n"
        "To read the figures: ttmem status, ttmem top, ttmem allocations.");
    app.set_version_flag("-V,--version", "ttmemd " TTMEM_VERSION);
    std::string config;
    std::string runtime_dir;
    std::string listen;
    std::string token_file;
    std::string classic_wire;
    std::string log_events;
    std::string record;
    std::optional<uint64_t> record_hours;
    std::optional<uint64_t> record_bytes;
    bool quiet = false;
    app.add_option("--config", config, "read options from a TOML file; the command line takes precedence")
        ->type_name("FILE");
    app.add_option(
           "--runtime-dir", runtime_dir,
           "directory of the sockets [$TTMEM_RUNTIME_DIR, else /run/ttmem as root, $XDG_RUNTIME_DIR/ttmem or "
           "/tmp/ttmem-UID]")
        ->type_name("DIR");
    app.add_option("--listen", listen, "serve HTTP on this TCP address too, or 'none' [127.0.0.1:9479]")
        ->type_name("ADDR:PORT");
    app.add_option("--token-file", token_file,
                   "TCP clients that send this token see all details; others see totals")
        ->type_name("FILE");
    app.add_option("--classic-wire", classic_wire,
                   "socket for clients of the earlier allocation server, or 'none' "
                   "[/tmp/tt_allocation_server.sock, or classic.sock in an explicit runtime directory]")
        ->type_name("PATH");
    app.add_option(
           "--log-events", log_events,
           "off, summary (processes, failures, gaps) or all (every event, one line per device) [summary]")
        ->type_name("LEVEL");
    app.add_option("--record", record, "record all processes into this folder, the last hours of them")
        ->type_name("DIR");
    app.add_option("--record-hours", record_hours, "drop what is older [24]")->type_name("N");
    app.add_option("--record-bytes", record_bytes, "drop the oldest beyond this size [1GiB]")
        ->type_name("SIZE")
        ->transform(CLI::AsSizeValue(false));
    std::optional<uint64_t> history_bytes;
    std::optional<uint64_t> history_days;
    app.add_option("--history-bytes", history_bytes,
                   "size of the history that is kept on disk, through restarts; 0 keeps none [268435456]")
        ->type_name("BYTES");
    app.add_option("--history-days", history_days, "age up to which it is kept [30]")->type_name("DAYS");
    app.add_flag("-q,--quiet", quiet, "write nothing to standard output");
    try {
        app.parse(argument_count, arguments);
    } catch (const CLI::ExtrasError&) {
        return refusal(describe_unexpected(app.remaining()));
    } catch (const CLI::ParseError& problem) {
        return {std::nullopt, app.exit(problem, std::cout, std::cerr) == 0 ? 0 : kUsageError};
    }

    DaemonOptions options;
    if (argument_count > 0 && std::filesystem::path(arguments[0]).filename() == kOldServer) {
        options.log_events = EventLogLevel::all;
    }
    if (!config.empty()) {
        const auto text = read_file(config);
        if (!text) {
            return refusal(text.error().text);
        }
        if (const auto read = read_config(*text, config, options); !read) {
            return refusal(read.error().text);
        }
    }
    options.runtime_dir = runtime_dir.empty() ? options.runtime_dir : runtime_dir;
    options.token_file = token_file.empty() ? options.token_file : token_file;
    options.classic_wire = classic_wire.empty() ? options.classic_wire : classic_wire;
    options.quiet = options.quiet || quiet;
    options.flight.folder = record.empty() ? options.flight.folder : record;
    options.flight.limits.hours = record_hours.value_or(options.flight.limits.hours);
    options.flight.limits.bytes = record_bytes.value_or(options.flight.limits.bytes);
    if (const auto checked = check_flight(options.flight); !checked) {
        return refusal(checked.error().text);
    }
    options.history.bytes = history_bytes.value_or(options.history.bytes);
    options.history.days = history_days.value_or(options.history.days);
    if (const auto checked = check_history(options.history); !checked) {
        return refusal(checked.error().text);
    }
    if (!listen.empty()) {
        if (const auto set = set_listen(options, listen); !set) {
            return refusal(set.error().text);
        }
    }
    if (!log_events.empty()) {
        if (const auto set = set_log_events(options, log_events); !set) {
            return refusal(set.error().text);
        }
    }
    if (options.listen && !options.listen->is_loopback() && options.token_file.empty()) {
        return refusal(
            "listening on " + options.listen->text() +
            " serves this host's figures to the network: add --token-file, or listen on 127.0.0.1");
    }
    return {std::move(options), 0};
}

}  // namespace ttmem::daemon
