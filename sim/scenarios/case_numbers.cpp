// SPDX-License-Identifier: Apache-2.0
//
// The numbers of the cases. A bank of DRAM is up to 2 MB larger or smaller than it was then, so that its use is not the same; request,
// free memory and the largest block are.
#include <stdexcept>

#include "sim/metal/reporting.hpp"
#include "sim/scenarios/cases.hpp"
#include "sim/scenarios/run.hpp"
#include "sim/scenarios/scenario.hpp"

namespace ttmem::sim {

using ops::BufferType;
namespace reporting = tt::tt_metal::reporting;

void run_case_01(Run& run) {
    run_refused_case(run, {.bytes = 58'720'256, .free = 183'397'344, .largest = 3'382'944});
}

void run_case_02(Run& run) {
    run_refused_case(run, {.type = BufferType::L1,
                           .bytes = 26'542'080,
                           .cores = 48,
                           .free = 912'096,
                           .largest = 522'240,
                           .regions = {.l1_small = 63'584}});
}

void run_case_03(Run& run) {
    run_refused_case(run,
                     {.bytes = 3'294'625'792, .page = 402'176, .free = 286'974'112, .largest = 216'504'544});
}

void run_case_04(Run& run) {
    run_refused_case(run, {.bytes = 1'050'673'152, .free = 129'800'224, .largest = 34'201'600});
}

void run_case_05(Run& run) {
    run_refused_case(run, {.bytes = 1'073'741'824, .free = 67'144'640, .largest = 67'140'352});
}

void run_case_06(Run& run) {
    run_refused_case(run, {.type = BufferType::L1,
                           .bytes = 55'386'112,
                           .page = 128,
                           .free = 592'768,
                           .largest = 592'768,
                           .regions = {.l1_small = 63'424}});
}

void run_case_07(Run& run) {
    run_too_big_case(run, {.request = {.type = BufferType::L1_SMALL,
                                       .bytes = 2'162'688,
                                       .page = 1'024,
                                       .cores = 64,
                                       .regions = {.l1_small = 32'768}},
                           .other_regions = {.l1_small = 33'792}});
}

void run_case_08(Run& run) {
    run_too_big_case(run, {.request = {.type = BufferType::L1,
                                       .bytes = 16'777'216,
                                       .cores = 8,
                                       .regions = {.l1_small = 28'544}},
                           .more_cores = 13});
}

void run_case_09(Run& run) {
    run_clash_case(run, {.tensor = 5'696,
                         .circular_buffers = {1'048'576, 262'144, 140'928},
                         .too_long = 192,
                         .l1_small = 4'096,
                         .other_l1_small = 3'904});
}

// The base of L1 was below that of today's runtime: the addresses are 17,600 higher, the overlap is the same.
void run_case_10(Run& run) {
    run_clash_case(run, {.tensor = 1'377'088, .circular_buffers = {16'384, 3'488}, .too_long = 3'488});
}

void run_case_11(Run& run) {
    run_clash_case(run,
                   {.tensor = 789'376, .circular_buffers = {262'144, 177'664, 819'200}, .too_long = 654'912});
}

void run_case_12(Run& run) {
    run_clash_case(run, {.tensor = 194'816,
                         .circular_buffers = {1'048'576, 270'464},
                         .too_long = 52'608,
                         .cores = {{0, 0}, {0, 0}}});
}

// The same program where the activation is smaller by the overlap.
void run_case_12_p150(Run& run) {
    run_clash_case(run,
                   {.tensor = 142'208, .circular_buffers = {1'048'576, 270'464}, .cores = {{0, 0}, {0, 0}}});
}

void run_case_13(Run& run) {
    run_clash_case(run, {.circular_buffers = {1'048'576, 327'680, 272'352}, .too_long = 255'136});
}

void run_case_14(Run& run) {
    run_too_big_case(
        run, {.request = {.type = BufferType::TRACE, .bytes = 237'371'392, .regions = {.trace = 235'929'600}},
              .other_regions = {.trace = 237'404'160}});
}

void run_case_15(Run& run) {
    run_too_big_case(
        run, {.request = {.type = BufferType::TRACE, .bytes = 53'616'640, .regions = {.trace = 50'000'000}},
              .other_regions = {.trace = 53'673'984}});
}

void run_case_15_next(Run& run) {
    run_too_big_case(
        run, {.request = {.type = BufferType::TRACE, .bytes = 60'825'600, .regions = {.trace = 50'000'000}},
              .other_regions = {.trace = 60'850'176}});
}

// Four config tensors per entry of a cache of halos. The runtime rounds a budget of 30,800 up to 30,816.
void run_case_16(Run& run) {
    auto mesh = run.open_mesh({.l1_small = 30'800});
    std::vector<ops::Tensor> configs;
    const auto add = [&](std::string_view name, uint32_t bytes) {
        const ops::Scope scope(name);
        configs.push_back(ops::height_sharded(*mesh, 8, 1, bytes, BufferType::L1_SMALL));
    };
    const auto fill = [&] {
        for (int entry = 0; entry < 24; ++entry) {
            add("halo_cache/config", 1'216);
        }
    };
    fill();
    run.step("full");
    bool is_refused = false;
    try {
        add("the request", 1'952);
    } catch (const std::runtime_error&) {
        is_refused = true;
    }
    if (!is_refused) {
        throw std::logic_error("a request that must fail was granted");
    }
    run.step("refused");
    configs.pop_back();
    add("the request", 1'952);
    run.step("fits");
    configs.clear();
    mesh->close();
    mesh = run.open_mesh({.l1_small = 31'136});
    fill();
    add("the request", 1'952);
    run.step("fits in another region");
    configs.clear();
    mesh->close();
    run.step("close");
}

// Each core has an allocator of its own, so buffers on different cores have one address. What a core has is not reported, and
// neither is why it refused.
void run_case_17(Run& run) {
    constexpr uint64_t kRanges = 2'952;
    constexpr uint64_t kRangeBytes = 4'096;
    const auto mesh = run.open_mesh();
    const PoolGeometry l1 = memory_geometry(run.board(), {})[PoolKind::l1];
    {
        const ops::Scope scope("expert");
        for (uint64_t i = 0; i < kRanges; ++i) {
            const uint64_t address = l1.base + l1.size - (i / l1.banks + 1) * 2 * kRangeBytes;
            reporting::buffer_on_a_core(mesh.get(), address, kRangeBytes, i);
        }
    }
    run.step("full");
    {
        const ops::Scope scope("the request");
        reporting::refused_on_cores(mesh.get(), 8, 72 * 1024, 587 * 1024, 278 * 1024);
    }
    run.step("refused");
    mesh->close();
    run.step("close");
}

}  // namespace ttmem::sim
