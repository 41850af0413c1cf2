// SPDX-License-Identifier: Apache-2.0
#include "allocator/bank_snapshot.hpp"

#include <algorithm>
#include <cassert>
#include <unordered_map>

#include "allocator/geometry.hpp"

namespace ttmem::allocator {

namespace {

bool lie_in_order(uint64_t base, uint64_t size, const std::vector<LiveBlock>& by_address) {
    uint64_t from = base;
    uint64_t left = size;
    for (const LiveBlock& block : by_address) {
        if (block.size == 0 || block.address < from || block.address - from > left ||
            block.size > left - (block.address - from)) {
            return false;
        }
        left -= block.address - from + block.size;
        from = block.end();
    }
    return true;
}

bool is_cheaper(const BlocksToFree& a, const BlocksToFree& b, FreeCost cost) {
    if (cost == FreeCost::owners && a.owners != b.owners) {
        return a.owners < b.owners;
    }
    return a.bytes != b.bytes ? a.bytes < b.bytes : a.count < b.count;
}

// The distinct owners in a window that slides over the blocks.
class OwnersInWindow {
public:
    void add(const LiveBlock& block) { ++counts_[block.owner]; }
    void remove(const LiveBlock& block) {
        const auto found = counts_.find(block.owner);
        if (--found->second == 0) {
            counts_.erase(found);
        }
    }
    size_t count() const { return counts_.size(); }

private:
    std::unordered_map<size_t, size_t> counts_;
};

size_t count_owners(const std::vector<LiveBlock>& blocks, size_t first, size_t count) {
    OwnersInWindow owners;
    for (size_t i = first; i < first + count; ++i) {
        owners.add(blocks[i]);
    }
    return owners.count();
}

using FreeBlocks = std::vector<std::pair<uint64_t, uint64_t>>;  // address and size, by address

// The free blocks when a range that reaches from one live block to another is free.
FreeBlocks with_free_range(const FreeBlocks& free, uint64_t from, uint64_t size) {
    const auto is_below = [](const auto& block, uint64_t address) { return block.first < address; };
    FreeBlocks result(free.begin(), std::lower_bound(free.begin(), free.end(), from, is_below));
    result.emplace_back(from, size);
    result.insert(result.end(), std::lower_bound(free.begin(), free.end(), from + size, is_below),
                  free.end());
    return result;
}

// Takes `size` bytes from the free blocks. False: none is large enough.
bool take(FreeBlocks& free, uint64_t size, bool bottom_up) {
    const auto block = first_fit(free, size, bottom_up);
    if (block == free.end()) {
        return false;
    }
    block->first += bottom_up ? size : 0;
    block->second -= size;
    return true;
}

}  // namespace

FitVerdict judge(uint64_t needed, const PoolStatistics& bank) {
    if (needed > bank.size) {
        return FitVerdict::too_big;
    }
    if (needed > bank.free) {
        return FitVerdict::not_enough;
    }
    return needed > bank.largest_free ? FitVerdict::fragmented : FitVerdict::fits;
}

uint64_t short_by(uint64_t needed, const PoolStatistics& bank) {
    switch (judge(needed, bank)) {
        case FitVerdict::too_big:
            return needed - bank.size;
        case FitVerdict::not_enough:
            return needed - bank.free;
        case FitVerdict::fragmented:
            return needed - bank.largest_free;
        case FitVerdict::fits:
        case FitVerdict::too_many_cores:
            break;
    }
    return 0;
}

BankSnapshot::BankSnapshot(uint64_t base, uint64_t size, std::vector<LiveBlock> blocks)
    : base_(base), size_(size), blocks_(std::move(blocks)) {
    uint64_t free_from = base;
    statistics_.size = size;
    const auto add_gap = [&](uint64_t until) {
        if (until != free_from) {
            free_.emplace_back(free_from, until - free_from);
            statistics_.free += until - free_from;
            statistics_.largest_free = std::max(statistics_.largest_free, until - free_from);
        }
    };
    for (const LiveBlock& block : blocks_) {
        add_gap(block.address);
        free_from = block.end();
    }
    add_gap(base + size);
    statistics_.allocated = size - statistics_.free;
}

std::optional<BankSnapshot> BankSnapshot::of(uint64_t base, uint64_t size, std::vector<LiveBlock> blocks) {
    std::sort(blocks.begin(), blocks.end(),
              [](const LiveBlock& a, const LiveBlock& b) { return a.address < b.address; });
    if (size > UINT64_MAX - base || !lie_in_order(base, size, blocks)) {
        return std::nullopt;
    }
    return BankSnapshot(base, size, std::move(blocks));
}

std::optional<uint64_t> BankSnapshot::find(uint64_t size, bool bottom_up) const {
    const auto block = first_fit(free_, size, bottom_up);
    return block == free_.end() ? std::nullopt
                                : std::optional(place_in(block->first, block->second, size, bottom_up));
}

std::optional<uint64_t> BankSnapshot::size_that_fits(uint64_t request, bool bottom_up, uint64_t unit) const {
    if (request <= statistics_.largest_free) {
        return std::nullopt;
    }
    uint64_t growing = size_;
    if (!blocks_.empty()) {
        growing = bottom_up ? base_ + size_ - blocks_.back().end() : blocks_.front().address - base_;
    }
    const uint64_t kept = size_ - growing;
    if (kept > UINT64_MAX - unit || request > UINT64_MAX - unit - kept) {
        return std::nullopt;
    }
    const uint64_t size = round_up_or_most(kept + request, unit);
    std::vector<LiveBlock> blocks(blocks_);
    for (LiveBlock& block : blocks) {
        block.address = block.address - base_ + (bottom_up ? 0 : size - size_);
    }
    return BankSnapshot(0, size, std::move(blocks)).find(request, bottom_up) ? std::optional(size)
                                                                             : std::nullopt;
}

BankSnapshot BankSnapshot::without(const BlocksToFree& freed) const {
    std::vector<LiveBlock> kept(blocks_);
    const auto first = kept.begin() + static_cast<ptrdiff_t>(freed.first);
    kept.erase(first, first + static_cast<ptrdiff_t>(freed.count));
    return {base_, size_, std::move(kept)};
}

// `after`: the bank without the set.
bool BankSnapshot::can_move(const BlocksToFree& set, const BankSnapshot& after, uint64_t size) const {
    FreeBlocks free;
    for (const auto& [address, length] : after.free_) {
        const uint64_t end = address + length;
        if (set.address < address || set.address >= end) {
            free.emplace_back(address, length);
            continue;
        }
        free.emplace_back(address, set.address - address);
        free.emplace_back(set.address + size, end - set.address - size);
    }
    std::vector<uint64_t> sizes;
    for (size_t i = 0; i < set.count; ++i) {
        sizes.push_back(blocks_[set.first + i].size);
    }
    std::sort(sizes.rbegin(), sizes.rend());
    return std::all_of(sizes.begin(), sizes.end(), [&](uint64_t one) { return take(free, one, true); });
}

bool BankSnapshot::can_move_above(uint64_t floor) const {
    FreeBlocks free;
    for (const auto& [address, length] : free_) {
        const uint64_t from = std::max(address, floor);
        if (address + length > from) {
            free.emplace_back(from, address + length - from);
        }
    }
    // The part of a block above the floor becomes free too, and joins what is free behind it.
    std::vector<uint64_t> sizes;
    for (const LiveBlock& block : blocks_) {
        if (block.address >= floor) {
            break;
        }
        sizes.push_back(block.size);
        if (block.end() > floor) {
            const bool joins = !free.empty() && free.front().first == block.end();
            const uint64_t end = joins ? block.end() + free.front().second : block.end();
            if (joins) {
                free.front() = {floor, end - floor};
            } else {
                free.insert(free.begin(), {floor, end - floor});
            }
        }
    }
    std::sort(sizes.rbegin(), sizes.rend());
    return sizes.size() <= kMostMoved &&
           std::all_of(sizes.begin(), sizes.end(), [&](uint64_t one) { return take(free, one, false); });
}

std::vector<BlocksToFree> BankSnapshot::cheapest_to_free(uint64_t size, bool bottom_up, size_t most,
                                                         FreeCost cost) const {
    std::vector<BlocksToFree> best;
    if (size == 0 || judge(size, statistics_) == FitVerdict::fits || size > size_ || most == 0) {
        return best;
    }
    const auto cheaper = [&](const BlocksToFree& a, const BlocksToFree& b) { return is_cheaper(a, b, cost); };
    // For each lowest block the fewest neighbours above it, until the gap around them suffices. `end` only rises.
    const auto gap = [&](size_t first, size_t end) {
        const uint64_t from = first == 0 ? base_ : blocks_[first - 1].end();
        return (end == blocks_.size() ? base_ + size_ : blocks_[end].address) - from;
    };
    // A window that slides over all blocks costs more than the few sets that are returned.
    const bool counts_owners = cost == FreeCost::owners;
    OwnersInWindow owners;
    size_t end = 0;
    uint64_t bytes = 0;  // of first to end
    for (size_t first = 0; first < blocks_.size(); ++first) {
        if (blocks_[first].is_pinned) {
            end = first + 1;  // the window is empty: it never reaches beyond a pinned block
            continue;
        }
        while (end < blocks_.size() && !blocks_[end].is_pinned && (end == first || gap(first, end) < size)) {
            bytes += blocks_[end].size;
            if (counts_owners) {
                owners.add(blocks_[end]);
            }
            ++end;
        }
        // A set that suffices without its lowest block contains a cheaper one, which comes next.
        const bool is_minimal = end - first == 1 || gap(first + 1, end) < size;
        if (gap(first, end) >= size && is_minimal) {
            const BlocksToFree candidate{first, end - first, bytes, owners.count(), 0, false};
            if (best.size() < most || cheaper(candidate, best.back())) {
                best.insert(std::upper_bound(best.begin(), best.end(), candidate, cheaper), candidate);
                best.resize(std::min(best.size(), most));
            }
        }
        bytes -= blocks_[first].size;
        if (counts_owners) {
            owners.remove(blocks_[first]);
        }
    }
    for (BlocksToFree& one : best) {
        one.owners = count_owners(blocks_, one.first, one.count);
        const uint64_t from = one.first == 0 ? base_ : blocks_[one.first - 1].end();
        const FreeBlocks free = with_free_range(free_, from, gap(one.first, one.first + one.count));
        const auto block = first_fit(free, size, bottom_up);
        assert(block != free.end());  // the gap suffices
        one.address = place_in(block->first, block->second, size, bottom_up);
        one.can_move = one.count <= kMostMoved && can_move(one, without(one), size);
    }
    return best;
}

}  // namespace ttmem::allocator
