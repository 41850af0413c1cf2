// SPDX-License-Identifier: Apache-2.0
//
// A graph capture that runs nothing: buffers are planned at address 0 and take no memory, programs never get to the
// device. Then the same for real.
#include <nlohmann/json.hpp>

#include "sim/scenarios/ops.hpp"
#include "sim/scenarios/run.hpp"
#include "sim/scenarios/scenario.hpp"

namespace ttmem::sim {
namespace {

using namespace tt::tt_metal;

class TakeEverythingOver final : public IGraphHooks {
public:
    bool hook_allocate(const Buffer*) override { return true; }
    bool hook_deallocate(Buffer*) override { return true; }
    bool hook_program(Program*) override { return true; }
    bool hook_write_to_device(const Buffer*) override { return true; }
    bool hook_read_from_device(Buffer*) override { return true; }
    bool hook_read_from_device(const distributed::MeshBuffer*) override { return true; }
    bool hook_write_to_device(const distributed::MeshBuffer*) override { return true; }
};

class Capture final : public IGraphProcessor {};

struct Tensors {
    ops::Tensor a, b, sum;
};

Tensors work(ops::MeshDevice& mesh) {
    Tensors tensors{.a = ops::empty(mesh, 8'388'608), .b = ops::empty(mesh, 8'388'608), .sum = nullptr};
    tensors.sum = ops::add(mesh, tensors.a, tensors.b);
    return tensors;
}

}  // namespace

void run_hooked_capture(Run& run) {
    const auto mesh = run.open_mesh();
    run.step("open");
    GraphTracker::instance().push_processor(std::make_shared<Capture>());
    GraphTracker::instance().add_hook(std::make_shared<TakeEverythingOver>());
    Tensors planned = work(*mesh);
    run.step("planned");
    planned.sum.reset();
    run.step("one planned freed");
    GraphTracker::instance().clear_hook();
    GraphTracker::instance().pop_processor();
    run.step("capture ended");
    // They were planned in the capture and die after it.
    planned = {};
    run.step("planned freed");
    {
        const Tensors tensors = work(*mesh);
        run.step("for real");
    }
    run.step("freed");
    mesh->close();
    run.step("close");
}

}  // namespace ttmem::sim
