// SPDX-License-Identifier: Apache-2.0

// A program that reports until its very end: from static destructors before and after the client's own, from exit
// handlers, from a thread that is still running, and from a destructor function of the linker. The last of these reads
// the segment and sets the exit code.

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "tests/support/oracle.hpp"
#include "tests/support/own_segment.hpp"
#include "ttmem/ttmem.h"

namespace {

using namespace ttmem;
using namespace ttmem::test;

ttmem_set g_set = 0;
uint64_t g_allocated = 0;
std::atomic<bool> g_quiet{false};
std::atomic<bool> g_is_quiet{false};

void report(const char* from) {
    ttmem_scope_push(from);
    ttmem_free(ttmem_allocate(g_set, TTMEM_L1, 0, 1, 1, 0));
    if (ttmem_allocate(g_set, TTMEM_DRAM, g_allocated, 10, 20, g_allocated) != 0) {
        ++g_allocated;
    }
    ttmem_scope_pop();
    // A thread that starts now needs a line after the client's destructor has run.
    std::thread([] { ttmem_free(ttmem_allocate(g_set, TTMEM_L1, 0, 1, 1, 0)); }).join();
}

struct Reporter {
    explicit Reporter(const char* name) : name_(name) {}
    ~Reporter() { report(name_); }
    const char* name_;
};

const Reporter g_reporter("destroyed late");

void look_and_leave() {
    g_quiet.store(true);
    while (!g_is_quiet.load()) {
        std::this_thread::yield();
    }
    const segment::Reader reader = own_reader();
    const bool right = differences(reader, ledger_of(reader)).empty() &&
                       pool(reader, g_set, segment::AllocationKind::dram).used == g_allocated * 20 &&
                       pool(reader, g_set, segment::AllocationKind::l1).used == 0;
    std::printf("%d reports, %s\n", static_cast<int>(g_allocated),
                right ? "all there" : "not as they should be");
    std::fflush(stdout);
    _exit(right ? 0 : 1);
}

}  // namespace

// Runs after all static destructors of this program, including those of a static copy of the client.
__attribute__((destructor(101))) void report_last() {
    report("destructor of the linker");
    look_and_leave();
}

int main() {
    static const Reporter local("destroyed early");
    g_set = make_set();
    std::atexit([] { report("exit handler"); });
    std::thread([] {
        while (!g_quiet.load()) {
            ttmem_free(ttmem_allocate(g_set, TTMEM_TRACE, 0, 1, 1, 0));
        }
        g_is_quiet.store(true);
        for (;;) {
            pause();
        }
    }).detach();
    report("main");
    return 0;
}
