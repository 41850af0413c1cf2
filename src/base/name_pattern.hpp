// SPDX-License-Identifier: Apache-2.0
#pragma once

// What names are compared with, in one of three forms:
//
//     kv_cache            a part of the name
//     decoder.*/kv?       with * or ?: a glob, which the whole name matches; [a-z] and [!a-z] are sets of characters
//     /^decoder\.[0-9]+/  between slashes: a regular expression, which a part of the name matches
//
// Regular expressions have . [] () | * + ? ^ $ and the classes \d, \w and \s. Other users may choose the pattern and the names, so
// a match takes time in proportion to the length of both, whatever they are. Case matters.

#include <bitset>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace ttmem::base {

class NamePattern {
public:
    // The longest text.
    static constexpr size_t kMostBytes = 256;

    // Matches every name.
    NamePattern() = default;

    // An error says what is wrong with the text.
    static Expected<NamePattern> parse(std::string_view text);

    bool matches_all() const { return part_.empty() && code_.empty(); }
    bool matches(std::string_view name) const;

    // Instructions of an automaton. Jumps are relative, so that parts can be put together.
    struct Instruction {
        enum class Op : uint8_t { character, split, jump, begin, end, match } op = Op::match;
        std::bitset<256> set = {};  // of op character
        int32_t first = 0;          // of op split and jump
        int32_t second = 0;         // of op split
    };
    using PatternCode = std::vector<Instruction>;

private:
    std::string part_;
    PatternCode code_;  // if not empty, instead of part_
};

}  // namespace ttmem::base
