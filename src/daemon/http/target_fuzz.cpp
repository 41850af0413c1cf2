// SPDX-License-Identifier: Apache-2.0

// For any input, the decoded parts are not longer than the input, and a parsed number equals its text.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "daemon/http/host.hpp"
#include "daemon/http/query.hpp"

namespace {

void require(bool holds, const char* what) {
    if (!holds) {
        fprintf(stderr, "%s\n", what);
        abort();
    }
}

void check_number(std::string_view text) {
    const auto number = ttmem::daemon::http::parse_number(text);
    if (!number) {
        return;
    }
    const size_t digits = text.find_first_not_of('0');
    const std::string_view without_zeros = digits == std::string_view::npos ? "0" : text.substr(digits);
    require(std::to_string(*number) == without_zeros, "a parsed number differs from its text");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    check_number(text);
    ttmem::daemon::http::is_loopback_host(text);
    const auto target = ttmem::daemon::http::parse_target(text);
    if (!target) {
        require(!target.error().text.empty(), "an error has no text");
        return 0;
    }
    require(target->path.starts_with('/'), "a path does not begin with '/'");
    size_t length = target->path.size();
    for (const auto& [key, value] : target->query) {
        length += key.size() + value.size();
        require(key.find('\0') == std::string::npos && value.find('\0') == std::string::npos, "a zero byte");
        check_number(value);
    }
    require(length <= size, "the parts are longer than the input");
    return 0;
}
