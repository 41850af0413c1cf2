// SPDX-License-Identifier: Apache-2.0
#include "tests/model/explore.hpp"

#include "tests/model/world.hpp"

namespace ttmem::model {

Result explore(const Options& options, const std::function<void(World&)>& program) {
    Result result;
    ChoiceStack choices;
    World world(options, choices);
    do {
        if (result.executions + result.pruned + result.truncated == options.max_executions) {
            result.limit_hit = true;
            return result;
        }
        world.execute(program, result);
        if (choices.diverged() && !result.failure) {
            result.failure = Failure{"the program depends on something beside its choices", {}};
        }
    } while (!result.failure && choices.advance());
    return result;
}

std::string Result::text() const {
    std::string text = std::to_string(executions) + " executions, " + std::to_string(pruned) + " pruned, " +
                       std::to_string(truncated) + " truncated" + (limit_hit ? ", stopped at the limit" : "");
    if (failure) {
        text += "\nviolated: " + failure->what + "\n" + failure->trace;
    }
    return text;
}

void check(bool holds, const char* what) {
    if (!holds) {
        World::current()->fail(what);
    }
}

}  // namespace ttmem::model
