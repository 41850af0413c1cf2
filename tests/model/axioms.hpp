// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "tests/model/memory.hpp"

namespace ttmem::model {

/// A straight-line program. Each thread is a list of operations on a few locations, which all start at 0. Each value is
/// written by at most one operation, so that a value identifies its store.
struct StraightProgram {
    std::size_t locations = 0;
    std::vector<std::vector<Operation>> threads;
};

/// The outcome of a program: the value that each operation read (0 for a store), thread by thread. Then, per location,
/// the number of its values and the values in modification order.
using StraightOutcome = std::vector<std::uint64_t>;

/// All outcomes that the axioms of the C++ memory model allow. Tries every assignment of a source to each read and
/// every modification order, and keeps those that satisfy
///
///     causality: program order and reads-from have no cycle (no load depends on a later store of its own thread)
///     coherence: happens-before followed by coherence order has no cycle
///     atomicity: a read-modify-write directly follows the store that it read
///
/// It shares no code with the explorer: the two are checked against each other.
std::set<StraightOutcome> allowed_outcomes(const StraightProgram& program);

}  // namespace ttmem::model
