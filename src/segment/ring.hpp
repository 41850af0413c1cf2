// SPDX-License-Identifier: Apache-2.0
#pragma once

// The ring: the last events of one thread. One writer, and any number of readers, which the writer never waits for.
//
//     head      records ever written; record i sits at i mod capacity (a power of two)
//     writer    the record's words, then head + 1
//     reader    head; copies record i; head again: keeps the copy only if head - i < capacity
//
// The bound is strict: at head - i == capacity the writer may be overwriting record i. A record that a reader could not
// keep is counted as lost, so kept + lost = written, always. tests/model checks the protocol and that each
// ordering and the bound are needed.

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace ttmem::segment {

struct RingOrders {
    static constexpr auto record_store = std::memory_order_release;
    static constexpr auto head_store = std::memory_order_release;
    static constexpr auto head_load = std::memory_order_acquire;
    static constexpr auto record_load = std::memory_order_acquire;
    static constexpr auto recheck_load = std::memory_order_relaxed;
    static constexpr uint64_t overwritten_at = 0;  // added to head - i; 1 would be the off-by-one
};

constexpr size_t kRecordWords = 4;

template <class Word>
struct BasicRecord {
    Word word[kRecordWords];
};

// Appends to the ring at its head. The caller is the only writer. SYNC POINT: with read_record().
template <class Orders = RingOrders, class Word>
void append_record(BasicRecord<Word>* ring, uint64_t capacity, Word& head,
                   const uint64_t (&record)[kRecordWords]) {
    const uint64_t index = head.load(std::memory_order_relaxed);
    BasicRecord<Word>& target = ring[index & (capacity - 1)];
#pragma GCC unroll 4
    for (size_t i = 0; i < kRecordWords; ++i) {
        target.word[i].store(record[i], Orders::record_store);
    }
    head.store(index + 1, Orders::head_store);
}

// Copies record `index`, which is below a head that the caller has read. False: it was overwritten, and is lost.
// SYNC POINT: with append_record().
template <class Orders = RingOrders, class Word>
bool read_record(const BasicRecord<Word>* ring, uint64_t capacity, const Word& head, uint64_t index,
                 uint64_t (&record)[kRecordWords]) {
    const BasicRecord<Word>& source = ring[index & (capacity - 1)];
    for (size_t i = 0; i < kRecordWords; ++i) {
        record[i] = source.word[i].load(Orders::record_load);
    }
    return head.load(Orders::recheck_load) - index < capacity + Orders::overwritten_at;
}

// Where a reader is in one ring.
struct RingPosition {
    uint64_t next = 0;  // the first record not yet read
    uint64_t kept = 0;
    uint64_t lost = 0;
};

// Passes every record up to the head to `take`, in order, and counts those that were overwritten before or while they
// were read. Bounded: at most `most` and at most `capacity` records are read, whatever the head says. A head that went
// backwards (only a hostile segment has one) moves the position and counts nothing.
template <class Orders = RingOrders, class Word, class Take>
void follow_ring(const BasicRecord<Word>* ring, uint64_t capacity, const Word& head, RingPosition& position,
                 Take&& take, uint64_t most = UINT64_MAX) {
    uint64_t end = head.load(Orders::head_load);
    if (end - position.next > UINT64_MAX / 2) {
        position.next = end;
        return;
    }
    if (end - position.next >= capacity + Orders::overwritten_at) {
        const uint64_t oldest = end - capacity + 1 - Orders::overwritten_at;
        position.lost += oldest - position.next;
        position.next = oldest;
    }
    end = end - position.next > most ? position.next + most : end;
    for (; position.next != end; ++position.next) {
        uint64_t record[kRecordWords];
        if (read_record<Orders>(ring, capacity, head, position.next, record)) {
            ++position.kept;
            take(record);
        } else {
            ++position.lost;
        }
    }
}

}  // namespace ttmem::segment
