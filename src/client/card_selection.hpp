// SPDX-License-Identifier: Apache-2.0
#pragma once

// The live allocations of a bank in the order of their addresses, and the largest of many values. Both work in given memory: a failing
// call waits for them.

#include <stdint.h>

#include "segment/layout.hpp"

namespace ttmem::client {

// One live allocation of the bank, in few bytes: there may be very many, and each page costs a fault.
struct CardEntry {
    uint64_t address;
    uint64_t bytes_and_slot;

    // In one bank; of a circular buffer on one core.
    uint64_t bytes() const { return bytes_and_slot >> kSlotBits; }
    uint32_t slot() const { return static_cast<uint32_t>(bytes_and_slot & (segment::kMaxSlots - 1)); }

    static constexpr unsigned kSlotBits = 24;
};
static_assert(segment::kMaxSlots == 1u << CardEntry::kSlotBits &&
              segment::kSizeBits + CardEntry::kSlotBits <= 64);

// A digit has few values, so that the places to write to stay in the first-level cache.
constexpr uint32_t kDigitBits = 8;
constexpr uint32_t kDigits = 1u << kDigitBits;

// By digits of kDigitBits, from the lowest bit in which two addresses differ; each pass counts the digits of the next one. Stable.
// `spare` has room for as many entries. Returns the one of the two that has them sorted.
inline CardEntry* sort_by_address(CardEntry* entries, CardEntry* spare, uint32_t count) {
    uint64_t differing = 0;
    for (uint32_t i = 1; i < count; ++i) {
        differing |= entries[i].address ^ entries[0].address;
    }
    const auto lowest_bit = [&] {
        return differing == 0 ? 0 : static_cast<uint32_t>(__builtin_ctzll(differing));
    };
    uint32_t shift = lowest_bit();
    uint32_t counts[kDigits] = {};
    for (uint32_t i = 0; i < count; ++i) {
        ++counts[entries[i].address >> shift & (kDigits - 1)];
    }
    while (differing != 0) {
        const uint32_t end = shift + kDigitBits;
        differing = end >= 64 ? 0 : differing >> end << end;
        const uint32_t next_shift = lowest_bit();
        uint32_t places[kDigits];
        uint32_t before = 0;
        for (uint32_t digit = 0; digit < kDigits; ++digit) {
            places[digit] = before;
            before += counts[digit];
            counts[digit] = 0;
        }
        for (uint32_t i = 0; i < count; ++i) {
            const CardEntry entry = entries[i];
            ++counts[entry.address >> next_shift & (kDigits - 1)];
            spare[places[entry.address >> shift & (kDigits - 1)]++] = entry;
        }
        CardEntry* const sorted = spare;
        spare = entries;
        entries = sorted;
        shift = next_shift;
    }
    return entries;
}

// The largest values that were offered, each with a number. Four times as many are collected before the smaller ones are dropped,
// so that rising values, such as times, cost no more than others.
template <uint32_t kCapacity>
struct Largest {
    static constexpr uint32_t kCollected = 4 * kCapacity;

    uint64_t values[kCollected];
    uint32_t indexes[kCollected];
    uint32_t size;
    uint64_t dropped;  // no value up to this one counts any more, once some were dropped
    bool has_dropped;

    void offer(uint64_t value, uint32_t index) {
        if (has_dropped && value <= dropped) {
            return;
        }
        values[size] = value;
        indexes[size] = index;
        if (++size == kCollected) {
            keep_largest();
        }
    }

    // At the end: in the order of `before`, which compares two places.
    template <class Before>
    void finish(const Before& before) {
        finish();
        for (uint32_t i = 1; i < size; ++i) {
            for (uint32_t at = i; at != 0 && before(at, at - 1); --at) {
                swap(at, at - 1);
            }
        }
    }
    void finish() {
        if (size > kCapacity) {
            keep_largest();
        }
    }

private:
    void swap(uint32_t a, uint32_t b) {
        const uint64_t value = values[a];
        const uint32_t index = indexes[a];
        values[a] = values[b];
        indexes[a] = indexes[b];
        values[b] = value;
        indexes[b] = index;
    }

    // Hoare's selection.
    void keep_largest() {
        uint32_t first = 0;
        uint32_t last = size - 1;
        while (first < last) {
            const uint64_t pivot = values[first + (last - first) / 2];
            uint32_t low = first;
            uint32_t high = last;
            for (;;) {
                while (values[low] > pivot) {
                    ++low;
                }
                while (values[high] < pivot) {
                    --high;
                }
                if (low >= high) {
                    break;
                }
                swap(low++, high--);
            }
            // All up to `high` are at least the pivot, the others at most.
            if (kCapacity - 1 <= high) {
                last = high;
            } else {
                first = high + 1;
            }
        }
        size = kCapacity;
        dropped = values[0];
        for (uint32_t i = 1; i < size; ++i) {
            dropped = values[i] < dropped ? values[i] : dropped;
        }
        has_dropped = true;
    }
};

}  // namespace ttmem::client
