// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tests/model/memory.hpp"

namespace ttmem::model {

enum class StepKind : std::uint8_t { operation, killed, choice };

/// One step of a thread in an execution.
struct Step {
    StepKind kind = StepKind::operation;
    ThreadId thread = 0;
    Operation operation;
    Outcome outcome;
    std::size_t chosen = 0;  // of a choice
};

/// Formats an execution for people: thread, operation, order, value, and the message that it came from.
///
///     #7  writer  gen.store(release) <- 3             message 7
///     #8  reader  word1.load(relaxed) -> 0            message 1 of main, 1 newer
std::string render(const std::vector<Step>& steps, const std::vector<std::string>& threads,
                   const std::vector<std::string>& locations);

}  // namespace ttmem::model
