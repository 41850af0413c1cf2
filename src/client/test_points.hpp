// SPDX-License-Identifier: Apache-2.0
#pragma once

// Named points of the hot path where the crash tests stop a process. They exist only in the build of the client that
// those tests link; elsewhere they are nothing.

#ifdef TTMEM_TEST_POINTS
extern "C" void (*ttmem_test_point)(const char* name);
#define TTMEM_TEST_POINT(name)      \
    do {                            \
        if (ttmem_test_point) {     \
            ttmem_test_point(name); \
        }                           \
    } while (false)
#else
#define TTMEM_TEST_POINT(name) \
    do {                       \
    } while (false)
#endif
