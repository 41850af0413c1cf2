// SPDX-License-Identifier: Apache-2.0
//
// Performs the calls behind the recorded event logs and prints the events: record_events t3000_events > log.
// Only tt-metal's public API is used, so this source builds against the simulated runtime and against the real one.
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <optional>
#include <thread>
#include <tt-metalium/distributed.hpp>
#include <tt-metalium/global_semaphore.hpp>
#include <tt-metalium/graph_tracking.hpp>
#include <tt-metalium/host_api.hpp>
#include <utility>
#include <vector>

#include "sim/testing/event_recorder.hpp"

namespace {

using namespace tt::tt_metal;
using namespace tt::tt_metal::distributed;
using event_recorder::phase;

using Mesh = std::shared_ptr<MeshDevice>;

std::shared_ptr<MeshBuffer> replicated(const Mesh& mesh, DeviceAddr size, DeviceAddr page_size,
                                       BufferType type = BufferType::DRAM,
                                       std::optional<DeviceAddr> address = std::nullopt) {
    DeviceLocalBufferConfig local;
    local.page_size = page_size;
    local.buffer_type = type;
    return MeshBuffer::create(ReplicatedBufferConfig{.size = size}, local, mesh.get(), address);
}

// On the first cores of row 0, the same number of pages on each.
std::shared_ptr<MeshBuffer> height_sharded(const Mesh& mesh, uint32_t cores, uint32_t pages_per_core,
                                           uint32_t page_size, BufferType type) {
    const uint32_t width = page_size / 2;
    DeviceLocalBufferConfig local;
    local.page_size = page_size;
    local.buffer_type = type;
    local.sharding_args =
        BufferShardingArgs(ShardSpecBuffer(CoreRangeSet(CoreRange(CoreCoord(0, 0), CoreCoord(cores - 1, 0))),
                                           {pages_per_core, width}, ShardOrientation::ROW_MAJOR, {1, width},
                                           {cores * pages_per_core, 1}),
                           TensorMemoryLayout::HEIGHT_SHARDED);
    return MeshBuffer::create(ReplicatedBufferConfig{.size = DeviceAddr{cores} * pages_per_core * page_size},
                              local, mesh.get());
}

const CoreRange kFourCores(CoreCoord(0, 0), CoreCoord(1, 1));

CBHandle add_cb(Program& program, const CoreRange& cores, uint8_t index, uint32_t size) {
    CircularBufferConfig config(size, {{index, tt::DataFormat::Float16_b}});
    config.set_page_size(index, 2048);
    return CreateCircularBuffer(program, cores, config);
}

MeshWorkload workload_of(const Mesh& mesh, Program&& program) {
    MeshWorkload workload;
    workload.add_program(MeshCoordinateRange(mesh->shape()), std::move(program));
    return workload;
}

void on_other_thread(const std::function<void()>& what) {
    std::thread([&] {
        event_recorder::name_thread("other");
        what();
    }).join();
}

void buffers_of_every_kind(const Mesh& mesh) {
    phase("replicated DRAM 1MiB: create");
    auto buffer = replicated(mesh, 1048576, 2048);
    phase("replicated DRAM 1MiB: drop last reference");
    buffer.reset();

    phase("sharded DRAM global 1MiB over 2x4: create");
    DeviceLocalBufferConfig local;
    local.page_size = 2048;
    distributed::ShardedBufferConfig sharded;
    sharded.global_size = 1048576;
    sharded.global_buffer_shape = {512, 1024};
    sharded.shard_shape = {256, 256};
    buffer = MeshBuffer::create(sharded, local, mesh.get());
    phase("sharded DRAM: explicit deallocate()");
    buffer->deallocate();
    phase("sharded DRAM: drop reference after deallocate()");
    buffer.reset();

    phase("replicated L1 interleaved 64KiB + 100KiB(page 2048) + small 3000B");
    auto a = replicated(mesh, 65536, 2048, BufferType::L1);
    auto b = replicated(mesh, 102400, 2048, BufferType::L1);
    auto c = replicated(mesh, 3000, 3000, BufferType::L1);
    phase("L1: drop in order a,b,c");
    a.reset();
    b.reset();
    c.reset();

    phase("L1 height-sharded on 4 cores, replicated over mesh, 4x8KiB");
    buffer = height_sharded(mesh, 4, 4, 2048, BufferType::L1);
    phase("L1 height-sharded: drop");
    buffer.reset();
    phase("L1_SMALL 4KiB replicated");
    buffer = height_sharded(mesh, 4, 1, 1024, BufferType::L1_SMALL);
    phase("L1_SMALL: drop");
    buffer.reset();

    phase("GlobalSemaphore");
    std::optional<GlobalSemaphore> semaphore =
        CreateGlobalSemaphore(*mesh, CoreRangeSet(CoreRange(CoreCoord(0, 0), CoreCoord(3, 3))), 0);
    phase("GlobalSemaphore: drop");
    semaphore.reset();
}

void views_and_other_devices(const Mesh& mesh) {
    phase("MeshBuffer view at explicit address (no backing)");
    auto owner = replicated(mesh, 65536, 2048);
    phase("second MeshBuffer at a's address");
    auto view = replicated(mesh, 65536, 2048, BufferType::DRAM, owner->address());
    phase("drop view");
    view.reset();
    phase("drop owner");
    owner.reset();

    phase("plain Buffer::create on one physical device (get_devices()[3])");
    auto plain = Buffer::create(mesh->get_devices()[3], 8192, 2048, BufferType::DRAM);
    phase("plain Buffer: drop");
    plain.reset();

    phase("submesh 1x2 + replicated DRAM");
    auto submesh = mesh->create_submesh(MeshShape(1, 2), MeshCoordinate(0, 1));
    auto buffer = replicated(submesh, 65536, 2048);
    phase("submesh buffer: drop");
    buffer.reset();
    phase("submesh: drop");
    submesh.reset();
}

void other_threads(const Mesh& mesh) {
    phase("allocation on a second thread (no processor pushed there)");
    std::shared_ptr<MeshBuffer> buffer;
    on_other_thread([&] { buffer = replicated(mesh, 65536, 2048); });
    phase("buffer allocated on other thread: dropped on main");
    buffer.reset();
    phase("allocate on main, free on other thread");
    buffer = replicated(mesh, 65536, 2048);
    on_other_thread([&] { buffer.reset(); });
}

void programs(const Mesh& mesh) {
    auto& queue = mesh->mesh_command_queue();
    phase("program: 2 local CBs on 2x2 cores + 1 CB global on an L1 buffer; one program on whole mesh");
    auto l1 = height_sharded(mesh, 4, 4, 2048, BufferType::L1);
    phase("program: create CBs");
    Program program = CreateProgram();
    add_cb(program, kFourCores, 0, 16384);
    add_cb(program, kFourCores, 1, 4096);
    CircularBufferConfig global(8192, {{uint8_t{2}, tt::DataFormat::Float16_b}}, *l1->get_reference_buffer());
    global.set_page_size(2, 2048);
    CreateCircularBuffer(program, CoreRange(CoreCoord(0, 0), CoreCoord(3, 0)), global);
    std::optional<MeshWorkload> workload = workload_of(mesh, std::move(program));
    phase("program: EnqueueMeshWorkload #1");
    EnqueueMeshWorkload(queue, *workload, false);
    phase("program: EnqueueMeshWorkload #2 (cached)");
    EnqueueMeshWorkload(queue, *workload, false);
    phase("program: destroy workload");
    workload.reset();
    phase("program: drop L1 buffer");
    l1.reset();

    phase("heterogeneous workload: 2 programs on 2 rows (compiled on thread pool)");
    Program first = CreateProgram();
    add_cb(first, kFourCores, 0, 16384);
    Program second = CreateProgram();
    add_cb(second, kFourCores, 0, 32768);
    workload.emplace();
    workload->add_program(MeshCoordinateRange(MeshCoordinate(0, 0), MeshCoordinate(0, 3)), std::move(first));
    workload->add_program(MeshCoordinateRange(MeshCoordinate(1, 0), MeshCoordinate(1, 3)), std::move(second));
    phase("heterogeneous: Enqueue");
    EnqueueMeshWorkload(queue, *workload, false);
    phase("heterogeneous: destroy");
    workload.reset();

    phase("workload write/read");
    auto buffer = replicated(mesh, 65536, 2048);
    EnqueueWriteMeshBuffer(queue, buffer, std::vector<uint32_t>(65536 / 4), true);
    buffer.reset();

    phase("trace capture of an empty workload");
    const auto trace = mesh->begin_mesh_trace(queue);
    mesh->end_mesh_trace(queue, trace);
    phase("trace: release");
    mesh->release_mesh_trace(trace);
}

void t3000_events() {
    phase("register processor BEFORE device open (main thread)");
    GraphTracker::instance().push_processor(event_recorder::make_processor());
    phase("MeshDevice::create 2x4 mock T3000");
    auto mesh = MeshDevice::create(MeshDeviceConfig(MeshShape(2, 4)), 32768, 1048576);
    buffers_of_every_kind(mesh);
    views_and_other_devices(mesh);
    other_threads(mesh);
    programs(mesh);

    phase("two DRAM buffers and a program kept alive across close()");
    auto first = replicated(mesh, 65536, 2048);
    auto second = replicated(mesh, 32768, 2048, BufferType::L1);
    Program program = CreateProgram();
    add_cb(program, kFourCores, 0, 16384);
    phase("mesh->close() with live buffers");
    mesh->close();
    phase("drop live buffer 1 after close()");
    first.reset();
    phase("mesh.reset()");
    mesh.reset();
    phase("drop live buffer 2 after mesh destroyed");
    second.reset();
    phase("end");
}

MeshWorkload one_cb(const Mesh& mesh, uint32_t size) {
    Program program = CreateProgram();
    add_cb(program, kFourCores, 0, size);
    return workload_of(mesh, std::move(program));
}

void program_lifetimes(const Mesh& mesh) {
    auto& queue = mesh->mesh_command_queue();
    phase("CB resize");
    Program resized = CreateProgram();
    const CBHandle cb = add_cb(resized, kFourCores, 0, 16384);
    std::optional<MeshWorkload> workload = workload_of(mesh, std::move(resized));
    phase("CB resize: enqueue 16KiB");
    EnqueueMeshWorkload(queue, *workload, false);
    phase("CB resize: UpdateCircularBufferTotalSize -> 32KiB");
    UpdateCircularBufferTotalSize(workload->get_programs().begin()->second, cb, 32768);
    phase("CB resize: enqueue again");
    EnqueueMeshWorkload(queue, *workload, false);
    phase("CB resize: destroy workload");
    workload.reset();

    phase("two programs alive, destroy in order");
    std::optional<MeshWorkload> w1 = one_cb(mesh, 8192);
    std::optional<MeshWorkload> w2 = one_cb(mesh, 65536);
    phase("two programs: enqueue w1");
    EnqueueMeshWorkload(queue, *w1, false);
    phase("two programs: enqueue w2");
    EnqueueMeshWorkload(queue, *w2, false);
    phase("two programs: destroy w1");
    w1.reset();
    phase("two programs: destroy w2");
    w2.reset();

    phase("program destroyed on another thread");
    w1 = one_cb(mesh, 8192);
    EnqueueMeshWorkload(queue, *w1, false);
    phase("destroy on other thread");
    on_other_thread([&] { w1.reset(); });
}

void t3000_programs_and_views() {
    const auto processor = event_recorder::make_processor();
    GraphTracker::instance().push_processor(processor);
    phase("open");
    auto mesh = MeshDevice::create(MeshDeviceConfig(MeshShape(2, 4)));
    program_lifetimes(mesh);

    phase("same processor pushed on worker thread too");
    on_other_thread([&] {
        GraphTracker::instance().push_processor(processor);
        replicated(mesh, 4096, 2048);
    });

    phase("submesh sees parent's allocation? parent 64KiB then submesh 64KiB same addresses?");
    {
        const auto submesh = mesh->create_submesh(MeshShape(1, 2), MeshCoordinate(0, 1));
        const auto parents = replicated(mesh, 65536, 2048);
        const auto submeshs = replicated(submesh, 65536, 2048);
        const auto plain = Buffer::create(submesh->get_devices()[0], 65536, 2048, BufferType::DRAM);
    }

    phase("failed allocation (too big)");
    try {
        replicated(mesh, DeviceAddr{1} << 40, 2048);
        std::fputs("an allocation of 2^40 bytes did not fail\n", stderr);
    } catch (const std::exception&) {
    }
    phase("zero-size buffer");
    Buffer::create(mesh.get(), 0, 2048, BufferType::DRAM);

    phase("Buffer::view of half");
    auto root = Buffer::create(mesh.get(), 8192, 2048, BufferType::DRAM);
    auto view = root->view(BufferRegion(0, 4096));
    phase("view: drop root handle first");
    root.reset();
    phase("view: drop view");
    view.reset();
    phase("close");
    mesh->close();
}

void t3000_unit_meshes() {
    GraphTracker::instance().push_processor(event_recorder::make_processor());
    phase("create_unit_meshes {0,3}");
    {
        const auto meshes = MeshDevice::create_unit_meshes({0, 3});
        for (const auto& [chip, mesh] : meshes) {
            replicated(mesh, 4096, 2048);
        }
    }
    phase("reopen whole mesh");
    const auto mesh = MeshDevice::create(MeshDeviceConfig(MeshShape(2, 4)));
    replicated(mesh, 4096, 2048);
}

}  // namespace

int main(int argc, char** argv) {
    const char* name = argc == 2 ? argv[1] : "";
    if (std::strcmp(name, "t3000_events") == 0) {
        t3000_events();
    } else if (std::strcmp(name, "t3000_programs_and_views") == 0) {
        t3000_programs_and_views();
    } else if (std::strcmp(name, "t3000_unit_meshes") == 0) {
        t3000_unit_meshes();
    } else {
        std::fputs("usage: record_events t3000_events | t3000_programs_and_views | t3000_unit_meshes\n",
                   stderr);
        return 2;
    }
    return 0;
}
