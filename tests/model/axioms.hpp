// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "tests/model/memory.hpp"

namespace ttmem::model {

/// A straight program: each thread is a list of operations on a few locations, which all start at 0. Each
/// value is written by one operation at most, so that a value tells where it came from.
struct StraightProgram {
    std::size_t locations = 0;
    std::vector<std::vector<Operation>> threads;
};

/// What came out: the value that each operation read (0 for a store), thread by thread, then for each
/// location the number of its values and the values in modification order.
using StraightOutcome = std::vector<std::uint64_t>;

/// All outcomes that the C++ memory model allows, from its axioms: every assignment of a source to each read
/// and every modification order is tried, and kept if it breaks none of
///
///     causality: program order and reads-from have no loop (no load depends on its own thread's later store)
///     coherence: happens-before followed by coherence order has no loop
///     atomicity: a read-modify-write directly follows what it read
///
/// It shares no code with the explorer: the two are checked against each other.
std::set<StraightOutcome> allowed_outcomes(const StraightProgram& program);

}  // namespace ttmem::model
