// SPDX-License-Identifier: Apache-2.0

// What one event costs the tracked process. An operation is one event: an allocation or a free.

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <thread>

#include "samples.hpp"
#include "segment/reader.hpp"
#include "ttmem/allocation_client.hpp"

namespace ttmem::benchmarks {
namespace {

using tt::tt_metal::AllocationClient;

constexpr unsigned kBatch = 64;  // allocations and as many frees

const bool kTrackingIsOn = [] {
    return setenv("TT_ALLOC_TRACKING_ENABLED", "1", 1) == 0 && ttmem_enabled() != 0;
}();

ttmem_set open_mesh(uint32_t devices) {
    std::vector<ttmem_device> members;
    for (uint32_t i = 0; i < devices; ++i) {
        ttmem_device_info info{};
        info.logical_id = i;
        info.asic_id = 0x1000 + i;
        members.push_back(ttmem_register_device(&info));
    }
    return ttmem_open_set(members.data(), devices, "benchmark");
}

// Holds `live` allocations and replaces them in batches: always the same few (warm), or random ones (cold: bound by cache and
// TLB misses).
class Churn {
public:
    Churn(ttmem_set set, size_t live, bool cold) : set_(set), handles_(live), order_(live) {
        for (size_t i = 0; i < live; ++i) {
            handles_[i] = allocate(i);
            order_[i] = i;
        }
        if (cold) {
            std::shuffle(order_.begin(), order_.end(), std::mt19937_64(1));
        }
    }
    ~Churn() {
        for (const ttmem_handle handle : handles_) {
            ttmem_free(handle);
        }
    }
    Churn(const Churn&) = delete;
    Churn& operator=(const Churn&) = delete;

    void step() {
        for (unsigned i = 0; i < kBatch; ++i) {
            ttmem_handle& handle = handles_[order_[next_]];
            next_ = next_ + 1 == order_.size() ? 0 : next_ + 1;
            ttmem_free(handle);
            handle = allocate(i);
        }
    }

private:
    ttmem_handle allocate(size_t i) const {
        return ttmem_allocate(set_, TTMEM_DRAM, 1'048'640 + i * 2048, 2000, 2048, i);
    }

