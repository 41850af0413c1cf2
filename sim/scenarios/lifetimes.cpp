// SPDX-License-Identifier: Apache-2.0
//
// Buffers and their meshes end in every order: views, submeshes, a bulk free, a close with buffers alive, buffers that
// outlive their mesh, and the same chips opened again.
#include <tt-metalium/allocator.hpp>
#include <tt-metalium/global_semaphore.hpp>
#include <tt-metalium/host_api.hpp>

#include "sim/scenarios/ops.hpp"
#include "sim/scenarios/run.hpp"
#include "sim/scenarios/scenario.hpp"

namespace ttmem::sim {

using namespace tt::tt_metal;
using namespace tt::tt_metal::distributed;

void run_lifetimes(Run& run) {
    const RegionSizes regions{.l1_small = 32'768, .trace = 1'048'576};
    auto mesh = run.open_mesh(regions);
    run.step("open");

    auto owner = ops::empty(*mesh, 4'194'304);
    DeviceLocalBufferConfig local;
    local.page_size = ops::kTilePage;
    auto view =
        MeshBuffer::create(ReplicatedBufferConfig{.size = 1'048'576}, local, mesh.get(), owner->address());
    run.step("view of a mesh buffer");
    view.reset();
    auto root = Buffer::create(mesh.get(), 1'048'576, 2048, BufferType::DRAM);
    auto part = root->view(BufferRegion(0, 524'288));
    root.reset();
    run.step("part keeps the whole");
    part.reset();
    run.step("part gone");
    auto semaphore = std::make_optional(
        CreateGlobalSemaphore(*mesh, CoreRangeSet(CoreRange(CoreCoord(0, 0), CoreCoord(3, 3))), 0));
    run.step("semaphore");

    // Three allocators on one chip: the mesh's, a submesh's and its own.
    auto submesh = mesh->create_submesh(MeshShape(1, 1));
    auto in_submesh = ops::empty(*submesh, 2'097'152);
    auto plain = Buffer::create(mesh->get_devices().front(), 1'048'576, 2048, BufferType::DRAM);
    auto plain_l1 = Buffer::create(mesh->get_devices().back(), 65'536, 2048, BufferType::L1);
    run.step("three allocators");
    submesh->close();
    run.step("submesh closed");
    in_submesh.reset();
    submesh.reset();
    run.step("submesh gone");

    auto other = ops::empty(*mesh, uint64_t{3000} * 2048, BufferType::L1);
    mesh->allocator()->deallocate_buffers();
    run.step("bulk free of the mesh");
    owner.reset();
    other.reset();
    semaphore.reset();
    mesh->get_devices().front()->allocator()->deallocate_buffers();
    run.step("bulk free of a device");

    auto survivor = ops::empty(*mesh, 8'388'608);
    auto survivor_l1 = ops::empty(*mesh, 131'072, BufferType::L1);
    auto trace = mesh->begin_mesh_trace(mesh->mesh_command_queue());
    mesh->end_mesh_trace(mesh->mesh_command_queue(), trace);
    run.step("before close");
    mesh->close();
    run.step("closed with live buffers");
    survivor.reset();
    run.step("dropped after close");
    mesh.reset();

    mesh = run.open_mesh();
    auto again = ops::empty(*mesh, 4'194'304);
    run.step("opened again");
    survivor_l1.reset();
    plain.reset();
    plain_l1.reset();
    run.step("old buffers dropped");
    mesh.reset();  // closes implicitly
    run.step("mesh destroyed");
    again.reset();
    run.step("end");
}

}  // namespace ttmem::sim
