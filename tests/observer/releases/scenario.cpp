// SPDX-License-Identifier: Apache-2.0
//
// A program that uses everything of the stand-in. It stops after each step.
#include <cstring>
#include <thread>

#include "release.hpp"
#include "truth.hpp"

namespace {

using namespace tt::tt_metal;

#if HAS_CAPTURE_QUESTION && !defined(MUTATION_PROCESSOR)
constexpr bool kReportsNames = true;
#else
constexpr bool kReportsNames = false;
#endif

class Op {
public:
    explicit Op(const char* name) {
        GraphTracker::instance().track_function_start(name);
        if (kReportsNames) {
            truth::enter(name);
        }
    }
    ~Op() {
        GraphTracker::instance().track_function_end();
        if (kReportsNames) {
            truth::leave();
        }
    }
};

class Context {
public:
    // One that is not of a cache or a trace counts only where there is no op.
    explicit Context([[maybe_unused]] const char* name, bool counts = true) : counts_(counts) {
#if HAS_CONTEXTS
        push_allocation_context(name);
        if (counts_) {
            truth::enter(name);
        }
#endif
    }
    ~Context() {
#if HAS_CONTEXTS
        pop_allocation_context();
        if (counts_) {
            truth::leave();
        }
#endif
    }

private:
    [[maybe_unused]] const bool counts_;
};

std::shared_ptr<Buffer>& last_buffer() {
    static std::shared_ptr<Buffer> buffer;  // freed at exit, after the lists of processors are gone
    return buffer;
}

Program make_program(uint64_t cb_size, size_t kernel_bytes) {
    const CoreRange row{{0, 0}, {1, 0}};
    const CoreRange core{{0, 1}, {0, 1}};
    std::vector<detail::CircularBufferPlan> buffers;
    buffers.push_back({CoreRangeSet(std::vector{row, core}), 105'664, cb_size, false});
    buffers.push_back({CoreRangeSet(std::vector{row}), 400'000, 2048, true});
    return {std::move(buffers), kernel_bytes};
}

distributed::MeshCoordinateRange range_of(size_t first, size_t last) {
    distributed::MeshCoordinateRange range;
    range.first = first;
    range.last = last;
    return range;
}

template <class Action>
bool throws(const Action& action) {
    try {
        action();
        return false;
    } catch (const std::runtime_error&) {
        return true;
    }
}

bool run(const char* file) {
    const auto pause = [&](const char* step) { truth::pause(step, file); };
    bool is_right = true;
    auto mesh = distributed::MeshDevice::create({0, 1});
    auto first = Buffer::create(mesh.get(), 2048, 1024, BufferType::DRAM);  // its number is 0
    pause("open");

    std::vector<std::shared_ptr<Buffer>> buffers;
    {
        const Op model("model");
        buffers.push_back(Buffer::create(mesh.get(), 81'920, 2000, BufferType::DRAM));
        {
            const Op matmul("matmul");
            buffers.push_back(Buffer::create(mesh.get(), 40'960, 1000, BufferType::L1));
        }
        buffers.push_back(Buffer::create(mesh.get(), 1024, 1024, BufferType::L1_SMALL));
    }
    buffers.push_back(Buffer::create(mesh.get(), 20'480, 2048, BufferType::TRACE));
    IDevice* chip = mesh->get_devices()[1];
    buffers.push_back(Buffer::create(chip, 65'536, 2048, BufferType::DRAM));
    pause("buffers of every kind");

    buffers.push_back(Buffer::create(mesh.get(), 10'240, 1024, BufferType::L1, true));
    pause("a buffer on a sub-device");

    {
        const Context context("program_cache: matmul");
        buffers.push_back(Buffer::create(mesh.get(), 4096, 4096, BufferType::DRAM));
    }
    {
        const Op op("compile");
        const Context binaries("program_cache: kernel binaries");
        buffers.push_back(Buffer::create(mesh.get(), 4096, 4096, BufferType::DRAM));
    }
    {
        const Context context("a context");
        buffers.push_back(Buffer::create(mesh.get(), 2048, 2048, BufferType::DRAM));
    }
    {
        const Op op("capture");
        const Context of_op("capture's own context", false);
        buffers.push_back(Buffer::create(mesh.get(), 2048, 2048, BufferType::DRAM));
        const Context storage("trace_storage");
        buffers.push_back(Buffer::create(mesh.get(), 2048, 2048, BufferType::DRAM));
    }
    Buffer::create(mesh.get(), 8192, 2048, BufferType::L1,
                   true);  // the planned one takes its place on the heap
    GraphTracker::instance().hooks_allocations = true;
    buffers.push_back(Buffer::create(mesh.get(), 8192, 2048, BufferType::L1));
    GraphTracker::instance().hooks_allocations = false;
    pause("a planned buffer");

    buffers.erase(buffers.begin() + 1, buffers.begin() + 3);
    buffers.pop_back();
    pause("some freed");

    // The first failure: others within a second have no full card.
    mesh->live_trace_bytes = 20'480;
    is_right = is_right && throws([&] { mesh->end_mesh_trace(0, {300}); });
    mesh->end_mesh_trace(0, {1});
    pause("a trace that is too large");

    is_right = is_right && throws([&] { Buffer::create(mesh.get(), 1u << 29, 2048, BufferType::DRAM); });
    is_right = is_right && throws([&] { Buffer::create(mesh.get(), 1u << 23, 2048, BufferType::L1, true); });
    // Over one bank: it would fit if it were interleaved.
    is_right =
        is_right && throws([&] { Buffer::create(mesh.get(), 1u << 21, 2048, BufferType::L1, false, {}, 1); });
    pause("out of memory");
    Allocating::l1_limit = 1'400'000;
    is_right = is_right && throws([&] { Buffer::create(mesh.get(), 131'072, 2048, BufferType::L1); });
    Allocating::l1_limit = 0;
    pause("an address below a limit");

    distributed::MeshCommandQueue queue(mesh.get());
    {
        distributed::MeshWorkload workload;
        workload.get_programs().emplace(range_of(0, 0), make_program(4096, 1200));
        workload.get_programs().emplace(range_of(1, 1), make_program(8192, 2400));
        {
            const Op op("launch");
            distributed::EnqueueMeshWorkload(queue, workload, false);
        }
        pause("programs");
        distributed::EnqueueMeshWorkload(queue, workload, false);
        pause("programs again");
    }
    pause("programs gone");

    {
        Program program = make_program(1024, 400);
        detail::ConfigureDeviceWithProgram(chip, program, true);
        pause("a program on one chip");
    }
    buffers.push_back(Buffer::create(chip, 65'536, 2048, BufferType::L1));
    {
        Program program = make_program(1'310'000, 400);
        is_right = is_right && throws([&] { detail::ConfigureDeviceWithProgram(chip, program, true); });
        Program larger = make_program(1'400'000, 400);
        is_right = is_right && throws([&] { detail::ConfigureDeviceWithProgram(chip, larger, true); });
    }
    pause("clashes in slow dispatch");
    buffers.push_back(Buffer::create(mesh.get(), 65'536, 2048, BufferType::L1));
    {
        distributed::MeshWorkload workload;
        workload.get_programs().emplace(range_of(0, 1), make_program(1'300'000, 400));
        is_right = is_right && throws([&] { distributed::EnqueueMeshWorkload(queue, workload, false); });
    }
    pause("a clash");
    {
        // The lowest buffer of the device is further below.
        Program program({{CoreRangeSet(std::vector{CoreRange{{0, 1}, {0, 1}}}), 105'664, 1'306'336, false}},
                        400);
        program.impl().on_sub_device = true;
        distributed::MeshWorkload workload;
        workload.get_programs().emplace(range_of(0, 1), program);
        is_right = is_right && throws([&] { distributed::EnqueueMeshWorkload(queue, workload, false); });
    }
    pause("a clash on a sub-device");

#if HAS_DATAFLOW_BUFFERS
    {
        distributed::MeshWorkload workload;
        Program program({}, 400);
        program.impl().dataflow_bytes = 16'384;
#if HAS_SCRATCHPADS
        program.impl().scratchpad_bytes = 4096;
#endif
        workload.get_programs().emplace(range_of(0, 1), program);
        distributed::EnqueueMeshWorkload(queue, workload, false);
        pause("dataflow buffers");
        distributed::EnqueueMeshWorkload(queue, workload, false);
        pause("dataflow buffers again");
        Program larger({}, 400);
        larger.impl().dataflow_bytes = 1'310'000;
        distributed::MeshWorkload other;
        other.get_programs().emplace(range_of(0, 1), larger);
        is_right = is_right && throws([&] { distributed::EnqueueMeshWorkload(queue, other, false); });
        pause("a clash of dataflow buffers");
    }
#else
    pause("no dataflow buffers");
    pause("no dataflow buffers again");
    pause("no clash of dataflow buffers");
#endif

    buffers.push_back(
        Buffer::create(mesh.get(), 8192, 2048, BufferType::L1, false, {{0, 0}, {1, 0}, {0, 1}}));
    pause("a buffer with an address on each core");
    buffers.pop_back();

    std::thread([&] {
        const Op op("worker");
        buffers.push_back(Buffer::create(mesh.get(), 4096, 1024, BufferType::DRAM));
        Buffer::create(mesh.get(), 4096, 1024, BufferType::DRAM);
    }).join();
    pause("a thread");

    std::thread([&] {
        GraphTracker::instance().track_function_start("thrown");  // an op that throws never ends
        if (kReportsNames) {
            truth::enter("thrown");
        }
        const Op op("after");
        buffers.push_back(Buffer::create(mesh.get(), 4096, 1024, BufferType::DRAM));
    }).join();
    pause("an op that throws");

    chip->allocator()->deallocate_buffers();
    pause("all of a chip freed at once");

#if HAS_ALLOCATOR_VIEW
    buffers.push_back(Buffer::create(chip, 4096, 1024, BufferType::DRAM));
    chip->allocator_impl()->override_state({});
#endif
    pause("the state of an allocator replaced");

    mesh->close();
    pause("closed");
    buffers.clear();
    first.reset();

    // Never closed, so that its buffer still has memory at exit.
    static auto& last =
        *new std::shared_ptr<distributed::MeshDevice>(distributed::MeshDevice::create({0, 1}));
    {
        const Op op("to the end");
        last_buffer() = Buffer::create(last.get(), 4096, 1024, BufferType::DRAM);
    }
    pause("opened again");
    return is_right;
}

}  // namespace

// Arguments: --pause-at all --truth FILE
extern "C" int release_main(int count, char** arguments) {
    for (int i = 1; i + 1 < count; ++i) {
        if (std::strcmp(arguments[i], "--truth") == 0) {
            last_buffer();  // made before the tracker, so destroyed after it
            return run(arguments[i + 1]) ? 0 : 1;
        }
    }
    return 2;
}
