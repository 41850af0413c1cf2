// SPDX-License-Identifier: Apache-2.0
#include "daemon/config.hpp"

#include <toml++/toml.h>

namespace ttmem::daemon {

using base::Error;

namespace {

// Reads the options of a TOML table. Unknown options and values of the wrong type are errors.
class ConfigReader {
public:
    ConfigReader(const std::string& name, DaemonOptions& options) : name_(name), options_(options) {}

    base::Expected<void> read(const toml::table& table) {
        for (const auto& [key, node] : table) {
            if (key == "post_mortems" && node.is_table()) {
                read_post_mortems(*node.as_table());
            } else if (key == "record" && node.is_table()) {
                read_record(*node.as_table());
            } else if (key == "history" && node.is_table()) {
                read_history(*node.as_table());
            } else {
                read_value(std::string(key.str()), node);
            }
            if (problem_) {
                return tl::unexpected(std::move(*problem_));
            }
        }
        return {};
    }

private:
    void read_value(const std::string& key, const toml::node& node) {
        if (key == "runtime_dir") {
            assign(key, node, options_.runtime_dir);
        } else if (key == "token_file") {
            assign(key, node, options_.token_file);
        } else if (key == "classic_wire") {
            assign(key, node, options_.classic_wire);
        } else if (key == "quiet") {
            assign(key, node, options_.quiet);
        } else if (key == "listen") {
            std::string text;
            assign(key, node, text);
            check(node, problem_ ? base::Expected<void>() : set_listen(options_, text));
        } else if (key == "log_events") {
            std::string text;
            assign(key, node, text);
            check(node, problem_ ? base::Expected<void>() : set_log_events(options_, text));
        } else {
            fail(node, "unknown option '" + key +
                           "' (valid: runtime_dir, listen, token_file, classic_wire, log_events, quiet, "
                           "post_mortems.number, post_mortems.bytes, record.folder, record.hours, "
                           "record.bytes, history.bytes, history.days)");
        }
    }

    void read_post_mortems(const toml::table& table) {
        for (const auto& [key, node] : table) {
            int64_t number = 0;
            assign("post_mortems." + std::string(key.str()), node, number);
            if (key == "number") {
                options_.post_mortems.number = static_cast<size_t>(number);
            } else if (key == "bytes") {
                options_.post_mortems.bytes = static_cast<uint64_t>(number);
            } else {
                fail(node,
                     "unknown option 'post_mortems." + std::string(key.str()) + "' (valid: number, bytes)");
            }
            if (number < 1) {
                fail(node, "'post_mortems." + std::string(key.str()) + "': must be 1 or greater");
            }
        }
    }

    void read_record(const toml::table& table) {
        for (const auto& [key, node] : table) {
            const std::string name = "record." + std::string(key.str());
            int64_t number = 1;
            if (key == "folder") {
                assign(name, node, options_.flight.folder);
            } else if (key == "hours") {
                assign(name, node, number);
                options_.flight.limits.hours = static_cast<uint64_t>(number);
            } else if (key == "bytes") {
                assign(name, node, number);
                options_.flight.limits.bytes = static_cast<uint64_t>(number);
            } else {
                fail(node, "unknown option '" + name + "' (valid: folder, hours, bytes)");
            }
            if (number < 1) {
                fail(node, "'" + name + "': must be 1 or greater");
            }
        }
    }

    void read_history(const toml::table& table) {
        for (const auto& [key, node] : table) {
            const std::string name = "history." + std::string(key.str());
            int64_t number = 0;
            assign(name, node, number);
            if (key == "bytes") {
                options_.history.bytes = static_cast<uint64_t>(number);
            } else if (key == "days") {
                options_.history.days = static_cast<uint64_t>(number);
            } else {
                fail(node, "unknown option '" + name + "' (valid: bytes, days)");
            }
            check(node, number < 0 ? base::error(Error::Code::refused, "'" + name + "': must be 0 or greater")
                                   : check_history(options_.history));
        }
    }

    template <class T>
    void assign(const std::string& key, const toml::node& node, T& value) {
        if (const auto found = node.value_exact<T>()) {
            value = *found;
        } else {
            fail(node, "'" + key + "' must be " +
                           (std::is_same_v<T, bool>          ? "true or false"
                            : std::is_same_v<T, std::string> ? "a quoted string"
                                                             : "a number"));
        }
    }

    void check(const toml::node& node, const base::Expected<void>& result) {
        if (!result) {
            fail(node, result.error().text);
        }
    }

    void fail(const toml::node& node, const std::string& text) {
        if (!problem_) {
            problem_ = Error{Error::Code::refused,
                             name_ + ", line " + std::to_string(node.source().begin.line) + ": " + text};
        }
    }

    const std::string& name_;
    DaemonOptions& options_;
    std::optional<Error> problem_;
};

}  // namespace

base::Expected<void> read_config(const std::string& text, const std::string& name, DaemonOptions& options) {
    try {
        return ConfigReader(name, options).read(toml::parse(text, name));
    } catch (const toml::parse_error& problem) {
        return base::error(Error::Code::refused, name + ", line " +
                                                     std::to_string(problem.source().begin.line) + ": " +
                                                     std::string(problem.description()));
    }
}

}  // namespace ttmem::daemon
