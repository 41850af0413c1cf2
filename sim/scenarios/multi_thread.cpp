// SPDX-License-Identifier: Apache-2.0
//
// Threads allocate, other threads free: no event is lost between them.
#include <fmt/format.h>

#include <random>
#include <thread>

#include "sim/scenarios/ops.hpp"
#include "sim/scenarios/run.hpp"
#include "sim/scenarios/scenario.hpp"

namespace ttmem::sim {
namespace {

constexpr size_t kThreads = 4;
constexpr size_t kTensorsPerThread = 64;

template <typename Work>
void on_threads(const Work& work) {
    std::vector<std::thread> threads;
    for (size_t index = 0; index < kThreads; ++index) {
        threads.emplace_back([&work, index] { work(index); });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
}

}  // namespace

void run_multi_thread(Run& run) {
    const auto mesh = run.open_mesh();
    run.step("open");
    const uint64_t seed = run.random()();
    std::vector<std::vector<ops::Tensor>> tensors(kThreads);
    on_threads([&](size_t index) {
        const ops::Scope scope(fmt::format("worker.{}", index));
        std::mt19937_64 random(seed + index);
        for (size_t i = 0; i < kTensorsPerThread; ++i) {
            const auto type = random() % 4 == 0 ? ops::BufferType::L1 : ops::BufferType::DRAM;
            tensors[index].push_back(ops::empty(*mesh, (1 + random() % 64) * ops::kTilePage, type));
        }
    });
    run.step("allocated");
    // Each thread frees half of what its neighbour made.
    on_threads([&](size_t index) {
        auto& neighbours = tensors[(index + 1) % kThreads];
        for (size_t i = 0; i < neighbours.size(); i += 2) {
            neighbours[i].reset();
        }
    });
    run.step("half freed by neighbours");
    // Allocations and frees at the same time, and a program that is built on one thread and dies on another.
    std::vector<std::optional<tt::tt_metal::distributed::MeshWorkload>> workloads(kThreads);
    on_threads([&](size_t index) {
        const ops::Scope scope(fmt::format("worker.{}", index));
        auto& workload = workloads[index].emplace();
        workload.add_program(tt::tt_metal::distributed::MeshCoordinateRange(mesh->shape()),
                             ops::build({.name = fmt::format("worker_{}", index),
                                         .cores = tt::tt_metal::CoreRange({0, 0}, {3, 3}),
                                         .circular_buffers = {8192, 4096},
                                         .kernels = {2048}}));
        tt::tt_metal::distributed::EnqueueMeshWorkload(mesh->mesh_command_queue(), workload, false);
        auto& neighbours = tensors[(index + 1) % kThreads];
        for (size_t i = 1; i < neighbours.size(); i += 2) {
            neighbours[i] = ops::empty(*mesh, 65'536);
        }
    });
    run.step("programs and replacements");
    on_threads([&](size_t index) { workloads[(index + 1) % kThreads].reset(); });
    run.step("programs gone");
    for (auto& each : tensors) {
        each.clear();
    }
    run.step("freed");
    mesh->close();
    run.step("close");
}

}  // namespace ttmem::sim
