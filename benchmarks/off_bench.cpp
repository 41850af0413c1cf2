// SPDX-License-Identifier: Apache-2.0

// The cost of libttmem in an untracked process. A separate process, because tracking is decided once.

#include <cstdlib>

#include "samples.hpp"
#include "ttmem/ttmem.h"

namespace ttmem::benchmarks {
namespace {

constexpr unsigned kBatch = 4096;

const bool kTrackingIsOff = [] {
    return setenv("TT_ALLOC_TRACKING_ENABLED", "0", 1) == 0 && ttmem_enabled() == 0;
}();

template <class Work>
void run(benchmark::State& state, Work&& work) {
    if (!kTrackingIsOff) {
        return state.SkipWithError("tracking is on");
    }
    Samples samples;
    for (auto _ : state) {
        samples.measure(kBatch, [&] {
            for (unsigned i = 0; i < kBatch; ++i) {
                work(i);
                benchmark::ClobberMemory();
            }
        });
    }
    samples.report(state);
}

// The loop alone, to be subtracted.
void off_nothing(benchmark::State& state) {
    run(state, [](unsigned i) { benchmark::DoNotOptimize(i); });
}
// As a runtime calls it: behind the inline check.
void off_asked_first(benchmark::State& state) {
    run(state, [](unsigned i) {
        benchmark::DoNotOptimize(i);
        if (ttmem_enabled() != 0) {
            benchmark::DoNotOptimize(ttmem_allocate(1, TTMEM_DRAM, i, i, i, i));
        }
    });
}
// The call itself, into the shared library.
void off_called(benchmark::State& state) {
    run(state, [](unsigned i) { benchmark::DoNotOptimize(ttmem_allocate(1, TTMEM_DRAM, i, i, i, i)); });
}
BENCHMARK(off_nothing);
BENCHMARK(off_asked_first);
BENCHMARK(off_called);

}  // namespace
}  // namespace ttmem::benchmarks
