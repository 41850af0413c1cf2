// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where the request of a browser comes from. A page of another site can make a browser send requests here, but it cannot change
// the fields Origin and Sec-Fetch-*.

#include <boost/beast/core/string.hpp>
#include <string>
#include <string_view>

namespace ttmem::daemon::http {

enum class RequestOrigin : uint8_t {
    own,                 // a page of this daemon, the user, or a program that is no browser
    foreign_navigation,  // a link on another site: it may open the page, and may not fetch anything else
    foreign,
};

// Origin has a scheme, and Host has none. Both have the port, whatever it is: ssh -L chooses another.
inline bool is_own_origin(std::string_view origin, std::string_view host) {
    for (const std::string_view scheme : {"http://", "https://"}) {
        if (origin.starts_with(scheme) && boost::beast::iequals(origin.substr(scheme.size()), host)) {
            return true;
        }
    }
    return origin.empty();
}

struct OriginFields {
    std::string_view origin;
    std::string_view host;
    std::string_view fetch_site;  // Sec-Fetch-Site and so on; browsers send them to loopback and over HTTPS
    std::string_view fetch_mode;
    std::string_view fetch_dest;
};

inline RequestOrigin origin_of(const OriginFields& fields) {
    if (!is_own_origin(fields.origin, fields.host)) {
        return RequestOrigin::foreign;
    }
    if (fields.fetch_site.empty() || fields.fetch_site == "same-origin" || fields.fetch_site == "none") {
        return RequestOrigin::own;
    }
    return fields.fetch_mode == "navigate" && fields.fetch_dest == "document"
               ? RequestOrigin::foreign_navigation
               : RequestOrigin::foreign;
}

}  // namespace ttmem::daemon::http
