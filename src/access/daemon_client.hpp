// SPDX-License-Identifier: Apache-2.0
#pragma once

// Requests to the daemon of this host.

#include <string>
#include <vector>

#include "access/http_client.hpp"
#include "base/error.hpp"
#include "census/inexactness.hpp"

namespace ttmem::access {

// The body of the answer of the first daemon that runs. Error::Code::gone: no daemon runs; refused: the daemon
// refused.
base::Expected<std::string> get(const std::string& target);

// The same for an answer of any length: http_download().
base::Expected<void> download(const std::string& target, const TakeBytes& take, int until);

// The reasons for which the figures of a view are not exact, if it has any.
inline const std::vector<census::Inexactness>& inexactness_of(const auto& view) {
    static const std::vector<census::Inexactness> kNone;
    if constexpr (requires { view.figures.inexact; }) {
        return view.figures.inexact;
    } else if constexpr (requires { view.inexact; }) {
        return view.inexact;
    } else {
        return kNone;
    }
}

// One line per process that the figures lack.
std::vector<std::string> notices_of(const std::vector<census::Inexactness>& inexact);

}  // namespace ttmem::access
