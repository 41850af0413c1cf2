// SPDX-License-Identifier: Apache-2.0

// The cost of the observer in an unmodified program: the same calls of the runtime's API without tracking, with the
// runtime's own reports, and under the observer. benchmarks/run starts this program once for each; TTMEM_BENCH_WAY
// names the variant. An operation is one event: an allocation, a free, or the launch of a program that ran before.

#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <tt-metalium/distributed.hpp>
#include <tt-metalium/graph_tracking.hpp>
#include <tt-metalium/host_api.hpp>
#include <vector>

#include "samples.hpp"

namespace ttmem::benchmarks {
namespace {

using namespace tt::tt_metal;
using namespace tt::tt_metal::distributed;

constexpr unsigned kBatch = 64;  // allocations and as many frees

std::shared_ptr<MeshDevice> open_mesh(bool whole) {
    // The members of the Galaxy that TTMEM_SIM_BOARD names, or one of them.
    return whole ? MeshDevice::create(MeshDeviceConfig(MeshShape(8, 4))) : MeshDevice::create_unit_mesh(0);
}

void allocate_and_free(benchmark::State& state, bool whole, bool with_scope) {
    const auto mesh = open_mesh(whole);
    // Some buffers are always live, as in a model.
    std::vector<std::shared_ptr<Buffer>> live;
    for (int i = 0; i < 1000; ++i) {
        live.push_back(Buffer::create(mesh.get(), 65'536, 2048, BufferType::DRAM));
    }
    std::vector<std::shared_ptr<Buffer>> batch(kBatch);
    Samples samples;
    for ([[maybe_unused]] auto each : state) {
        samples.measure(2 * kBatch, [&] {
            for (auto& buffer : batch) {
                if (with_scope) {
                    GraphTracker::instance().track_function_start("ttnn::matmul");
                }
                buffer = Buffer::create(mesh.get(), 65'536, 2048, BufferType::DRAM);
                if (with_scope) {
                    GraphTracker::instance().track_function_end();
                }
            }
            for (auto& buffer : batch) {
                buffer.reset();
            }
        });
    }
    samples.report(state);
    live.clear();
    mesh->close();
}

void launch_again(benchmark::State& state) {
    const auto mesh = open_mesh(true);
    Program program = CreateProgram();
    CreateKernel(program, "ttnn/cpp/kernel.cpp", CoreCoord{0, 0}, DataMovementConfig{});
    CircularBufferConfig config(4096, {{0, tt::DataFormat::Float16_b}});
    config.set_page_size(0, 2048);
    CreateCircularBuffer(program, CoreRange(CoreCoord(0, 0), CoreCoord(1, 1)), config);
    auto workload = std::make_unique<MeshWorkload>();
    workload->add_program(MeshCoordinateRange(mesh->shape()), std::move(program));
    EnqueueMeshWorkload(mesh->mesh_command_queue(), *workload, false);
    Samples samples;
    for ([[maybe_unused]] auto each : state) {
        samples.measure(kBatch, [&] {
            for (unsigned i = 0; i < kBatch; ++i) {
                EnqueueMeshWorkload(mesh->mesh_command_queue(), *workload, false);
            }
        });
    }
    samples.report(state);
    workload.reset();
    mesh->close();
}

const bool kRegistered = [] {
    const char* way = std::getenv("TTMEM_BENCH_WAY");
    const std::string prefix = std::string("runtime_") + (way != nullptr ? way : "alone") + "/";
    benchmark::RegisterBenchmark((prefix + "buffer").c_str(),
                                 [](benchmark::State& state) { allocate_and_free(state, false, false); });
    benchmark::RegisterBenchmark((prefix + "named_buffer").c_str(),
                                 [](benchmark::State& state) { allocate_and_free(state, false, true); });
    benchmark::RegisterBenchmark((prefix + "mesh_buffer").c_str(),
                                 [](benchmark::State& state) { allocate_and_free(state, true, false); });
    benchmark::RegisterBenchmark((prefix + "launch_again").c_str(), launch_again);
    return true;
}();

}  // namespace
}  // namespace ttmem::benchmarks
