// SPDX-License-Identifier: Apache-2.0
//
// Lifetimes of circular buffers and kernels: dispatched twice and counted once, laid out again in place of the old layout,
// placed on a buffer's memory, two programs at the same addresses, different programs on different rows.
#include <optional>
#include <thread>
#include <tt-metalium/host_api.hpp>

#include "sim/scenarios/ops.hpp"
#include "sim/scenarios/run.hpp"
#include "sim/scenarios/scenario.hpp"

namespace ttmem::sim {
namespace {

using namespace tt::tt_metal;
using namespace tt::tt_metal::distributed;

const CoreRange kCores(CoreCoord(0, 0), CoreCoord(1, 1));

MeshWorkload on_whole_mesh(const MeshDevice& mesh, Program&& program) {
    MeshWorkload workload;
    workload.add_program(MeshCoordinateRange(mesh.shape()), std::move(program));
    return workload;
}

Program two_buffers(const char* name, uint32_t first, uint32_t second) {
    return ops::build(
        {.name = name, .cores = kCores, .circular_buffers = {first, second}, .kernels = {2048, 2048, 6144}});
}

}  // namespace

void run_programs(Run& run) {
    const auto mesh = run.open_mesh();
    auto& queue = mesh->mesh_command_queue();
    run.step("open");

    std::optional<MeshWorkload> one = on_whole_mesh(*mesh, two_buffers("one", 16'384, 4096));
    run.step("built");
    EnqueueMeshWorkload(queue, *one, false);
    run.step("enqueued");
    EnqueueMeshWorkload(queue, *one, false);
    run.step("enqueued again");

    std::optional<MeshWorkload> two = on_whole_mesh(*mesh, two_buffers("two", 65'536, 8192));
    EnqueueMeshWorkload(queue, *two, false);
    run.step("two programs at once");

    UpdateCircularBufferTotalSize(one->get_programs().begin()->second, 0, 32'768);
    run.step("resized");
    EnqueueMeshWorkload(queue, *one, false);
    run.step("laid out again");

    const auto l1 = ops::height_sharded(*mesh, 4, 4, 2048);
    Program on_a_buffer = two_buffers("global", 8192, 4096);
    CircularBufferConfig global(8192, {{uint8_t{2}, tt::DataFormat::Float16_b}}, *l1->get_reference_buffer());
    global.set_page_size(2, 2048);
    CreateCircularBuffer(on_a_buffer, CoreRange(CoreCoord(0, 0), CoreCoord(3, 0)), global);
    std::optional<MeshWorkload> three = on_whole_mesh(*mesh, std::move(on_a_buffer));
    EnqueueMeshWorkload(queue, *three, false);
    run.step("on a buffer");

    one.reset();
    run.step("first gone");
    std::thread([&] { two.reset(); }).join();
    run.step("second gone on a thread");
    three.reset();
    run.step("third gone");

    // A program for the first device, and another for the rest where there is one.
    std::optional<MeshWorkload> mixed;
    mixed.emplace();
    const MeshShape shape = mesh->shape();
    mixed->add_program(MeshCoordinateRange(MeshCoordinate(0, 0)), two_buffers("first", 16'384, 2048));
    if (shape[1] > 1) {
        mixed->add_program(MeshCoordinateRange(MeshCoordinate(0, 1), MeshCoordinate(0, shape[1] - 1)),
                           two_buffers("others", 32'768, 2048));
    }
    EnqueueMeshWorkload(queue, *mixed, false);
    run.step("different programs");
    mesh->close();
    run.step("closed under them");
    mixed.reset();
    run.step("programs gone");
}

}  // namespace ttmem::sim
