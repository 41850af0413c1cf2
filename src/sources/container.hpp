// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which container a process lives in, by the name of its control group. Whoever may make control groups may name
// them as a runtime does: this tells people where to look, and decides nothing.

#include <optional>
#include <string_view>

#include "census/process.hpp"

namespace ttmem::sources {

// `cgroup` is the text of /proc/PID/cgroup. Of containers in containers it is the innermost; nothing for a process
// of the host. Only what has the shape of an id gets out, so a hostile name is neither long nor unprintable.
std::optional<census::Container> container_of(std::string_view cgroup);

}  // namespace ttmem::sources
