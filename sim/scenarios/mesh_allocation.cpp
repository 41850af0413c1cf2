// SPDX-License-Identifier: Apache-2.0
//
// The mesh test: 8 devices, tensors of 4,194,304 bytes on each, an add and a matmul, freed in reverse. Every device
// ends where it started, and every device has had the same.
#include "sim/scenarios/ops.hpp"
#include "sim/scenarios/run.hpp"
#include "sim/scenarios/scenario.hpp"

namespace ttmem::sim {
namespace {

constexpr uint64_t kTensor = 4'194'304;        // (8, 8, 512, 512) of bfloat16, shared out over 8 devices
constexpr uint64_t kMatmulInput = 524'288;     // (8, 8, 256, 128)
constexpr uint64_t kMatmulResult = 1'048'576;  // (8, 8, 256, 256)

}  // namespace

void run_mesh_allocation(Run& run) {
    const auto mesh = run.open_mesh();
    run.step("open");

    auto tensor_1 = ops::sharded_over_mesh(*mesh, kTensor);
    run.step("tensor 1");
    auto tensor_2 = ops::sharded_over_mesh(*mesh, kTensor);
    run.step("tensor 2");
    auto result_add = ops::add(*mesh, tensor_1, tensor_2);
    run.step("add");

    auto matmul_a = ops::sharded_over_mesh(*mesh, kMatmulInput);
    auto matmul_b = ops::sharded_over_mesh(*mesh, kMatmulInput);
    run.step("matmul inputs");
    auto result_matmul = ops::matmul(*mesh, matmul_a, matmul_b, kMatmulResult);
    run.step("matmul");

    result_matmul.reset();
    run.step("free matmul");
    matmul_a.reset();
    matmul_b.reset();
    run.step("free matmul inputs");
    result_add.reset();
    run.step("free add");
    tensor_2.reset();
    run.step("free tensor 2");
    tensor_1.reset();
    run.step("free tensor 1");
    mesh->clear_program_cache();
    run.step("clear program cache");
    mesh->close();
    run.step("close");
}

}  // namespace ttmem::sim
