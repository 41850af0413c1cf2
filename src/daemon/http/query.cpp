// SPDX-License-Identifier: Apache-2.0
#include "daemon/http/query.hpp"

#include <charconv>

namespace ttmem::daemon::http {

using base::Error;

namespace {

std::optional<int> hex_digit(char c) {
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    const char lower = static_cast<char>(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? std::optional(lower - 'a' + 10) : std::nullopt;
}

// Decodes "%3A" and '+'; nothing if an escape is invalid or cut off.
std::optional<std::string> unescape(std::string_view text, bool plus_is_space) {
    std::string result;
    for (size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '+' && plus_is_space) {
            result += ' ';
        } else if (text[i] != '%') {
            result += text[i];
        } else {
            const auto high = i + 2 < text.size() ? hex_digit(text[i + 1]) : std::nullopt;
            const auto low = high ? hex_digit(text[i + 2]) : std::nullopt;
            if (!low) {
                return std::nullopt;
            }
            result += static_cast<char>(*high * 16 + *low);
            i += 2;
        }
    }
    return result;
}

base::Expected<std::string> decode(std::string_view text, bool plus_is_space) {
    auto result = unescape(text, plus_is_space);
    if (!result || result->find('\0') != std::string::npos) {
        return base::error(Error::Code::refused, "invalid percent escape in the URL");
    }
    return std::move(*result);
}

}  // namespace

base::Expected<RequestTarget> parse_target(std::string_view text) {
    RequestTarget target;
    const size_t question = text.find('?');
    auto path = decode(text.substr(0, question), false);
    if (!path) {
        return tl::unexpected(path.error());
    }
    target.path = std::move(*path);
    if (target.path.empty() || target.path.front() != '/') {
        return base::error(Error::Code::refused, "the path of the URL must begin with '/'");
    }
    std::string_view rest = question == std::string_view::npos ? "" : text.substr(question + 1);
    while (!rest.empty()) {
        const std::string_view pair = rest.substr(0, rest.find('&'));
        rest.remove_prefix(std::min(pair.size() + 1, rest.size()));
        if (pair.empty()) {
            continue;
        }
        const size_t equals = pair.find('=');
        auto key = decode(pair.substr(0, equals), true);
        auto value = decode(equals == std::string_view::npos ? "" : pair.substr(equals + 1), true);
        if (!key || !value) {
            return tl::unexpected(!key ? key.error() : value.error());
        }
        if (!target.query.emplace(std::move(*key), std::move(*value)).second) {
            return base::error(Error::Code::refused, "a parameter is given twice in the URL");
        }
    }
    return target;
}

std::optional<uint64_t> parse_number(std::string_view text) {
    uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() && !text.empty() ? std::optional(value)
                                                                                     : std::nullopt;
}

}  // namespace ttmem::daemon::http
