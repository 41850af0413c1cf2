// SPDX-License-Identifier: Apache-2.0
#include "sim/scenarios/replay_metal.hpp"

#include <stdexcept>
#include <tt-metalium/allocator.hpp>
#include <tt-metalium/mesh_buffer.hpp>
#include <unordered_map>
#include <utility>

#include "sim/metal/options.hpp"

namespace ttmem::sim {
namespace {

using namespace tt::tt_metal;
using namespace tt::tt_metal::distributed;

BufferType type_of(PoolKind pool) {
    switch (pool) {
        case PoolKind::dram:
            return BufferType::DRAM;
        case PoolKind::l1:
            return BufferType::L1;
        case PoolKind::l1_small:
            return BufferType::L1_SMALL;
        case PoolKind::trace:
            break;
    }
    return BufferType::TRACE;
}

class MetalTarget final : public ReplayTarget {
public:
    explicit MetalTarget(const RegionSizes& regions)
        : mesh_(MeshDevice::create(MeshDeviceConfig(std::nullopt), regions.l1_small, regions.trace)) {}

    tl::expected<ReplayPlacement, std::string> allocate(const ReplayAllocation& call) override {
        DeviceLocalBufferConfig local;
        local.page_size = call.page_size;
        local.buffer_type = type_of(call.pool);
        local.bottom_up = call.bottom_up;
        if (call.shard_cores != 0) {
            // One row of the tensor is one page, so that any page size will do.
            local.sharding_args = BufferShardingArgs(
                ShardSpecBuffer(CoreRangeSet(CoreRange(CoreCoord(0, 0), CoreCoord(call.shard_cores - 1, 0))),
                                {call.shard_pages_per_core, 1}, ShardOrientation::ROW_MAJOR, {1, 1},
                                {call.shard_cores * call.shard_pages_per_core, 1}),
                TensorMemoryLayout::HEIGHT_SHARDED);
        }
        try {
            auto buffer = MeshBuffer::create(ReplicatedBufferConfig{.size = call.size}, local, mesh_.get());
            const ReplayPlacement placement{buffer->address(),
                                            buffer->get_backing_buffer()->aligned_size_per_bank()};
            live_[call.id] = std::move(buffer);
            return placement;
        } catch (const std::runtime_error& error) {
            return tl::unexpected(std::string(error.what()));
        }
    }

    bool free(int64_t id) override { return live_.erase(id) != 0; }
    void free_all() override { live_.clear(); }

    allocator::PoolStatistics statistics(PoolKind pool) const override {
        const Statistics now = mesh_->allocator()->get_statistics(type_of(pool));
        return {.size = now.total_allocatable_size_bytes,
                .allocated = now.total_allocated_bytes,
                .free = now.total_free_bytes,
                .largest_free = now.largest_free_block_bytes};
    }

    uint32_t banks(PoolKind pool) const override { return mesh_->allocator()->get_num_banks(type_of(pool)); }

private:
    std::shared_ptr<MeshDevice> mesh_;
    std::unordered_map<int64_t, std::shared_ptr<MeshBuffer>> live_;
};

}  // namespace

std::unique_ptr<ReplayTarget> open_metal_target(const Board& board, const RegionSizes& regions) {
    // The simulated host exists until the process ends, and with it its board.
    static const Board kept = board;
    MetalOptions options = metal_options_from_environment();
    options.board = &kept;
    set_metal_options(options);
    return std::make_unique<MetalTarget>(regions);
}

}  // namespace ttmem::sim
