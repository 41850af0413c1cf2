// SPDX-License-Identifier: Apache-2.0

// Kills while the segment is created. A reader must find nothing, an unfinished segment, or a valid one.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <random>

#include "segment/reader.hpp"
#include "tests/support/child.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/own_segment.hpp"
#include "tests/support/wait.hpp"

namespace {

using namespace ttmem;
using namespace ttmem::test;

[[noreturn]] void start(std::atomic<uint32_t>& begun) {
    set_environment("TT_ALLOC_TRACKING_ENABLED", "1");
    set_environment("TTMEM_RUNTIME_DIR", "/nonexistent");
    begun.store(1);
    const ttmem_set set = make_set();
    for (;;) {
        ttmem_allocate(set, TTMEM_DRAM, 0, 1, 1, 0);
        begun.store(2);
    }
}

TEST(StartupKill, LeavesNothingUnfinishedOrASoundSegment) {
    constexpr int kKills = 60;
    void* page = mmap(nullptr, sizeof(std::atomic<uint32_t>), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(page, MAP_FAILED);
    auto& begun = *static_cast<std::atomic<uint32_t>*>(page);
    std::mt19937_64 rng(4);
    int none = 0;
    int unfinished = 0;
    int sound = 0;
    for (int i = 0; i < kKills; ++i) {
        begun.store(0);
        const pid_t child = fork();
        if (child == 0) {
            start(begun);
        }
        while (begun.load() == 0) {
        }
        spin(rng() % 60'000);
        base::Descriptor file = open_any_segment_of(child);
        kill(child, SIGKILL);
        EXPECT_EQ(wait_for_child(child).signal, SIGKILL);
        if (!file) {
            ++none;
            continue;
        }
        const auto reader = segment::Reader::open(std::move(file));
        if (!reader) {
            EXPECT_EQ(reader.error().code, base::Error::Code::unfinished) << reader.error().text;
            ++unfinished;
            continue;
        }
        ++sound;
        EXPECT_EQ(reader->pid(), static_cast<uint32_t>(child));
        reader->for_each_live([&](segment::SlotRef, const segment::Allocation& a) {
            EXPECT_EQ(a.requested, 1u);
            return true;
        });
    }
    std::cout << kKills << " kills left " << none << " times nothing, " << unfinished
              << " times something unfinished, " << sound << " sound segments\n";
    munmap(page, sizeof(std::atomic<uint32_t>));
}

}  // namespace
