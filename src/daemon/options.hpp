// SPDX-License-Identifier: Apache-2.0
#pragma once

// Options of ttmemd from the command line, from a TOML file, and their defaults. The command line takes precedence.

#include <cstdint>
#include <optional>
#include <string>

#include "base/error.hpp"
#include "daemon/database/history_database.hpp"
#include "daemon/log/event_log.hpp"
#include "daemon/record/flight_settings.hpp"
#include "daemon/watch/post_mortems.hpp"

namespace ttmem::daemon {

struct ListenAddress {
    std::string host;  // numeric: "127.0.0.1", "::1"
    uint16_t port = 0;

    bool is_loopback() const;
    std::string text() const;  // "127.0.0.1:9479", "[::1]:9479"
    bool operator==(const ListenAddress&) const = default;
};

// "127.0.0.1:9479", "[::1]:0", "localhost:9479".
base::Expected<ListenAddress> parse_address(const std::string& text);

struct DaemonOptions {
    std::string runtime_dir;  // empty: the default
    std::optional<ListenAddress> listen = ListenAddress{"127.0.0.1", 9479};
    bool is_listen_explicit = false;
    std::string token_file;
    std::string classic_wire;  // the path of its socket, or "none"; empty: the default
    EventLogLevel log_events = EventLogLevel::summary;
    bool quiet = false;
    PostMortemCapacity post_mortems;
    FlightSettings flight;
    HistoryLimits history;
};

// Sets options from a TOML text. Errors name the line, and the file as `name`.
base::Expected<void> read_config(const std::string& text, const std::string& name, DaemonOptions& options);

// The socket of the classic wire; empty if it is not served. Existing clients know one fixed path. A daemon with an explicit
// runtime directory may be one of several, so it uses a socket in that directory and takes no clients from the others.
std::string classic_wire_path(const DaemonOptions& options);

struct ParsedOptions {
    std::optional<DaemonOptions> options;
    int exit_code = 0;  // without options: 0 after --help and --version, 2 after a usage error
};

// Under the name of the earlier allocation server (a link), the default is the log that that server wrote.
ParsedOptions parse_options(int argument_count, char** arguments);

}  // namespace ttmem::daemon
