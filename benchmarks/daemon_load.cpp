// SPDX-License-Identifier: Apache-2.0

// A process that holds memory and keeps allocating and freeing, for the benchmarks of the daemon:
//
//     daemon_load DEVICES LIVE EVENTS_A_SECOND NAMES
//
// Prints "ready" when LIVE allocations exist, then works at that rate (0: idle, max: unlimited) until its standard input
// ends, and prints the number of events.

#include <poll.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "ttmem/ttmem.h"

namespace {

uint64_t now_ns() {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

bool is_told_to_end() {
    pollfd input{STDIN_FILENO, POLLIN, 0};
    return poll(&input, 1, 0) != 0;
}

ttmem_set open_mesh(uint32_t devices) {
    std::vector<ttmem_device> members;
    for (uint32_t i = 0; i < devices; ++i) {
        ttmem_device_info info{};
        info.asic_id = 0x1000 + i;
        info.logical_id = i;
        info.arch = TTMEM_ARCH_WORMHOLE_B0;
        std::memcpy(info.board, "n300", 5);
        info.memory[TTMEM_DRAM] = {0x1000, uint64_t{1} << 30, uint64_t{12} << 30, 12, 32, TTMEM_BOTTOM_UP, 0};
        members.push_back(ttmem_register_device(&info));
    }
    return ttmem_open_set(members.data(), devices, "mesh");
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 5) {
        std::fprintf(stderr, "usage: daemon_load DEVICES LIVE EVENTS_A_SECOND|max NAMES\n");
        return 2;
    }
    const uint64_t live = std::strtoull(arguments[2], nullptr, 10);
    const bool at_most = std::strcmp(arguments[3], "max") == 0;
    const uint64_t rate = at_most ? UINT64_MAX : std::strtoull(arguments[3], nullptr, 10);
    const uint64_t names = std::strtoull(arguments[4], nullptr, 10);
    const ttmem_set set = open_mesh(static_cast<uint32_t>(std::strtoul(arguments[1], nullptr, 10)));
    std::vector<ttmem_handle> handles;
    const auto allocate = [&](uint64_t i) {
        return ttmem_allocate(set, TTMEM_DRAM, 0x1000 + i * 32, 300 + i % 7, 384, i);
    };
    for (uint64_t i = 0; i < live; ++i) {
        ttmem_scope_push(("layer." + std::to_string(i % (names == 0 ? 1 : names))).c_str());
        handles.push_back(allocate(i));
        ttmem_scope_pop();
    }
    std::printf("ready\n");
    std::fflush(stdout);

    uint64_t events = 0;
    const uint64_t start = now_ns();
    uint64_t at = 0;
    while (!is_told_to_end()) {
        if (rate == 0 || handles.empty()) {
            usleep(10'000);
            continue;
        }
        // In batches of 1,000 events; sleeps between batches to keep the rate.
        for (int i = 0; i < 500; ++i, at = (at + 1) % handles.size()) {
            ttmem_free(handles[at]);
            handles[at] = allocate(at);
        }
        events += 1000;
        if (!at_most) {
            const uint64_t due = start + events * 1'000'000'000 / rate;
            const uint64_t now = now_ns();
            if (due > now + 50'000) {
                usleep(static_cast<useconds_t>((due - now) / 1000));
            }
        }
    }
    std::printf("%llu events in %llu ns\n", static_cast<unsigned long long>(events),
                static_cast<unsigned long long>(now_ns() - start));
    return 0;
}
