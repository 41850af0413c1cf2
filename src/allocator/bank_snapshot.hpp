// SPDX-License-Identifier: Apache-2.0
#pragma once

// The bank of a pool as it was at one moment, from the list of its live blocks. Answers what a request would get there, without making
// it: the address, or why there is none and what to free.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "allocator/free_list.hpp"
#include "base/named_enum.hpp"

namespace ttmem::allocator {

enum class FitVerdict : uint8_t {
    fits,
    too_big,         // larger than a bank
    not_enough,      // larger than the free memory
    fragmented,      // no free block is large enough
    too_many_cores,  // more shards than banks
};
constexpr auto enum_names(FitVerdict /*of*/) {
    return std::to_array<std::string_view>({"fits", "too big", "not enough", "fragmented", "too many cores"});
}
using base::name_of;

// Whether `needed` bytes in each bank have room. All figures are per bank.
FitVerdict judge(uint64_t needed, const PoolStatistics& bank);

// The bytes that are missing: of the bank, of the free memory or of the largest block. 0 if it fits.
uint64_t short_by(uint64_t needed, const PoolStatistics& bank);

// A range of a bank that is taken.
struct LiveBlock {
    uint64_t address = 0;
    uint64_t size = 0;
    size_t id = 0;           // the caller's
    size_t owner = 0;        // blocks with the same number belong together
    bool is_pinned = false;  // it can't be freed: nothing is known about it

    uint64_t end() const { return address + size; }
    bool operator==(const LiveBlock&) const = default;
};

// What makes one set of blocks cheaper to free than another.
enum class FreeCost : uint8_t { bytes, owners };

// Neighbours whose release makes room for a request.
struct BlocksToFree {
    size_t first = 0;  // index of the lowest one
    size_t count = 0;
    uint64_t bytes = 0;     // their sum
    size_t owners = 0;      // distinct ones
    uint64_t address = 0;   // that the request gets then
    bool can_move = false;  // beside the request, the bank has room for each of them elsewhere

    bool operator==(const BlocksToFree&) const = default;
};
// Sets with more blocks than this are not tried out for a move.
inline constexpr size_t kMostMoved = 64;

class BankSnapshot {
public:
    // Empty if the blocks do not lie in the pool one after the other: then the allocator follows other rules.
    static std::optional<BankSnapshot> of(uint64_t base, uint64_t size, std::vector<LiveBlock> blocks);

    const std::vector<LiveBlock>& blocks() const { return blocks_; }  // by address
    const PoolStatistics& statistics() const { return statistics_; }

    // The address that a request gets. Empty if there is no room.
    std::optional<uint64_t> find(uint64_t size, bool bottom_up) const;

    // The cheapest sets of neighbours whose release makes room, at most `most`, the cheapest first. No set contains another one or
    // a pinned block. Empty if nothing needs to be freed, or if the request is larger than the bank. Each was tried: the request
    // then gets the address.
    std::vector<BlocksToFree> cheapest_to_free(uint64_t size, bool bottom_up, size_t most,
                                               FreeCost cost = FreeCost::bytes) const;

    // The size that a region needs, in units of `unit`, for the request beside the live blocks. The end of a region is fixed: a larger
    // one begins lower. Blocks keep their distance from the end that the region allocates from, so the free block at the other end
    // grows, and no other one. The request is tried in a bank of that size. Empty if it fits already, or if no size suffices.
    std::optional<uint64_t> size_that_fits(uint64_t request, bool bottom_up, uint64_t unit) const;

    // Whether all blocks that begin below `floor` have room above it, each in one block and from the highest address down.
    bool can_move_above(uint64_t floor) const;

private:
    BankSnapshot(uint64_t base, uint64_t size, std::vector<LiveBlock> blocks);

    BankSnapshot without(const BlocksToFree& freed) const;
    bool can_move(const BlocksToFree& set, const BankSnapshot& after, uint64_t size) const;

    uint64_t base_;
    uint64_t size_;
    std::vector<LiveBlock> blocks_;
    std::vector<std::pair<uint64_t, uint64_t>> free_;  // address and size, by address
    PoolStatistics statistics_;
};

}  // namespace ttmem::allocator
