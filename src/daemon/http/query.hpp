// SPDX-License-Identifier: Apache-2.0
#pragma once

// Parses the target of a request, such as "/v1/allocations?device=0&name=ttnn%3A%3Amatmul". The result is never longer than the
// input.

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.hpp"

namespace ttmem::daemon::http {

struct RequestTarget {
    std::string path;
    std::map<std::string, std::string> query;
};

// Rejects invalid escapes, zero bytes and repeated parameters.
base::Expected<RequestTarget> parse_target(std::string_view text);

// Parses a whole decimal number; nothing may stand around it, and it must fit.
std::optional<uint64_t> parse_number(std::string_view text);

}  // namespace ttmem::daemon::http
