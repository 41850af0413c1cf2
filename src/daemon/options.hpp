// SPDX-License-Identifier: Apache-2.0
#pragma once

// What ttmemd was told: by its command line, by a TOML file, and by neither. The command line wins.

#include <cstdint>
#include <optional>
#include <string>

#include "base/error.hpp"
#include "daemon/event_log.hpp"
#include "daemon/post_mortems.hpp"

namespace ttmem::daemon {

struct Address {
    std::string host;  // digits: "127.0.0.1", "::1"
    uint16_t port = 0;

    bool is_loopback() const;
    std::string text() const;  // "127.0.0.1:9479", "[::1]:9479"
    bool operator==(const Address&) const = default;
};

// "127.0.0.1:9479", "[::1]:0", "localhost:9479".
base::Expected<Address> parse_address(const std::string& text);

struct Options {
    std::string runtime_dir;  // empty: the standard one
    std::optional<Address> listen = Address{"127.0.0.1", 9479};
    bool listen_was_asked_for = false;
    std::string token_file;
    std::string classic_wire;  // the path of its socket, or "none"; empty: the standard one
    LogEvents log_events = LogEvents::summary;
    bool quiet = false;
    PostMortems::Limits post_mortems;
};

// Puts what a TOML text says into options; an error names the line. `name` is what errors call it.
base::Expected<void> read_config(const std::string& text, const std::string& name, Options& options);

// Where the classic wire is served; empty: nowhere. The clients in the field know one path alone. But a daemon in a runtime
// directory that somebody named is one of several, and has a socket in that directory: it must not take the others' clients.
std::string classic_wire_path(const Options& options);

struct ParsedOptions {
    std::optional<Options> options;
    int exit_code = 0;  // where there are none: help was asked for (0), or the command line is wrong (2)
};

// Called by the name of the old server (a link), it writes the log that the old server wrote.
ParsedOptions parse_options(int argument_count, char** arguments);

}  // namespace ttmem::daemon
