// SPDX-License-Identifier: Apache-2.0
#include "allocator/free_list.hpp"

#include <algorithm>
#include <iterator>

namespace ttmem::allocator {

FreeList::FreeList(uint64_t base, uint64_t size) : base_(base), size_(size) { release_all(); }

std::optional<uint64_t> FreeList::allocate(uint64_t size, bool bottom_up) {
    const auto block = first_fit(free_, size, bottom_up);
    return block == free_.end() ? std::nullopt : std::optional(take(block, size, bottom_up));
}

uint64_t FreeList::take(Blocks::iterator block, uint64_t size, bool bottom_up) {
    const auto [start, length] = *block;
    const uint64_t address = place_in(start, length, size, bottom_up);
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

std::vector<BankBlock> FreeList::blocks() const {
    std::vector<BankBlock> result;
    result.reserve(free_.size() + allocated_.size());
    for (const auto& [address, size] : free_) {
        result.push_back({address, size, false});
    }
    for (const auto& [address, size] : allocated_) {
        result.push_back({address, size, true});
    }
    std::ranges::sort(result, {}, &BankBlock::address);
    return result;
}

std::optional<uint64_t> FreeList::lowest_allocated() const {
    if (allocated_.empty()) {
        return std::nullopt;
    }
    return allocated_.begin()->first;
}

}  // namespace ttmem::allocator
