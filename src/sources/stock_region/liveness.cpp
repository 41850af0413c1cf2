// SPDX-License-Identifier: Apache-2.0
#include "sources/stock_region/liveness.hpp"

#include <charconv>
#include <cstddef>
#include <cstdint>

namespace ttmem::sources::stock_region {

namespace {

constexpr uint64_t kKernelThread = 0x00200000;  // of the flags

// A field by its number in proc(5). The command (field 2) may hold blanks and parentheses, so counting starts after the
// last one.
std::string_view field_of(std::string_view stat, size_t number) {
    const size_t end_of_command = stat.rfind(") ");
    if (end_of_command == std::string_view::npos) {
        return {};
    }
    stat.remove_prefix(end_of_command + 2);
    for (size_t field = 3; field < number; ++field) {
        const size_t blank = stat.find(' ');
        if (blank == std::string_view::npos) {
            return {};
        }
        stat.remove_prefix(blank + 1);
    }
    return stat.substr(0, stat.find(' '));
}

uint64_t number_of(std::string_view text) {
    uint64_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

}  // namespace

bool can_hold_memory(std::string_view stat) {
    const std::string_view state = field_of(stat, 3);
    const uint64_t flags = number_of(field_of(stat, 9));
    const uint64_t threads = number_of(field_of(stat, 20));
    const bool has_ended = state.empty() || state == "X" || state == "x" || (state == "Z" && threads <= 1);
    return !has_ended && (flags & kKernelThread) == 0;
}

}  // namespace ttmem::sources::stock_region
