// SPDX-License-Identifier: Apache-2.0
#include "daemon/api_parameters.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "daemon/http/query.hpp"

namespace ttmem::daemon {

using base::Error;

namespace {

tl::unexpected<Error> wrong(const std::string& name, const std::string& value, const std::string& what) {
    return base::error(Error::Code::refused,
                       "'" + name + "' is " + what + ", not '" + base::printable(value) + "'");
}

bool has_value(const Parameters& parameters, const std::string& name,
               std::initializer_list<const char*> values) {
    const auto found = parameters.find(name);
    return found != parameters.end() &&
           std::find(values.begin(), values.end(), found->second) != values.end();
}

}  // namespace

std::optional<std::string> find_unknown(const Parameters& parameters, const std::vector<std::string>& known) {
    for (const auto& [name, value] : parameters) {
        if (std::find(known.begin(), known.end(), name) == known.end()) {
            std::string list;
            for (const std::string& one : known) {
                list += (list.empty() ? "" : ", ") + one;
            }
            return "there is no parameter '" + base::printable(name) + "' here (" +
                   (list.empty() ? "there are none" : "there is " + list) + ")";
        }
    }
    return std::nullopt;
}

base::Expected<std::optional<uint64_t>> read_number(const Parameters& parameters, const std::string& name) {
    const auto found = parameters.find(name);
    if (found == parameters.end()) {
        return std::nullopt;
    }
    const auto number = http::parse_number(found->second);
    if (!number) {
        return wrong(name, found->second, "a number from 0 up");
    }
    return number;
}

base::Expected<std::optional<uint32_t>> read_pid(const Parameters& parameters) {
    const auto number = read_number(parameters, "pid");
    if (!number) {
        return tl::unexpected(number.error());
    }
    if (*number && **number > UINT32_MAX) {
        return wrong("pid", parameters.at("pid"), "a process id");
    }
    return *number ? std::optional(static_cast<uint32_t>(**number)) : std::nullopt;
}

base::Expected<std::optional<census::Kind>> read_kind(const Parameters& parameters) {
    const auto found = parameters.find("kind");
    if (found == parameters.end()) {
        return std::nullopt;
    }
    const auto kind = census::kind_by_name(found->second);
    if (!kind) {
        return wrong("kind", found->second, "dram, l1, l1_small, trace, cb, kernel or system_memory");
    }
    return kind;
}

base::Expected<uint64_t> read_limit(const Parameters& parameters) {
    const auto number = read_number(parameters, "limit");
    if (!number) {
        return tl::unexpected(number.error());
    }
    const uint64_t limit = number->value_or(kStandardLimit);
    if (limit < 1 || limit > kMostLimit) {
        return wrong("limit", parameters.at("limit"), "a number from 1 to " + std::to_string(kMostLimit));
    }
    return limit;
}

bool is_yes(const Parameters& parameters, const std::string& name) {
    return has_value(parameters, name, {"true", "1", "yes"});
}
bool is_no(const Parameters& parameters, const std::string& name) {
    return has_value(parameters, name, {"false", "0", "no"});
}

}  // namespace ttmem::daemon
