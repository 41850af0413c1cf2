// SPDX-License-Identifier: Apache-2.0
//
// Random calls in random order: after each call the segment equals the runtime's own totals.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <array>
#include <memory>
#include <stdexcept>
#include <thread>
#include <tt-metalium/allocator.hpp>
#include <tt-metalium/distributed.hpp>
#include <tt-metalium/graph_tracking.hpp>
#include <tt-metalium/host_api.hpp>
#include <tt-metalium/tt_metal.hpp>
#include <utility>
#include <vector>

#include "sim/metal/options.hpp"
#include "sim/metal/truth.hpp"
#include "sim/scenarios/ops.hpp"
#include "sim/testing/segment_totals_test_support.hpp"
#include "tests/support/child.hpp"
#include "tests/support/own_segment.hpp"

namespace ttmem::sim {
namespace {

using namespace tt::tt_metal;
using namespace tt::tt_metal::distributed;

const std::vector<int> kChips = {0, 1, 2, 3, 4, 5, 6, 7};

class TakeAllocationsOver final : public IGraphHooks {
public:
    bool hook_allocate(const Buffer*) override { return true; }
    bool hook_deallocate(Buffer*) override { return true; }
    bool hook_program(Program*) override { return true; }
    bool hook_write_to_device(const Buffer*) override { return true; }
    bool hook_read_from_device(Buffer*) override { return true; }
    bool hook_read_from_device(const MeshBuffer*) override { return true; }
    bool hook_write_to_device(const MeshBuffer*) override { return true; }
};

// Everything that can be alive at once, with one function per operation.
class World {
public:
    World() { reopen(); }

    void call(uint64_t random) {
        choice_ = random >> 8;
        constexpr std::array kCalls = {
            &World::allocate,     &World::allocate,       &World::allocate,        &World::free,
            &World::free,         &World::plain,          &World::free_plain,      &World::view,
            &World::drop_view,    &World::submesh,        &World::program,         &World::resize,
            &World::drop_program, &World::trace,          &World::release,         &World::planned,
            &World::bulk_free,    &World::free_on_thread, &World::single,          &World::reopen,
            &World::allocate,     &World::close_submesh,  &World::launch_on_device};
        try {
            (this->*kCalls[random % kCalls.size()])();
        } catch (const std::runtime_error&) {
            // Out of memory or a clash: the call throws, and only the record of failures changes.
        }
    }

    void close() {
        mesh_->close();
        mesh_.reset();
    }

private:
    uint64_t pick(uint64_t count) {
        const uint64_t picked = choice_ % count;
        choice_ = choice_ / count * 0x9E3779B97F4A7C15u + picked;
        return picked;
    }

    template <typename T>
    T take(std::vector<T>& from) {
        std::swap(from[pick(from.size())], from.back());
        T taken = std::move(from.back());
        from.pop_back();
        return taken;
    }

