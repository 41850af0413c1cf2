// SPDX-License-Identifier: Apache-2.0
#pragma once

// A request that was understood: who asks for what. Private to the API.

#include "daemon/api.hpp"
#include "daemon/api_parameters.hpp"

namespace ttmem::daemon {

struct Api::Question {
    http::Target target;
    Viewer viewer;
    std::string last_event_id;

    const Parameters& parameters() const { return target.query; }
};

}  // namespace ttmem::daemon
