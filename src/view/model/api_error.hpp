// SPDX-License-Identifier: Apache-2.0
#pragma once

// The errors of the API. Programs decide by the code, which has one HTTP status; the text is for people.

#include <array>
#include <cstdint>
#include <string_view>

#include "base/named_enum.hpp"

namespace ttmem::view {

enum class ApiError : uint8_t {
    bad_request,
    bad_token,
    forbidden,
    unknown_address,
    not_found,
    bad_method,
    needs_gzip,
    body_not_accepted,
    head_too_long,
    internal,
    busy,
};
constexpr auto enum_names(ApiError /*of*/) {
    return std::to_array<std::string_view>({"bad_request", "bad_token", "forbidden", "unknown_address",
                                            "not_found", "bad_method", "needs_gzip", "body_not_accepted",
                                            "head_too_long", "internal", "busy"});
}
using base::name_of;

constexpr unsigned status_of(ApiError error) {
    constexpr std::array<unsigned, base::enum_size<ApiError>()> kStatus = {400, 401, 403, 404, 404, 405,
                                                                           406, 413, 431, 500, 503};
    return kStatus[static_cast<size_t>(error)];
}

}  // namespace ttmem::view
