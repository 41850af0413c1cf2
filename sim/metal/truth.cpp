// SPDX-License-Identifier: Apache-2.0
#include "sim/metal/truth.hpp"

#include <algorithm>
#include <numeric>

#include "sim/metal/cluster.hpp"

namespace ttmem::sim {
namespace {

using tt::tt_metal::BufferType;

MemoryTruth pool_truth(const tt::tt_metal::Device& device, BufferType type, bool with_blocks) {
    const PoolKind pool = tt::tt_metal::pool_of(type);
    MemoryTruth truth{.capacity = device.memory()[pool].capacity(),
                      .largest_free = device.memory()[pool].size};
    for (const tt::tt_metal::AllocatorImpl* allocator : device.allocators()) {
        const tt::tt_metal::Statistics now = allocator->get_statistics(type);
        truth.used += now.total_allocated_bytes * allocator->memory()[pool].banks;
        truth.requested += allocator->requested_bytes(pool);
        truth.largest_free = std::min<uint64_t>(*truth.largest_free, now.largest_free_block_bytes);
        if (with_blocks) {
            truth.blocks.push_back(allocator->blocks(type));
        }
    }
    return truth;
}

}  // namespace

std::vector<DeviceTruth> device_truth(const std::vector<int>& chips, bool with_blocks) {
    std::vector<DeviceTruth> all;
    for (const int chip : chips) {
        const tt::tt_metal::Device& device = Cluster::instance().device(chip);
        DeviceTruth truth{.id = chip, .asic_id = device.asic_id()};
        for (const BufferType type :
             {BufferType::DRAM, BufferType::L1, BufferType::L1_SMALL, BufferType::TRACE}) {
            truth.memory[std::string(pool_name(tt::tt_metal::pool_of(type)))] =
                pool_truth(device, type, with_blocks);
        }
        const tt::tt_metal::ProgramFootprint programs = device.programs_footprint();
        truth.memory["cb"] = {.used = programs.cb_on_all_cores, .requested = programs.cb_per_core};
        const uint64_t kernels =
            std::accumulate(programs.kernel_bytes.begin(), programs.kernel_bytes.end(), uint64_t{0});
        truth.memory["kernel"] = {.used = kernels, .requested = kernels};
        all.push_back(std::move(truth));
    }
    return all;
}

}  // namespace ttmem::sim
