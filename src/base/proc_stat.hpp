// SPDX-License-Identifier: Apache-2.0
#pragma once

// The start time of a process, from the text of /proc/PID/stat. Together with the pid it names a process for good,
// until the next boot. Both the client (which writes it down) and the readers (which compare it) parse it here; libc
// only, no heap.

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace ttmem::base {

// Field 22, in clock ticks since boot; 0 where the text is not what the kernel writes. The command's name (field 2) may
// hold blanks and parentheses, so counting starts after the last ')'.
inline uint64_t parse_start_time(const char* stat, size_t length) {
    const char* end = stat + length;
    const char* at = static_cast<const char*>(memrchr(stat, ')', length));
    if (at == nullptr) {
        return 0;
    }
    ++at;  // the blank before field 3
    for (int field = 3; field <= 22; ++field) {
        at = static_cast<const char*>(memchr(at, ' ', static_cast<size_t>(end - at)));
        if (at == nullptr) {
            return 0;
        }
        ++at;
    }
    uint64_t value = 0;
    for (; at != end && *at >= '0' && *at <= '9'; ++at) {
        value = value * 10 + static_cast<uint64_t>(*at - '0');
    }
    return value;
}

}  // namespace ttmem::base
