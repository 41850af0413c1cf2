// SPDX-License-Identifier: Apache-2.0
#pragma once

// Who is on this host. The census holds no figures: it knows where they are, and census/figures.hpp and
// census/allocations.hpp read them there when somebody asks.

#include <string>
#include <vector>

#include "census/device_ids.hpp"
#include "census/process.hpp"

namespace ttmem::census {

// A process whose word can't be read, and which is therefore in no figure.
struct Skipped {
    uint32_t pid = 0;
    std::string why;  // "segment lacks a seal, skipped"
};

struct Census {
    std::vector<Process> processes;  // by pid
    std::vector<Skipped> skipped;
    DeviceIds device_ids;
};

}  // namespace ttmem::census
