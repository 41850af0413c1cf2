// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ttmem::model {

/// The path through the tree of choices, traversed depth first by running the program repeatedly.
///
/// A program under the explorer is deterministic except for its calls of choose(). The stack remembers the result of
/// each call. A new execution repeats all results except the last, which advances. The state of a program is therefore
/// never saved or restored.
class ChoiceStack {
public:
    /// Returns one of 0 .. options-1: 0 on the first visit of this point, and every other value on later executions.
    std::size_t choose(std::size_t options) {
        if (options == 1) {
            return 0;
        }
        if (depth_ == nodes_.size()) {
            nodes_.push_back({static_cast<std::uint32_t>(options), 0});
        }
        const Node& node = nodes_[depth_++];
        if (node.options != options) {
            diverged_ = true;
        }
        return node.taken;
    }

    /// Moves to the next unexplored path. Returns false if there is none.
    bool advance() {
        nodes_.resize(depth_ < nodes_.size() ? depth_ : nodes_.size());
        depth_ = 0;
        while (!nodes_.empty() && nodes_.back().taken + 1 == nodes_.back().options) {
            nodes_.pop_back();
        }
        if (nodes_.empty()) {
            return false;
        }
        ++nodes_.back().taken;
        return true;
    }

    /// True if a repeated path had another number of options than the first time. The program then depends on something
    /// other than its choices, and the results of the exploration are invalid.
    bool diverged() const { return diverged_; }

private:
    struct Node {
        std::uint32_t options;
        std::uint32_t taken;
    };

    std::vector<Node> nodes_;
    std::size_t depth_ = 0;
    bool diverged_ = false;
};

}  // namespace ttmem::model
