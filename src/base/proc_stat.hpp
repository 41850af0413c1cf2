// SPDX-License-Identifier: Apache-2.0
#pragma once

// The text of /proc/PID/stat. Uses libc alone and no heap: the client writes its own start time down, and readers compare it.

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace ttmem::base {

// Numbers of fields, as in proc(5).
enum class StatField : int {
    state = 3,
    parent = 4,
    flags = 9,
    threads = 20,
    start_time = 22,
    resident_pages = 24
};

// Where a field begins; null where the text is not what the kernel writes. The command's name (field 2) may hold blanks and
// parentheses, so counting starts after the last ')'.
inline const char* find_stat_field(const char* stat, size_t length, StatField field) {
    const char* const end = stat + length;
    const char* at = static_cast<const char*>(memrchr(stat, ')', length));
    if (at == nullptr) {
        return nullptr;
    }
    ++at;  // the blank before field 3
    for (int number = 3; number <= static_cast<int>(field); ++number) {
        at = static_cast<const char*>(memchr(at, ' ', static_cast<size_t>(end - at)));
        if (at == nullptr) {
            return nullptr;
        }
        ++at;
    }
    return at != end ? at : nullptr;
}

// 0 where the field is missing or no number.
inline uint64_t stat_number(const char* stat, size_t length, StatField field) {
    const char* at = find_stat_field(stat, length, field);
    uint64_t value = 0;
    for (; at != nullptr && at != stat + length && *at >= '0' && *at <= '9'; ++at) {
        value = value * 10 + static_cast<uint64_t>(*at - '0');
    }
    return value;
}

// 'R', 'S', 'Z' ...; '\0' where it is missing.
inline char stat_state(const char* stat, size_t length) {
    const char* at = find_stat_field(stat, length, StatField::state);
    return at != nullptr ? *at : '\0';
}

// In clock ticks since boot. Together with the pid it names a process until the next boot.
inline uint64_t parse_start_time(const char* stat, size_t length) {
    return stat_number(stat, length, StatField::start_time);
}

}  // namespace ttmem::base
