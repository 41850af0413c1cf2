// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "history/series.hpp"
#include "view/json/json_fields.hpp"

namespace ttmem::view {

void fields(auto& io, Like<history::Sample> auto& sample) {
    io("time_ns", sample.time_ns, "when, since the epoch");
    io("used", sample.value, "reserved bytes");
}

}  // namespace ttmem::view
