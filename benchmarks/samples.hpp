// SPDX-License-Identifier: Apache-2.0
#pragma once

// Samples of short pieces of work by the time-stamp counter, and their median: on a busy machine the mean mostly measures the
// machine.

#include <benchmark/benchmark.h>
#include <x86intrin.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

namespace ttmem::benchmarks {

class Samples {
public:
    Samples() { ticks_.reserve(1 << 16); }

    // Times `work`, which performs `operations` operations.
    template <class Work>
    void measure(unsigned operations, Work&& work) {
        operations_ = operations;
        const uint64_t before = __rdtsc();
        work();
        ticks_.push_back(__rdtsc() - before);
    }

    // Sets the counters "median_ns" and "p99_ns" per operation.
    void report(benchmark::State& state) {
        if (ticks_.empty()) {
            return state.SkipWithError("nothing was measured");
        }
        const auto elapsed_ns = std::chrono::duration<double, std::nano>(Clock::now() - start_).count();
        const double ns_per_tick = elapsed_ns / static_cast<double>(__rdtsc() - start_ticks_);
        std::sort(ticks_.begin(), ticks_.end());
        const auto at = [&](double share) {
            const auto index = static_cast<size_t>(share * static_cast<double>(ticks_.size() - 1));
            return static_cast<double>(ticks_[index]) * ns_per_tick / operations_;
        };
        using benchmark::Counter;
        state.counters["median_ns"] = Counter(at(0.5), Counter::kAvgThreads);
        state.counters["p99_ns"] = Counter(at(0.99), Counter::kAvgThreads);
    }

private:
    using Clock = std::chrono::steady_clock;

    Clock::time_point start_ = Clock::now();
    uint64_t start_ticks_ = __rdtsc();
    std::vector<uint64_t> ticks_;
    unsigned operations_ = 1;
};

}  // namespace ttmem::benchmarks
