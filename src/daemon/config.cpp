// SPDX-License-Identifier: Apache-2.0
#include "daemon/config.hpp"

#include <toml++/toml.h>

namespace ttmem::daemon {

using base::Error;

namespace {

// A value of the wrong type, or one that nobody knows, is a mistake that should not pass in silence.
class ConfigReader {
public:
    ConfigReader(const std::string& name, Options& options) : name_(name), options_(options) {}

    base::Expected<void> read(const toml::table& table) {
        for (const auto& [key, node] : table) {
            if (key == "post_mortems" && node.is_table()) {
                read_post_mortems(*node.as_table());
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
            take(key, node, options_.runtime_dir);
        } else if (key == "token_file") {
            take(key, node, options_.token_file);
        } else if (key == "classic_wire") {
            take(key, node, options_.classic_wire);
        } else if (key == "quiet") {
            take(key, node, options_.quiet);
        } else if (key == "listen") {
            std::string text;
            take(key, node, text);
            check(node, problem_ ? base::Expected<void>() : set_listen(options_, text));
        } else if (key == "log_events") {
            std::string text;
            take(key, node, text);
            check(node, problem_ ? base::Expected<void>() : set_log_events(options_, text));
        } else {
            fail(node,
                 "there is no option '" + key +
                     "' (runtime_dir, listen, token_file, classic_wire, log_events, quiet, [post_mortems] "
                     "number, bytes)");
        }
    }

    void read_post_mortems(const toml::table& table) {
        for (const auto& [key, node] : table) {
            int64_t number = 0;
            take("post_mortems." + std::string(key.str()), node, number);
            if (key == "number") {
                options_.post_mortems.number = static_cast<size_t>(number);
            } else if (key == "bytes") {
                options_.post_mortems.bytes = static_cast<uint64_t>(number);
            } else {
                fail(node,
                     "there is no option 'post_mortems." + std::string(key.str()) + "' (number, bytes)");
            }
            if (number < 1) {
                fail(node, "'post_mortems." + std::string(key.str()) + "' is a number from 1 up");
            }
        }
    }

    template <class T>
    void take(const std::string& key, const toml::node& node, T& value) {
        if (const auto found = node.value_exact<T>()) {
            value = *found;
        } else {
            fail(node, "'" + key + "' must be " +
                           (std::is_same_v<T, bool>          ? "true or false"
                            : std::is_same_v<T, std::string> ? "a text in quotes"
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
    Options& options_;
    std::optional<Error> problem_;
};

}  // namespace

base::Expected<void> read_config(const std::string& text, const std::string& name, Options& options) {
    try {
        return ConfigReader(name, options).read(toml::parse(text, name));
    } catch (const toml::parse_error& problem) {
        return base::error(Error::Code::refused, name + ", line " +
                                                     std::to_string(problem.source().begin.line) + ": " +
                                                     std::string(problem.description()));
    }
}

}  // namespace ttmem::daemon
