// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace ttmem::daemon::http {

// Whether the Host field of a request, with or without a port, names the loopback interface.
inline bool is_loopback_host(std::string_view host) {
    const size_t bracket = host.starts_with('[') ? host.find(']') : 0;
    const size_t colon = bracket == std::string_view::npos ? bracket : host.find(':', bracket);
    if (colon != std::string_view::npos) {
        const std::string_view port = host.substr(colon + 1);
        if (!std::all_of(port.begin(), port.end(), [](char c) { return c >= '0' && c <= '9'; })) {
            return false;
        }
        host = host.substr(0, colon);
    }
    std::string name(host);
    std::transform(name.begin(), name.end(), name.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; });
    return name == "localhost" || name == "127.0.0.1" || name == "[::1]";
}

}  // namespace ttmem::daemon::http
