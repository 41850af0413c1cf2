// SPDX-License-Identifier: Apache-2.0
#pragma once

// The slot: a few 64-bit words that one process writes and others read, at any time, with no lock.
//
//     word 0   generation: even = free, odd = live; it rises with every change
//     word 1.. payload, written only while the slot is free
//
//     writer                                   reader
//     publish: payload, then generation odd    generation; if odd, payload; generation again: same? kept : skipped
//     retire:  generation even, by CAS
//
// The protocol needs no fence. A reader that sees a word of the next payload (acquire) also sees the generation that
// retired the last one, because the writer stored that word (release) after it; so its second load of the generation
// differs. tests/model checks this, and that each ordering below is needed: the template parameters are there for that.

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace ttmem::segment {

struct SlotOrders {
    static constexpr auto payload_store = std::memory_order_release;
    static constexpr auto publish = std::memory_order_release;
    static constexpr auto retire = std::memory_order_acq_rel;
    static constexpr auto generation_load = std::memory_order_acquire;
    static constexpr auto payload_load = std::memory_order_acquire;
    static constexpr auto recheck_load = std::memory_order_relaxed;
};

constexpr unsigned kGenerationBits = 40;
constexpr uint64_t kGenerationMask = (uint64_t{1} << kGenerationBits) - 1;

constexpr bool is_live(uint64_t generation) { return (generation & 1) != 0; }
constexpr uint64_t next_generation(uint64_t generation) { return (generation + 1) & kGenerationMask; }
constexpr uint64_t previous_generation(uint64_t generation) { return (generation - 1) & kGenerationMask; }
// The generation of a free slot is even and has 40 bits, so this one never carries.
constexpr uint64_t live_generation_after(uint64_t free_generation) { return free_generation + 1; }

template <class Word, size_t kWords, class Orders = SlotOrders>
struct BasicSlot {
    static constexpr size_t kPayloadWords = kWords - 1;

    Word word[kWords];

    // For the owner of the slot: no other thread changes a free one.
    uint64_t generation() const { return word[0].load(std::memory_order_relaxed); }

    // Makes a free slot live. SYNC POINT: with read() and, for the generation, with retire().
    void publish(const uint64_t (&payload)[kPayloadWords], uint64_t live_generation) {
#pragma GCC unroll 8
        for (size_t i = 0; i < kPayloadWords; ++i) {
            word[1 + i].store(payload[i], Orders::payload_store);
        }
        word[0].store(live_generation, Orders::publish);
    }

    // Makes a live slot free; false if it is not at that generation any more. Of several callers one wins.
    // SYNC POINT: its acquire pairs with publish(), so that the winner may read the payload whichever way it got the
    // generation; its release orders what the caller stored before (its intent) for readers.
    bool retire(uint64_t live_generation) {
        uint64_t expected = live_generation;
        return word[0].compare_exchange_strong(expected, next_generation(live_generation), Orders::retire,
                                               std::memory_order_relaxed);
    }

    // Copies the payload of a live slot and returns its generation, or returns 0 where the slot is free or changed
    // meanwhile. SYNC POINT: with publish() and retire().
    uint64_t read(uint64_t (&payload)[kPayloadWords]) const {
        const uint64_t before = word[0].load(Orders::generation_load);
        if (!is_live(before)) {
            return 0;
        }
        for (size_t i = 0; i < kPayloadWords; ++i) {
            payload[i] = word[1 + i].load(Orders::payload_load);
        }
        return word[0].load(Orders::recheck_load) == before ? before : 0;
    }
};

}  // namespace ttmem::segment
