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
    /// Every outcome once or a few times: executions that differ only in the order of steps that do not touch
    /// each
    /// other are explored in one order. README.md says why no outcome is lost.
    reduced,
    /// Every interleaving with every read choice. Slow; the yardstick for `reduced`.
    every_interleaving,
};

struct Options {
    Search search = Search::reduced;
    /// Explores only executions in which at most this many times a thread that could go on is interrupted. It
    /// is no proof, but finds most faults in programs too big for one. Implies every_interleaving.
    std::optional<unsigned> preemptions = std::nullopt;
    std::uint64_t max_executions = 20'000'000;
    std::size_t max_steps = 1'000;  // operations in one execution; a longer one is cut and counted
    unsigned max_kills = 1;         // threads that die in one execution
    unsigned max_spurious = 1;      // spurious failures of weak compare-and-swaps in one execution
};

struct Failure {
    std::string what;
    std::string trace;
};

struct Result {
    std::uint64_t executions = 0;  // run to their end
    std::uint64_t pruned = 0;      // given up on the way, since another execution covers them
    std::uint64_t truncated = 0;   // cut at max_steps
    bool limit_hit = false;        // stopped at max_executions
    std::optional<Failure> failure;

    /// True if no execution violates a check, and none was left out.
    bool proven() const { return !failure && !limit_hit && truncated == 0 && executions > 0; }

    std::string text() const;
};

/// Runs `program` again and again, each time with other choices, until all are tried or a check fails. The
/// program makes its atomics, adds threads to the world, calls World::run() and checks what came out. It must
/// depend on nothing but its choices.
Result explore(const Options& options, const std::function<void(World&)>& program);

/// A fact that holds in every execution. May be called in a thread of the model and in the program.
void check(bool holds, const char* what);

}  // namespace ttmem::model
