// SPDX-License-Identifier: Apache-2.0

// A process that holds memory and keeps allocating and freeing, for the benchmarks of the daemon:
//
//     daemon_load DEVICES LIVE EVENTS_A_SECOND NAMES [failing|fragmented]
//
// Prints "ready" when LIVE allocations exist, then works at that rate (0: idle, max: unlimited) until its standard input ends, and
// prints the number of events. With "failing", a request for a whole bank is refused before that; with "fragmented" one for 16 MiB of
// each bank, all over which pairs of allocations lie with a gap after each pair.

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

constexpr uint64_t kBankBase = 0x1000;
constexpr uint64_t kBankBytes = uint64_t{1} << 30;
constexpr uint32_t kBanks = 12;
constexpr uint64_t kBlockBytes = 32;                         // of each allocation, in each bank
constexpr uint64_t kFragmentedRequest = uint64_t{16} << 20;  // more than what is free above them

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
        info.memory[TTMEM_DRAM] = {kBankBase,       kBankBytes, kBanks * kBankBytes, kBanks, 32,
                                   TTMEM_BOTTOM_UP, 0};
        members.push_back(ttmem_register_device(&info));
    }
    return ttmem_open_set(members.data(), devices, "mesh");
}

// Where the live blocks lie in each bank: one after the other from its base, or over the whole bank with gaps.
struct Placement {
    uint64_t bytes = kBlockBytes;
    uint64_t gap = 0;  // after each pair
    uint64_t address(uint64_t i) const { return kBankBase + i * bytes + i / 2 * gap; }
};

Placement fragmented(uint64_t live) {
    const uint64_t pair = kBankBytes / (live / 2 + 1) / (3 * kBlockBytes) * (3 * kBlockBytes);
    return {pair / 3, pair / 3};
}

// What the allocator says of such a bank.
void fail(ttmem_set set, uint64_t live, const Placement& placement, uint64_t needed) {
    const uint64_t above = kBankBase + kBankBytes - (placement.address(live - 1) + placement.bytes);
    ttmem_failed_request request{};
    request.failure.set = set;
    request.failure.kind = TTMEM_DRAM;
    request.failure.requested = kBanks * needed;
    request.failure.needed_per_bank = needed;
    request.failure.free_per_bank = kBankBytes - live * placement.bytes;
    request.failure.largest_free_per_bank = above > placement.gap ? above : placement.gap;
    request.page_bytes = needed;
    request.banks = kBanks;
    request.direction = TTMEM_BOTTOM_UP;
    ttmem_request_failed(&request);
}

}  // namespace

int main(int count, char** arguments) {
    const bool is_fragmented = count == 6 && std::strcmp(arguments[5], "fragmented") == 0;
    const bool is_failing = count == 6 && std::strcmp(arguments[5], "failing") == 0;
    if (count != 5 && !is_failing && !is_fragmented) {
        std::fprintf(stderr,
                     "usage: daemon_load DEVICES LIVE EVENTS_A_SECOND|max NAMES [failing|fragmented]\n");
        return 2;
    }
    const uint64_t live = std::strtoull(arguments[2], nullptr, 10);
    const bool at_most = std::strcmp(arguments[3], "max") == 0;
    const uint64_t rate = at_most ? UINT64_MAX : std::strtoull(arguments[3], nullptr, 10);
    const uint64_t names = std::strtoull(arguments[4], nullptr, 10);
    const ttmem_set set = open_mesh(static_cast<uint32_t>(std::strtoul(arguments[1], nullptr, 10)));
    const Placement placement = is_fragmented ? fragmented(live) : Placement{};
    std::vector<ttmem_handle> handles;
    const auto allocate = [&](uint64_t i) {
        return ttmem_allocate(set, TTMEM_DRAM, placement.address(i), 300 + i % 7, kBanks * placement.bytes,
                              i);
    };
    for (uint64_t i = 0; i < live; ++i) {
        ttmem_scope_push(("layer." + std::to_string(i % (names == 0 ? 1 : names))).c_str());
        handles.push_back(allocate(i));
        ttmem_scope_pop();
    }
    if (is_failing || is_fragmented) {
        fail(set, live, placement, is_fragmented ? kFragmentedRequest : kBankBytes);
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
