// SPDX-License-Identifier: Apache-2.0
#pragma once

// The moment that the user marked with 'ttmem mark', kept in a file in the home directory.

#include <cstdint>
#include <string>

#include "base/error.hpp"

namespace ttmem::cli {

struct Mark {
    // CLOCK_MONOTONIC, as in segments.
    uint64_t monotonic_ns = 0;
    uint64_t age_ns = 0;
};

// $XDG_STATE_HOME/ttmem/mark, or in ~/.local/state.
base::Expected<std::string> mark_path();

// Marks this moment and returns it.
base::Expected<uint64_t> set_mark();

// An error if there is no mark, or if it is older than the last boot, at which the clock restarted.
base::Expected<Mark> read_mark();

}  // namespace ttmem::cli
