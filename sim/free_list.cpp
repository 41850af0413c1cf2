// SPDX-License-Identifier: Apache-2.0
#include "sim/free_list.hpp"

#include <algorithm>
#include <iterator>

namespace ttmem::sim {

FreeList::FreeList(uint64_t base, uint64_t size) : base_(base), size_(size) { release_all(); }

std::optional<uint64_t> FreeList::allocate(uint64_t size, bool bottom_up) {
    // A block of zero bytes has no address of its own and would shadow its neighbour in the table.
    if (size == 0) {
        return std::nullopt;
    }
    if (bottom_up) {
        for (auto block = free_.begin(); block != free_.end(); ++block) {
            if (block->second >= size) {
                return take(block, size, bottom_up);
            }
        }
    } else {
        for (auto block = free_.rbegin(); block != free_.rend(); ++block) {
            if (block->second >= size) {
                return take(std::prev(block.base()), size, bottom_up);
            }
        }
    }
    return std::nullopt;
}

uint64_t FreeList::take(Blocks::iterator block, uint64_t size, bool bottom_up) {
    const auto [start, length] = *block;
    const uint64_t address = bottom_up ? start : start + length - size;
    if (bottom_up) {
        free_.erase(block);
        if (length > size) {
            free_.emplace(start + size, length - size);
        }
    } else if (length > size) {
        block->second = length - size;
    } else {
        free_.erase(block);
    }
    allocated_.emplace(address, size);
    allocated_bytes_ += size;
    return address;
}

bool FreeList::release(uint64_t address) {
    const auto taken = allocated_.find(address);
    if (taken == allocated_.end()) {
        return false;
    }
    const uint64_t size = taken->second;
    allocated_.erase(taken);
    allocated_bytes_ -= size;

    auto block = free_.emplace(address, size).first;
    if (const auto next = std::next(block); next != free_.end() && address + size == next->first) {
        block->second += next->second;
        free_.erase(next);
    }
    if (block != free_.begin()) {
        const auto previous = std::prev(block);
        if (previous->first + previous->second == block->first) {
            previous->second += block->second;
            free_.erase(block);
        }
    }
    return true;
}

void FreeList::release_all() {
    allocated_.clear();
    allocated_bytes_ = 0;
    free_.clear();
    if (size_ != 0) {
        free_.emplace(base_, size_);
    }
}

PoolStatistics FreeList::statistics() const {
    PoolStatistics result{.size = size_, .allocated = allocated_bytes_, .free = size_ - allocated_bytes_};
    for (const auto& [address, size] : free_) {
        result.largest_free = std::max(result.largest_free, size);
    }
    return result;
}

std::vector<Block> FreeList::blocks() const {
    std::vector<Block> result;
    result.reserve(free_.size() + allocated_.size());
    for (const auto& [address, size] : free_) {
        result.push_back({address, size, false});
    }
    for (const auto& [address, size] : allocated_) {
        result.push_back({address, size, true});
    }
    std::ranges::sort(result, {}, &Block::address);
    return result;
}

std::optional<uint64_t> FreeList::lowest_allocated() const {
    if (allocated_.empty()) {
        return std::nullopt;
    }
    return allocated_.begin()->first;
}

}  // namespace ttmem::sim
