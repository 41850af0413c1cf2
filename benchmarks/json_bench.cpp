// SPDX-License-Identifier: Apache-2.0

// The time to write and to read the largest documents: the status of a host with 32 devices and 64 processes, and a change of the
// stream in which everything differs. 'ttmem top' reads such a change twice a second.

#include <benchmark/benchmark.h>

#include "tui/models_test_support.hpp"
#include "view/json/json.hpp"
#include "view/model/change.hpp"

namespace ttmem::tui {
namespace {

// Every process holds something on every device.
view::View busy_host() {
    view::View view = galaxy();
    std::vector<census::DeviceHoldings> held;
    for (const census::DeviceFigures& device : view.figures.devices) {
        census::DeviceHoldings& one = held.emplace_back();
        one.id = device.id;
        one.logical_id = device.id;
        for (census::Holding& memory : one.memory) {
            memory = {402'259'944, 402'250'000, 77};
        }
    }
    for (census::ProcessFigures& process : view.figures.processes) {
        process.devices = held;
    }
    return view;
}

view::ViewChange change_of(const view::View& view) {
    return {view.figures.inexact, {}, view.figures.devices, view.figures.processes, {}, {}};
}

void count(benchmark::State& state, size_t bytes) {
    state.counters["document"] = static_cast<double>(bytes);
    state.SetBytesProcessed(static_cast<int64_t>(bytes) * static_cast<int64_t>(state.iterations()));
}

void write_status(benchmark::State& state) {
    const view::View view = busy_host();
    size_t bytes = 0;
    for (auto _ : state) {
        bytes = view::to_json(view).size();
    }
    count(state, bytes);
}
BENCHMARK(write_status)->Unit(benchmark::kMillisecond);

void read_status(benchmark::State& state) {
    const std::string text = view::to_json(busy_host());
    for (auto _ : state) {
        benchmark::DoNotOptimize(view::from_json<view::View>(text));
    }
    count(state, text.size());
}
BENCHMARK(read_status)->Unit(benchmark::kMillisecond);

void write_change(benchmark::State& state) {
    const view::ViewChange change = change_of(busy_host());
    size_t bytes = 0;
    for (auto _ : state) {
        bytes = view::JsonForm<view::ViewChange>::write_line(change).size();
    }
    count(state, bytes);
}
BENCHMARK(write_change)->Unit(benchmark::kMillisecond);

void read_change(benchmark::State& state) {
    const std::string text = view::JsonForm<view::ViewChange>::write_line(change_of(busy_host()));
    for (auto _ : state) {
        benchmark::DoNotOptimize(view::from_json<view::ViewChange>(text));
    }
    count(state, text.size());
}
BENCHMARK(read_change)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace ttmem::tui