    std::shared_ptr<MeshBuffer> make(MeshDevice& device) {
        switch (pick(6)) {
            case 0:
                return ops::empty(device, (1 + pick(12'000)) * 2048, BufferType::L1);
            case 1:
                return ops::height_sharded(device, 1 + static_cast<uint32_t>(pick(8)),
                                           1 + static_cast<uint32_t>(pick(4)), 1024, BufferType::L1);
            case 2:
                return ops::height_sharded(device, 1 + static_cast<uint32_t>(pick(8)), 1, 1024,
                                           BufferType::L1_SMALL);
            case 3: {
                // Pages of odd size, sometimes more than there is room for.
                DeviceLocalBufferConfig local;
                local.page_size = 100 + pick(4000);
                local.bottom_up = pick(2) == 0;
                const uint64_t pages = pick(6) == 0 ? 40'000'000 : 1 + pick(500);
                return MeshBuffer::create(ReplicatedBufferConfig{.size = pages * local.page_size}, local,
                                          &device);
            }
            default:
                return ops::empty(device, (1 + pick(2000)) * 2048);
        }
    }

    void allocate() { buffers_.push_back(make(*mesh_)); }
    void free() {
        if (!buffers_.empty()) {
            take(buffers_);
        }
    }
    void free_on_thread() {
        if (!buffers_.empty()) {
            auto buffer = take(buffers_);
            std::thread([&] { buffer.reset(); }).join();
        }
    }
    void single() { allocate(), free(); }

    void plain() {
        const auto devices = mesh_->get_devices();
        plain_.push_back(Buffer::create(devices[pick(devices.size())], (1 + pick(300)) * 2048, 2048,
                                        pick(2) == 0 ? BufferType::DRAM : BufferType::L1));
    }
    void free_plain() {
        if (!plain_.empty()) {
            take(plain_);
        }
    }

    void view() {
        if (buffers_.empty()) {
            return;
        }
        auto& owner = buffers_[pick(buffers_.size())];
        if (!owner->is_allocated()) {
            return;
        }
        if (pick(2) == 0) {
            DeviceLocalBufferConfig local;
            local.page_size = 2048;
            mesh_views_.push_back(MeshBuffer::create(ReplicatedBufferConfig{.size = 4096}, local, mesh_.get(),
                                                     owner->address()));
        } else {
            views_.push_back(Buffer::create(mesh_.get(), owner->address(), 4096, 2048, BufferType::DRAM));
        }
    }
    void drop_view() {
        if (!views_.empty()) {
            take(views_)->mark_as_deallocated();
        }
        if (!mesh_views_.empty()) {
            take(mesh_views_);
        }
    }

    void submesh() {
        if (submeshes_.size() < 3) {
            submeshes_.push_back(mesh_->create_submesh(
                MeshShape(1, 2),
                MeshCoordinate(static_cast<uint32_t>(pick(2)), static_cast<uint32_t>(pick(3)))));
        }
        buffers_.push_back(make(*submeshes_[pick(submeshes_.size())]));
    }
    void close_submesh() {
        if (!submeshes_.empty()) {
            take(submeshes_)->close();
        }
    }

    Program random_program() {
        const auto side = static_cast<uint32_t>(pick(4));
        ops::ProgramSpec spec{.name = "random",
                              .cores = CoreRange(CoreCoord(0, 0), CoreCoord(side, side)),
                              .circular_buffers = {},
                              .kernels = {}};
        for (uint64_t i = pick(4); i > 0; --i) {
            spec.circular_buffers.push_back(2048 * (1 + static_cast<uint32_t>(pick(150))));
        }
        for (uint64_t i = pick(4); i > 0; --i) {
            spec.kernels.push_back(16 * (1 + static_cast<uint32_t>(pick(500))));
        }
        return ops::build(spec);
    }
    void program() {
        MeshWorkload workload;
        if (pick(3) == 0) {
            workload.add_program(MeshCoordinateRange(MeshCoordinate(0, 0), MeshCoordinate(0, 3)),
                                 random_program());
            workload.add_program(MeshCoordinateRange(MeshCoordinate(1, 0), MeshCoordinate(1, 3)),
                                 random_program());
        } else {
            workload.add_program(MeshCoordinateRange(mesh_->shape()), random_program());
        }
        workloads_.push_back(std::move(workload));
        EnqueueMeshWorkload(mesh_->mesh_command_queue(), workloads_.back(), false);
    }
    void launch_on_device() {
        programs_.push_back(std::make_shared<Program>(random_program()));
        const auto devices = mesh_->get_devices();
        IDevice* device = devices[pick(devices.size())];
        detail::LaunchProgram(device, programs_.back());
    }
    void resize() {
        if (workloads_.empty()) {
            return;
        }
        MeshWorkload& workload = workloads_[pick(workloads_.size())];
        Program& program = workload.get_programs().begin()->second;
        if (!program.circular_buffers().empty()) {
            UpdateCircularBufferTotalSize(program, 0, 2048 * (1 + static_cast<uint32_t>(pick(100))));
        }
        EnqueueMeshWorkload(mesh_->mesh_command_queue(), workload, false);
    }
    void drop_program() {
        if (!workloads_.empty()) {
            std::swap(workloads_[pick(workloads_.size())], workloads_.back());
            workloads_.pop_back();
        } else if (!programs_.empty()) {
            take(programs_);
        }
    }

    void trace() {
        auto& queue = mesh_->mesh_command_queue();
        const MeshTraceId id = mesh_->begin_mesh_trace(queue);
        if (!workloads_.empty()) {
            try {
                EnqueueMeshWorkload(queue, workloads_.front(), false);
            } catch (const std::runtime_error&) {
                // A clash; the capture goes on without it.
            }
        }
        mesh_->end_mesh_trace(queue, id);
        traces_.push_back(id);
    }
    void release() {
        if (!traces_.empty()) {
            mesh_->release_mesh_trace(take(traces_));
        }
    }

    void planned() {
        GraphTracker::instance().add_hook(std::make_shared<TakeAllocationsOver>());
        try {
            buffers_.push_back(make(*mesh_));
        } catch (...) {
            GraphTracker::instance().clear_hook();
            throw;
        }
        GraphTracker::instance().clear_hook();
    }

    void bulk_free() {
        if (pick(4) == 0) {
            mesh_->allocator()->deallocate_buffers();
            traces_.clear();
        } else {
            mesh_->get_devices()[pick(8)]->allocator()->deallocate_buffers();
        }
    }

    // Buffers, views, programs and submeshes of the old mesh live on.
    void reopen() {
        if (mesh_ != nullptr && pick(4) != 0) {
            return;
        }
        if (mesh_ != nullptr && pick(2) == 0) {
            mesh_->close();
        }
        for (const auto& submesh : submeshes_) {
            submesh->close();
        }
        submeshes_.clear();
        mesh_.reset();
        traces_.clear();
        workloads_.clear();
        mesh_ = MeshDevice::create(MeshDeviceConfig(MeshShape(2, 4)), 32'768, pick(2) == 0 ? 0 : 4'194'304);
    }

    uint64_t choice_ = 0;
    std::shared_ptr<MeshDevice> mesh_;
    std::vector<std::shared_ptr<MeshDevice>> submeshes_;
    std::vector<std::shared_ptr<MeshBuffer>> buffers_;
    std::vector<std::shared_ptr<MeshBuffer>> mesh_views_;
    std::vector<std::shared_ptr<Buffer>> plain_;
    std::vector<std::shared_ptr<Buffer>> views_;
    std::vector<MeshWorkload> workloads_;
    std::vector<std::shared_ptr<Program>> programs_;
    std::vector<MeshTraceId> traces_;
};

void compare(const segment::Reader& reader) {
    const testing::SegmentBytes seen = testing::add_up(reader, reader.totals());
    for (const DeviceTruth& device : device_truth(kChips)) {
        for (const auto& [kind, truth] : device.memory) {
            const auto found = seen.find(device.asic_id);
            const testing::Bytes bytes = found == seen.end() ? testing::Bytes{} : found->second.at(kind);
            RC_ASSERT(bytes.used == truth.used);
            RC_ASSERT(bytes.requested == truth.requested);
        }
    }
}

void expect_nothing_inexact(const segment::Reader& reader) {
    for (uint8_t counter = 0; counter < segment::kInexactCounters; ++counter) {
        const auto reason = static_cast<segment::Inexact>(counter);
        RC_ASSERT(reader.inexact(reason) == 0u);
    }
}

void check_random_calls() {
    MetalOptions options = metal_options_from_environment();
    options.board = find_board("t3000");
    options.kernel_binaries = true;
    options.system = true;
    set_metal_options(options);
    const bool held = rc::check("after every call", [] {
        const auto calls = *rc::gen::container<std::vector<uint64_t>>(
            60, rc::gen::resize(rc::kNominalSize, rc::gen::arbitrary<uint64_t>()));
        {
            World world;
            const segment::Reader reader = test::own_reader();
            for (const uint64_t call : calls) {
                world.call(call);
                compare(reader);
            }
            world.close();
            compare(reader);
        }
        const segment::Reader reader = test::own_reader();
        compare(reader);
        expect_nothing_inexact(reader);
        size_t live = 0;
        reader.for_each_live([&](auto, const auto&) { return ++live != 0; });
        RC_ASSERT(live == 0u);
    });
    EXPECT_TRUE(held);
}

// In a separate process, because a process has one segment for its whole life.
TEST(RandomCalls, TheSegmentAlwaysSaysWhatTheRuntimeKnows) {
    const test::Outcome outcome = test::run_in_child(check_random_calls);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
}

}  // namespace
}  // namespace ttmem::sim
