// SPDX-License-Identifier: Apache-2.0
//
// Allocates while a trace is alive, which a replay may overwrite. There is no trace region here, so the trace itself
// lies in DRAM, from the top down.
#include "sim/scenarios/ops.hpp"
#include "sim/scenarios/run.hpp"
#include "sim/scenarios/scenario.hpp"

namespace ttmem::sim {

void run_trace_live_allocation(Run& run) {
    const auto mesh = run.open_mesh();
    run.step("open");
    auto& queue = mesh->mesh_command_queue();
    const auto a = ops::empty(*mesh, 4'194'304);
    auto warm = ops::add(*mesh, a, a);
    run.step("warm up");
    const auto trace = mesh->begin_mesh_trace(queue);
    auto traced = ops::add(*mesh, a, a);
    {
        const ops::Scope scope("trace");
        mesh->end_mesh_trace(queue, trace);
    }
    run.step("captured");
    ops::Tensor unsafe;
    {
        const ops::Scope scope("allocated while a trace is alive");
        unsafe = ops::empty(*mesh, 2'097'152);
    }
    run.step("unsafe allocation");
    mesh->replay_mesh_trace(queue, trace, true);
    run.step("replayed");
    mesh->release_mesh_trace(trace);
    run.step("released");
    unsafe.reset();
    traced.reset();
    warm.reset();
    run.step("freed");
    mesh->close();  // with one tensor and the cached programs still there
    run.step("close");
}

}  // namespace ttmem::sim
