// SPDX-License-Identifier: Apache-2.0
#pragma once

// A moment that the user wants to remember: what came after it is new. Kept in a file of the user's.

#include <cstdint>
#include <string>

#include "base/error.hpp"

namespace ttmem::cli {

struct Mark {
    uint64_t monotonic_ns = 0;  // on the host's clock, which segments use too
    uint64_t age_ns = 0;
};

// $XDG_STATE_HOME/ttmem/mark, or in ~/.local/state.
base::Expected<std::string> mark_path();

// The moment that is remembered from now on.
base::Expected<uint64_t> set_mark();

// An error where there is none, or where it is from before the last boot: then that clock began anew.
base::Expected<Mark> read_mark();

}  // namespace ttmem::cli
