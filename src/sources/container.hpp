// SPDX-License-Identifier: Apache-2.0
#pragma once

// Derives the container of a process from the name of its control group. Any user who may create control groups can
// imitate the names of a runtime, so the result is shown to people and never used for a decision.

#include <optional>
#include <string_view>

#include "census/process.hpp"

namespace ttmem::sources {

// `cgroup` is the text of /proc/PID/cgroup. Returns the innermost container, or nothing for a process of the host. Only
// text in the form of an id is returned, so a hostile name can't be long or unprintable.
std::optional<census::Container> container_of(std::string_view cgroup);

}  // namespace ttmem::sources
