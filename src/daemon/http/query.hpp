// SPDX-License-Identifier: Apache-2.0
#pragma once

// The target of a request, "/v1/allocations?device=0&name=ttnn%3A%3Amatmul", taken apart. Whatever a client sends, the
// result is bounded by its length.

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.hpp"

namespace ttmem::daemon::http {

struct Target {
    std::string path;
    std::map<std::string, std::string> query;
};

// An error where an escape is broken, a key stands twice or a byte is one that has no place there.
base::Expected<Target> parse_target(std::string_view text);

// A whole number in decimal, with nothing around it; nothing where it is none or does not fit.
std::optional<uint64_t> parse_number(std::string_view text);

}  // namespace ttmem::daemon::http
