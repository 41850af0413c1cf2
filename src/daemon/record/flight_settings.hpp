// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "recording/flight_folder.hpp"

namespace ttmem::daemon {

struct FlightSettings {
    std::string folder;  // empty: no flight recorder
    recording::FlightLimits limits;
};

}  // namespace ttmem::daemon