    ttmem_set set_;
    std::vector<ttmem_handle> handles_;
    std::vector<size_t> order_;
    size_t next_ = 0;
};

// A reader like the daemon: totals and rings every 5 ms, through its own mapping.
class TickingReader {
public:
    explicit TickingReader(bool wanted) {
        if (wanted) {
            thread_ = std::thread([this] { run(); });
            while (!looked_) {
                std::this_thread::yield();
            }
        }
    }
    ~TickingReader() {
        stop_ = true;
        if (thread_.joinable()) {
            thread_.join();
        }
    }

private:
    static base::Descriptor own_segment() {
        for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
            std::error_code error;
            if (std::filesystem::read_symlink(entry.path(), error).string().starts_with("/memfd:ttmem")) {
                return base::Descriptor(open(entry.path().c_str(), O_RDONLY | O_CLOEXEC));
            }
        }
        return {};
    }
    void run() {
        const auto reader = segment::Reader::open(own_segment());
        segment::Cursor cursor;
        while (!stop_) {
            benchmark::DoNotOptimize(reader->totals());
            reader->follow(cursor, [](uint32_t, const segment::Event& event) {
                benchmark::DoNotOptimize(event.address);
            });
            looked_ = true;
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
    }

    std::atomic<bool> stop_{false};
    std::atomic<bool> looked_{false};
    std::thread thread_;
};

void run_native(benchmark::State& state, uint32_t devices, size_t live, bool cold, bool with_reader) {
    if (!kTrackingIsOn) {
        return state.SkipWithError("tracking is off");
    }
    const ttmem_set set = open_mesh(devices);
    {
        Churn churn(set, live, cold);
        const TickingReader reader(with_reader && state.thread_index() == 0);
        Samples samples;
        for (auto _ : state) {
            samples.measure(2 * kBatch, [&] { churn.step(); });
        }
        samples.report(state);
    }
    ttmem_close_set(set);
}

void native_warm(benchmark::State& state) {
    run_native(state, 1, static_cast<size_t>(state.range(0)), false, false);
}
void native_cold(benchmark::State& state) {
    run_native(state, 1, static_cast<size_t>(state.range(0)), true, false);
}
void native_with_reader(benchmark::State& state) {
    run_native(state, 1, static_cast<size_t>(state.range(0)), false, true);
}
void native_mesh(benchmark::State& state) {
    run_native(state, static_cast<uint32_t>(state.range(0)), 10'000, false, false);
}

BENCHMARK(native_warm)->Arg(64)->Arg(10'000)->Arg(100'000)->Arg(500'000);
BENCHMARK(native_cold)->Arg(10'000)->Arg(100'000)->Arg(500'000);
BENCHMARK(native_with_reader)->Arg(64)->Arg(10'000);
BENCHMARK(native_mesh)->Arg(1)->Arg(8)->Arg(32);
BENCHMARK(native_warm)->Arg(64)->Arg(10'000)->Threads(2);
BENCHMARK(native_cold)->Arg(100'000)->Threads(2);

// The same through the calls of AllocationClient: by device number and address.
void keyed(benchmark::State& state, bool cold) {
    const auto live = static_cast<size_t>(state.range(0));
    const int device = state.thread_index();
    std::vector<uint64_t> address(live);
    for (size_t i = 0; i < live; ++i) {
        address[i] = 1'048'640 + i * 2048;
        AllocationClient::report_allocation(device, 2000, TTMEM_DRAM, address[i]);
    }
    std::vector<uint64_t> order = address;
    if (cold) {
        std::shuffle(order.begin(), order.end(), std::mt19937_64(1));
    }
    size_t next = 0;
    Samples samples;
    for (auto _ : state) {
        samples.measure(2 * kBatch, [&] {
            for (unsigned i = 0; i < kBatch; ++i) {
                AllocationClient::report_deallocation(device, order[next]);
                AllocationClient::report_allocation(device, 2000, TTMEM_DRAM, order[next]);
                next = next + 1 == live ? 0 : next + 1;
            }
        });
    }
    samples.report(state);
    for (const uint64_t a : address) {
        AllocationClient::report_deallocation(device, a);
    }
}
void keyed_warm(benchmark::State& state) { keyed(state, false); }
void keyed_cold(benchmark::State& state) { keyed(state, true); }
BENCHMARK(keyed_warm)->Arg(64)->Arg(10'000)->Arg(100'000)->Arg(500'000);
BENCHMARK(keyed_cold)->Arg(100'000)->Arg(500'000);
BENCHMARK(keyed_warm)->Arg(64)->Arg(10'000)->Threads(2);

// A known name around an operation.
void scope(benchmark::State& state) {
    Samples samples;
    for (auto _ : state) {
        samples.measure(kBatch, [&] {
            for (unsigned i = 0; i < kBatch; ++i) {
                ttmem_scope_push("ttnn::matmul");
                ttmem_scope_pop();
            }
        });
    }
    samples.report(state);
}
BENCHMARK(scope);

// A call that reports a failure and writes a card, of which there is at most one per second.
void failing_call(benchmark::State& state) {
    ttmem_device_info info{};
    info.asic_id = 0x2000;
    info.memory[TTMEM_DRAM] = {1'048'640, uint64_t{1} << 32, uint64_t{12} << 32, 12, 32, TTMEM_BOTTOM_UP, 0};
    const ttmem_device device = ttmem_register_device(&info);
    const ttmem_set set = ttmem_open_set(&device, 1, "failing");
    const auto live = static_cast<uint64_t>(state.range(0));
    std::vector<uint64_t> place(live);
    for (uint64_t i = 0; i < live; ++i) {
        place[i] = i;
    }
    std::shuffle(place.begin(), place.end(), std::mt19937_64(1));
    for (uint64_t i = 0; i < live; ++i) {
        ttmem_scope_push(("layer." + std::to_string(i % 1000)).c_str());
        ttmem_allocate(set, TTMEM_DRAM, 1'048'640 + place[i] * 4096, 2000, 24'576, i);
        ttmem_scope_pop();
    }
    ttmem_failed_request request{};
    request.failure.set = set;
    request.failure.kind = TTMEM_DRAM;
    Samples samples;
    for (auto _ : state) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1'100));
        const auto begin = std::chrono::steady_clock::now();
        samples.measure(1, [&] { ttmem_request_failed(&request); });
        state.SetIterationTime(
            std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    }
    samples.report(state);
    ttmem_close_set(set);
}
BENCHMARK(failing_call)
    ->Arg(100)
    ->Arg(10'000)
    ->Arg(100'000)
    ->Iterations(5)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace ttmem::benchmarks
