// SPDX-License-Identifier: Apache-2.0

// Yardsticks for the cost of an event, measured in the same run: the earlier design (a blocking send to a server) and the
// minimum that any design with shared memory must do.

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <thread>

#include "samples.hpp"

namespace ttmem::benchmarks {
namespace {

// A 144-byte message of the classic wire to a peer that only drains.
void socket_send(benchmark::State& state) {
    std::array<int, 2> ends{};
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) != 0) {
        return state.SkipWithError("socketpair failed");
    }
    std::thread peer([&] {
        std::array<char, 144> buffer{};  // one message at a time, as the earlier server reads
        while (read(ends[1], buffer.data(), buffer.size()) > 0) {
        }
    });
    const std::array<char, 144> message{};
    Samples samples;
    for (auto _ : state) {
        samples.measure(1,
                        [&] { benchmark::DoNotOptimize(send(ends[0], message.data(), message.size(), 0)); });
    }
    samples.report(state);
    close(ends[0]);
    peer.join();
    close(ends[1]);
}
BENCHMARK(socket_send);

// Read the clock, add to one shared counter, store one cache line.
void floor_of_an_event(benchmark::State& state) {
    constexpr unsigned kBatch = 64;
    static std::atomic<uint64_t> counter{0};
    alignas(64) static std::array<std::atomic<uint64_t>, 8 * kBatch> lines{};
    Samples samples;
    for (auto _ : state) {
        samples.measure(kBatch, [&] {
            for (unsigned i = 0; i < kBatch; ++i) {
                const uint64_t now = __rdtsc();
                for (unsigned word = 0; word < 8; ++word) {
                    lines[i * 8 + word].store(now + word, std::memory_order_release);
                }
                counter.fetch_add(128, std::memory_order_acq_rel);
            }
        });
    }
    samples.report(state);
}
BENCHMARK(floor_of_an_event);

}  // namespace
}  // namespace ttmem::benchmarks
