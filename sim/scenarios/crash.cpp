// SPDX-License-Identifier: Apache-2.0
//
// Takes memory of every kind and kills itself.
#include <signal.h>
#include <unistd.h>

#include "sim/scenarios/ops.hpp"
#include "sim/scenarios/run.hpp"
#include "sim/scenarios/scenario.hpp"

namespace ttmem::sim {

void run_crash(Run& run) {
    const auto mesh = run.open_mesh({.l1_small = 32'768, .trace = 1'048'576});
    run.step("open");
    const ops::Scope scope("decoder.7");
    const auto tensor = ops::empty(*mesh, 33'554'432);
    const auto activation = ops::empty(*mesh, 1'048'576, ops::BufferType::L1);
    const auto small = ops::height_sharded(*mesh, 4, 1, 1024, ops::BufferType::L1_SMALL);
    const auto sum = ops::add(*mesh, tensor, tensor);
    const auto trace = mesh->begin_mesh_trace(mesh->mesh_command_queue());
    mesh->end_mesh_trace(mesh->mesh_command_queue(), trace);
    run.step("holding");
    kill(getpid(), SIGKILL);
}

}  // namespace ttmem::sim
