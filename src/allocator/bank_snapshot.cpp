// SPDX-License-Identifier: Apache-2.0
#include "allocator/bank_snapshot.hpp"

#include <algorithm>
#include <cassert>

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

bool is_cheaper(const BlocksToFree& a, const BlocksToFree& b) {
    return a.bytes != b.bytes ? a.bytes < b.bytes : a.count < b.count;
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

BankSnapshot BankSnapshot::without(const BlocksToFree& freed) const {
    std::vector<LiveBlock> kept(blocks_);
    const auto first = kept.begin() + static_cast<ptrdiff_t>(freed.first);
    kept.erase(first, first + static_cast<ptrdiff_t>(freed.count));
    return {base_, size_, std::move(kept)};
}

std::vector<BlocksToFree> BankSnapshot::cheapest_to_free(uint64_t size, bool bottom_up, size_t most) const {
    std::vector<BlocksToFree> best;
    if (size == 0 || judge(size, statistics_) == FitVerdict::fits || size > size_ || most == 0) {
        return best;
    }
    // For each lowest block the fewest neighbours above it, until the gap around them suffices. `last` only rises.
    const auto gap = [&](size_t first, size_t last) {
        const uint64_t from = first == 0 ? base_ : blocks_[first - 1].end();
        return (last + 1 == blocks_.size() ? base_ + size_ : blocks_[last + 1].address) - from;
    };
    size_t last = 0;
    uint64_t bytes = blocks_.empty() ? 0 : blocks_[0].size;  // of first to last
    for (size_t first = 0; first < blocks_.size(); ++first) {
        if (last < first) {
            last = first;
            bytes = blocks_[first].size;
        }
        while (last + 1 < blocks_.size() && gap(first, last) < size) {
            bytes += blocks_[++last].size;
        }
        if (gap(first, last) < size) {
            break;  // and so it is for every higher one
        }
        // A set that suffices without its lowest block contains a cheaper one, which comes next.
        const bool is_minimal = first == last || gap(first + 1, last) < size;
        const BlocksToFree candidate{first, last - first + 1, bytes, 0};
        if (is_minimal && (best.size() < most || is_cheaper(candidate, best.back()))) {
            best.insert(std::upper_bound(best.begin(), best.end(), candidate, is_cheaper), candidate);
            best.resize(std::min(best.size(), most));
        }
        bytes -= blocks_[first].size;
    }
    for (BlocksToFree& one : best) {
        const auto address = without(one).find(size, bottom_up);
        assert(address);  // the gap suffices
        one.address = address.value_or(0);
    }
    return best;
}

}  // namespace ttmem::allocator
