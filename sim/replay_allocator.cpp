// SPDX-License-Identifier: Apache-2.0
#include <unordered_map>
#include <utility>

#include "allocator/allocator.hpp"
#include "sim/replay.hpp"

namespace ttmem::sim {
namespace {

class AllocatorTarget final : public ReplayTarget {
public:
    explicit AllocatorTarget(const MemoryGeometry& memory) : allocator_(memory) {}

    tl::expected<ReplayPlacement, std::string> allocate(const ReplayAllocation& call) override {
        const bool sharded = call.shard_cores != 0;
        const allocator::BufferRequest request{
            .pool = call.pool,
            .pages =
                sharded ? uint64_t{call.shard_cores} * call.shard_pages_per_core : call.size / call.page_size,
            .page_size = call.page_size,
            .shard_cores = call.shard_cores,
            .bottom_up = call.bottom_up};
        const auto address = allocator_.allocate(request);
        if (!address) {
            return tl::unexpected(address.error().message());
        }
        live_[call.id] = {call.pool, *address};
        return ReplayPlacement{*address,
                               footprint(allocator_.memory()[call.pool], request).aligned_size_per_bank};
    }

    bool free(int64_t id) override {
        const auto found = live_.find(id);
        if (found == live_.end()) {
            return false;
        }
        allocator_.release(found->second.first, found->second.second);
        live_.erase(found);
        return true;
    }

    void free_all() override {
        for (const auto& [id, place] : live_) {
            allocator_.release(place.first, place.second);
        }
        live_.clear();
    }

    allocator::PoolStatistics statistics(PoolKind pool) const override { return allocator_.statistics(pool); }
    uint32_t banks(PoolKind pool) const override { return allocator_.memory()[pool].banks; }

private:
    allocator::Allocator allocator_;
    std::unordered_map<int64_t, std::pair<PoolKind, uint64_t>> live_;
};

}  // namespace

std::unique_ptr<ReplayTarget> open_allocator_target(const Board& board, const RegionSizes& regions) {
    return std::make_unique<AllocatorTarget>(memory_geometry(board, regions));
}

}  // namespace ttmem::sim
