// SPDX-License-Identifier: Apache-2.0
#pragma once

// The bytes of an answer around its body. Private to src/daemon/http.

#include <array>
#include <boost/beast/http/status.hpp>
#include <cstdio>
#include <string>

namespace ttmem::daemon::http {

// The beginning of the header; who uses it adds what says how long the body is, and the empty line.
inline std::string head_text(unsigned status, const std::string& content_type) {
    const auto reason = boost::beast::http::obsolete_reason(static_cast<boost::beast::http::status>(status));
    return "HTTP/1.1 " + std::to_string(status) + " " + std::string(reason) +
           "\r\nServer: ttmemd\r\nContent-Type: " + content_type +
           "\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n";
}

inline std::string length_text(size_t bytes) { return "Content-Length: " + std::to_string(bytes) + "\r\n"; }

// An empty one would be the end.
inline std::string chunk(const std::string& text) {
    std::array<char, 24> size{};
    snprintf(size.data(), size.size(), "%zx\r\n", text.size());
    return size.data() + text + "\r\n";
}

}  // namespace ttmem::daemon::http
