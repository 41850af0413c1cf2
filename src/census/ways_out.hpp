// SPDX-License-Identifier: Apache-2.0
#pragma once

// What would make a refused request fit. Each proposal was tried with the rules of the allocator: after it, the request fits.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "allocator/bank_snapshot.hpp"
#include "allocator/tensor.hpp"
#include "census/kind.hpp"

namespace ttmem::census {

// A live allocation in the way.
struct FitBlock {
    uint64_t address = 0;
    uint64_t bytes = 0;  // per bank
    uint64_t owner = 0;
    uint64_t age_ns = 0;
    std::string name;

    bool operator==(const FitBlock&) const = default;
};

// Neighbours whose release makes room.
struct FitRelease {
    uint64_t count = 0;
    uint64_t bytes = 0;    // per bank
    uint64_t address = 0;  // that the request gets then; of a clash: where the lowest L1 buffer is then
    std::vector<FitBlock> blocks;  // by address; at most kMostReleaseBlocks
    uint64_t names = 0;            // distinct names of all of them
    bool can_move = false;         // beside the request, there is room for each of them elsewhere

    bool operator==(const FitRelease&) const = default;
};
constexpr size_t kMostReleases = 3;
constexpr size_t kMostReleaseBlocks = 16;

// A circular buffer that would have to be smaller.
struct BufferToShrink {
    std::string name;
    uint64_t address = 0;
    uint64_t bytes = 0;  // on one core
    uint64_t by = 0;

    bool operator==(const BufferToShrink&) const = default;
};

struct WaysOut {
    bool fits_after_compaction = false;
    std::vector<FitRelease> to_free;         // the fewest bytes first
    std::optional<FitRelease> fewest_names;  // if it has fewer names than the first of them
    std::optional<uint32_t> with_cores;      // the smallest number of cores that suffices
    std::optional<uint64_t> with_page;       // a smaller page
    std::optional<uint64_t> dram_address;    // in DRAM instead of L1
    // A size of L1_SMALL or TRACE, as the runtime's setting has it: that of TRACE is of all banks together. Of a clash: of L1_SMALL,
    // so that L1 buffers lie higher.
    std::optional<uint64_t> region_size;
    std::vector<BufferToShrink> to_shrink;  // of a clash: each alone suffices, the largest first

    bool operator==(const WaysOut&) const = default;
};

// A request in any pool and on any number of cores.
struct FitRequest {
    Kind kind = Kind::dram;
    allocator::TensorPages tensor;
    std::optional<uint64_t> size = {};  // bytes, whose pages may have another size; absent: a tensor
    uint32_t cores = 0;                 // 0: interleaved
    std::optional<bool> bottom_up = {};

    allocator::BufferRequest in_pool() const { return on_cores(cores); }
    allocator::BufferRequest on_cores(uint32_t number) const;
    allocator::BufferRequest in_dram() const;
    allocator::BufferRequest in_pages_of(uint64_t page_size) const;
};

// The kinds that have a pool are the allocator's pools.
constexpr allocator::PoolKind pool_of(Kind kind) { return static_cast<allocator::PoolKind>(index_of(kind)); }

// The pool from which a region is cut.
constexpr Kind pool_below(Kind region) { return region == Kind::trace ? Kind::dram : Kind::l1; }

// The address that a request gets in a pool.
std::optional<uint64_t> place(const allocator::PoolGeometry& pool, const allocator::BankSnapshot& bank,
                              const allocator::BufferRequest& request);

using DescribeLiveBlock = std::function<FitBlock(const allocator::LiveBlock&)>;

// What to free for `needed` bytes in each bank.
void add_releases(WaysOut& ways, const allocator::BankSnapshot& bank, uint64_t needed, bool bottom_up,
                  const DescribeLiveBlock& describe);

// What else the user could ask for.
void add_other_requests(WaysOut& ways, const FitRequest& request, const allocator::PoolGeometry& pool,
                        const allocator::BankSnapshot& bank);

// The smallest setting of a region that holds what is live, with the gaps between, and the request. `pool` has the direction
// of the pool, not of the request; `room` is the size of the pool below the region, if it is known. Empty for kinds without a
// setting, and if there is no such size or it can't be proved.
std::optional<uint64_t> region_size_for(Kind kind, const allocator::PoolGeometry& pool,
                                        const allocator::BankSnapshot& bank,
                                        const allocator::BufferRequest& request, uint64_t needed,
                                        std::optional<uint64_t> room);

// The same for a trace region whose banks hold the request, while its size as requested, which is the limit of all traces
// together, does not.
uint64_t trace_limit_for(const allocator::BankSnapshot& bank, const allocator::PoolGeometry& pool,
                         uint64_t needed);

}  // namespace ttmem::census
