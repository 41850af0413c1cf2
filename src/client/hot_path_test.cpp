// SPDX-License-Identifier: Apache-2.0

// No system call and no heap on the hot path. The kernel kills the process at the first system call, and malloc counts.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <string>
#include <thread>

#include "tests/support/child.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/own_segment.hpp"
#include "tests/support/seccomp.hpp"
#include "ttmem/ttmem.h"

// glibc's own names for what this file stands in front of.
// NOLINTBEGIN(readability-identifier-naming)
extern "C" {
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* memory, size_t size);
void __libc_free(void* memory);
}
// NOLINTEND(readability-identifier-naming)

namespace {
std::atomic<uint64_t> g_heap_calls{0};
std::string g_text;
}  // namespace

// Every use of the heap in this process, also by libc itself.
extern "C" {
void* malloc(size_t size) {
    g_heap_calls.fetch_add(1, std::memory_order_relaxed);
    return __libc_malloc(size);
}
void* calloc(size_t count, size_t size) {
    g_heap_calls.fetch_add(1, std::memory_order_relaxed);
    return __libc_calloc(count, size);
}
void* realloc(void* memory, size_t size) {
    g_heap_calls.fetch_add(1, std::memory_order_relaxed);
    return __libc_realloc(memory, size);
}
void free(void* memory) {
    g_heap_calls.fetch_add(1, std::memory_order_relaxed);
    __libc_free(memory);
}
}

namespace {

using namespace ttmem;
using namespace ttmem::test;

constexpr uint64_t kEvents = 10'000;
constexpr uint64_t kAtOnce = 2'000;  // more than a thread keeps at hand: slots come and go in both directions

// Everything that is called often, on what is known already.
void events(ttmem_set set) {
    static ttmem_handle handles[kAtOnce];
    const ttmem_cores cores = rectangle(0, 0, 3, 3);
    for (uint64_t first = 0; first < kEvents; first += kAtOnce) {
        for (uint64_t i = 0; i < kAtOnce; ++i) {
            ttmem_scope_push("scope");
            handles[i] = ttmem_allocate(set, TTMEM_DRAM, i, i, i, i);
            ttmem_tag(handles[i], "tag");
            ttmem_scope_pop();
        }
        for (const ttmem_handle handle : handles) {
            ttmem_free(handle);
            ttmem_free(handle);  // a second time: counted
        }
        for (uint64_t i = 0; i < 100; ++i) {
            ttmem_free(ttmem_allocate_cb(set, i, i, i, &cores, 0));
            ttmem_load_kernel(set, i, TTMEM_KERNEL_APPLICATION, i);
            ttmem_program_gone(i);
            ttmem_report_allocation(3, i, 0, i);
            ttmem_report_cb_allocation(3, i, i);
            ttmem_report_kernel_load(3, i, i, 0);
            ttmem_report_deallocation(3, i);
            ttmem_report_cb_deallocation(3, i, i);
            ttmem_report_kernel_unload(3, i, i);
        }
    }
    ttmem_clear_set(set);
    ttmem_close_set(ttmem_open_set(nullptr, 0, nullptr));
}

// Where the time-stamp counter is not steady, the client asks the kernel's clock, which is a call on some machines.
bool clock_needs_no_call() {
    const auto* header = static_cast<const segment::Header*>(own_mapping()->start);
    return header->clock_kind == static_cast<uint32_t>(segment::ClockKind::tsc);
}

TRACKED_TEST(HotPath, MakesNoSystemCall) {
    const ttmem_set set = make_set();
    events(set);
    const bool allowed = clock_needs_no_call() ? allow_only({SYS_exit_group})
                                               : allow_only({SYS_exit_group, SYS_clock_gettime});
    // From here on only the exit code can report: 0 if the process gets so far and no check failed before.
    const int code = allowed && !testing::Test::HasFailure() ? 0 : 1;
    events(set);
    syscall(SYS_exit_group, code);
}

TEST(HotPath, ASystemCallWouldBeNoticed) {
    const Outcome outcome = run_in_child([] {
        const bool allowed = allow_only({SYS_exit_group});
        if (allowed) {
            getppid();
        }
        syscall(SYS_exit_group, 0);
    });
    EXPECT_EQ(outcome.signal, SIGSYS);
}

TRACKED_TEST(HotPath, UsesNoHeap) {
    const ttmem_set set = make_set();
    events(set);
    const uint64_t before = g_heap_calls.load();
    events(set);
    EXPECT_EQ(g_heap_calls.load(), before);
    std::string(1000, static_cast<char>(before)).swap(g_text);
    EXPECT_GT(g_heap_calls.load(), before) << "the heap is not watched";
}

// A failing call writes a card. It may call the kernel, but the runtime may have failed for want of heap.
TRACKED_TEST(FailingCall, UsesNoHeap) {
    const ttmem_set set = make_set();
    for (uint64_t i = 0; i < kAtOnce; ++i) {
        ttmem_allocate(set, TTMEM_DRAM, i, i, i, i);
    }
    const uint64_t before = g_heap_calls.load();
    ttmem_out_of_memory failure{};
    failure.set = set;
    ttmem_allocation_failed(&failure);
    EXPECT_EQ(g_heap_calls.load(), before);
    EXPECT_EQ(own_reader().card_count(), 1u);
}

TRACKED_TEST(HotPath, NeitherDoesTheStartOfTrackingUseTheHeap) {
    const uint64_t before = g_heap_calls.load();
    const ttmem_set set = make_set();
    events(set);
    EXPECT_EQ(g_heap_calls.load(), before);
}

}  // namespace
