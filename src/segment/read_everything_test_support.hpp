// SPDX-License-Identifier: Apache-2.0
#pragma once

// Every call of a Reader, once, with what it gave held against the bounds that hold for any segment, honest or not.
// The unit tests, the fuzzer and the hostile writers all ask this.

#include <cstdint>
#include <functional>
#include <string>

#include "segment/reader.hpp"

namespace ttmem::segment {

struct Everything {
    std::string problem;     // empty: nothing was beyond its bounds
    uint64_t looked_at = 0;  // entries, records and names: the work that was done
};

// `between` is called between any two calls, and inside those that call back: there a hostile writer may act.
Everything read_everything(
    const Reader& reader, Cursor& cursor, const std::function<void()>& between = [] {});

}  // namespace ttmem::segment
