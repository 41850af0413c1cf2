// SPDX-License-Identifier: Apache-2.0
//
// A program that uses everything of the stand-in and stops after each step.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <thread>
#include <tt-metalium/graph_tracking.hpp>

#include "truth.hpp"

namespace {

using namespace tt::tt_metal;

class Op {
public:
    explicit Op(const char* name) {
        GraphTracker::instance().track_function_start(name, 1, 2);
        truth::enter(name);
    }
    ~Op() {
        int result = 0;
        truth::current_name().size() % 2 == 0 ? GraphTracker::instance().track_function_end()
                                              : GraphTracker::instance().track_function_end(result);
        truth::leave();
    }
};

template <class Action>
bool throws(const Action& action) {
    try {
        action();
        return false;
    } catch (const std::runtime_error&) {
        return true;
    }
}

void fill(detail::ProgramImpl& program, uint32_t size) {
    const CoreRangeSet row({{{0, 0}, {1, 0}}, {{0, 1}, {0, 1}}});
    program.circular_buffers().push_back(std::make_shared<CircularBufferImpl>(row, 105'664, size, false));
    program.circular_buffers().push_back(std::make_shared<CircularBufferImpl>(row, 400'000, 2048, true));
}

bool run(const char* file) {
    const auto pause = [&](const char* step) { truth::pause(step, file); };
    bool is_right = true;
    auto mesh = std::make_unique<distributed::MeshDevice>(2);
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
    IDevice* const chip = mesh->get_devices()[1];
    buffers.push_back(Buffer::create(chip, 65'536, 2048, BufferType::DRAM));
    buffers.push_back(Buffer::create(mesh.get(), 10'240, 1024, BufferType::L1, true));
    {
        allocation_context() = "program_cache: matmul";
        truth::enter("program_cache: matmul");
        buffers.push_back(Buffer::create(mesh.get(), 4096, 4096, BufferType::DRAM));
        truth::leave();
        const Op op("compile");
        allocation_context() = "program_cache: kernel binaries";
        truth::enter("program_cache: kernel binaries");
        buffers.push_back(Buffer::create(mesh.get(), 4096, 4096, BufferType::DRAM));
        allocation_context().clear();
        truth::leave();
    }
    buffers.push_back(
        Buffer::create(mesh.get(), 8192, 2048, BufferType::L1, false, {{0, 0}, {1, 0}, {0, 1}}));
    GraphTracker::instance().hooks_allocations = true;
    buffers.push_back(Buffer::create(mesh.get(), 8192, 2048, BufferType::DRAM));
    GraphTracker::instance().hooks_allocations = false;
    std::thread([&] {
        const Op op("worker");
        buffers.push_back(Buffer::create(mesh.get(), 4096, 1024, BufferType::DRAM));
        Buffer::create(mesh.get(), 4096, 1024, BufferType::DRAM);
    }).join();
    pause("buffers");

    buffers.erase(buffers.begin() + 9);  // the planned one
    buffers.erase(buffers.begin() + 1, buffers.begin() + 3);
    is_right = is_right && throws([&] { Buffer::create(mesh.get(), 1u << 29, 2048, BufferType::DRAM); });
    distributed::MeshCommandQueue queue(mesh.get());
    mesh->set_trace_buffers_size(48'000);  // of other traces
    is_right =
        is_right && throws([&] { distributed::MeshTrace::populate_mesh_buffer(queue, 131'072 * 12 + 12); });
    pause("some freed, two refused");

    {
        distributed::MeshWorkload workload;
        fill(workload.get_programs()[{0, 0}].impl(), 4096);
        fill(workload.get_programs()[{1, 1}].impl(), 8192);
        {
            const Op op("launch");
            distributed::EnqueueMeshWorkload(queue, workload, false);
        }
        pause("programs");
        distributed::EnqueueMeshWorkload(queue, workload, false);
        pause("programs again");
    }
    {
        Program program;
        program.impl().dataflow_buffers().push_back(std::make_shared<DataflowBufferImpl>(
            DataflowBufferImpl{CoreRangeSet(std::vector{CoreRange{}}), 4096}));
        program.impl().dataflow_buffers().push_back(std::make_shared<DataflowBufferImpl>(
            DataflowBufferImpl{CoreRangeSet(std::vector{CoreRange{}}), 2048, true}));
        auto kernel = std::make_shared<Kernel>();
        kernel->scratchpad_binding_handles().push_back({512, 0});
        program.impl().get_kernels(0)[0] = kernel;
        detail::ConfigureDeviceWithProgram(chip, program, true);
        pause("dataflow buffers on a chip");
    }
    buffers.push_back(Buffer::create(mesh.get(), 65'536, 2048, BufferType::L1));
    {
        distributed::MeshWorkload workload;
        fill(workload.get_programs()[{0, 1}].impl(), 1'300'000);
        is_right = is_right && throws([&] { distributed::EnqueueMeshWorkload(queue, workload, false); });
        distributed::MeshWorkload larger;
        fill(larger.get_programs()[{0, 1}].impl(), 1'500'000);
        is_right = is_right && throws([&] { distributed::EnqueueMeshWorkload(queue, larger, false); });
    }
    pause("two clashes");

    std::fflush(stdout);
    if (const pid_t child = fork(); child == 0) {
        buffers.clear();
        std::_Exit(0);
    } else {
        int status = 1;
        waitpid(child, &status, 0);
        is_right = is_right && status == 0;
    }
    pause("a fork");

    auto on_chip = Buffer::create(chip, 2048, 2048, BufferType::DRAM);
    chip->allocator_impl()->override_state(chip->allocator_impl()->extract_state());
    pause("a state replaced");
    on_chip.reset();
    pause("a buffer of before freed");
    mesh->allocator_impl()->deallocate_buffers();
    pause("all of a mesh freed at once");

    mesh->close();
    pause("closed");
    buffers.clear();
    mesh.reset();

    {
        // As synchronize_allocator_state() does: a mesh that has held nothing takes over what its chips hold.
        distributed::MeshDevice parent(2);
        IDevice* const below = parent.get_devices()[0];
        auto taken = Buffer::create(below, 65'536, 2048, BufferType::DRAM);
        AllocatorState state = below->allocator_impl()->extract_state();
        state.is_of_others = true;
        parent.allocator_impl()->override_state(state);
        pause("the state of a chip taken over by its mesh");
        taken.reset();
        pause("the buffer of the chip freed");
        parent.close();
    }

    // Never closed, and freed at exit.
    static auto& last = *new distributed::MeshDevice(2);
    static const auto buffer = Buffer::create(&last, 4096, 1024, BufferType::DRAM);
    pause("opened again");
    return is_right;
}

}  // namespace

// Argument: the file for what it holds by its own account.
int main(int count, char** arguments) { return count == 2 && run(arguments[1]) ? 0 : 1; }
