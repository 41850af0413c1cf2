// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace ttmem::model {

class World;

enum class Search : std::uint8_t {
    /// Every outcome at least once. Executions that differ only in the order of independent steps are explored in one
    /// order. README.md explains why no outcome is lost.
    reduced,
    /// Every interleaving with every read choice. Slow; the reference for `reduced`.
    every_interleaving,
};

struct Options {
    Search search = Search::reduced;
    /// Explores only executions with at most this many preemptions of a thread that could continue. This is not a
    /// proof, but finds most faults in programs that are too large for one. Implies every_interleaving.
    std::optional<unsigned> preemptions = std::nullopt;
    std::uint64_t max_executions = 20'000'000;
    std::size_t max_steps = 1'000;  // operations in one execution; a longer one is truncated and counted
    unsigned max_kills = 1;         // threads that die in one execution
    unsigned max_spurious = 1;      // spurious failures of weak compare-and-swaps in one execution
};

struct Failure {
    std::string what;
    std::string trace;
};

struct Result {
    std::uint64_t executions = 0;  // executions that ran to their end
    std::uint64_t pruned = 0;      // abandoned, because another execution covers them
    std::uint64_t truncated = 0;   // ended at max_steps
    bool limit_hit = false;        // stopped at max_executions
    std::optional<Failure> failure;

    /// True if no execution violates a check, and none was left out.
    bool proven() const { return !failure && !limit_hit && truncated == 0 && executions > 0; }

    std::string text() const;
};

/// Runs `program` repeatedly with different choices, until all are tried or a check fails. The program creates its
/// atomics, adds threads to the world, calls World::run() and checks the result. It must depend only on its choices.
Result explore(const Options& options, const std::function<void(World&)>& program);

/// A fact that must hold in every execution. May be called in a thread of the model and in the program.
void check(bool holds, const char* what);

}  // namespace ttmem::model
