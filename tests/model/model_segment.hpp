// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "segment/writer.hpp"
#include "tests/model/atomic.hpp"

// The parts of a segment that an event changes, built on atomics of the model and written by the writer of src/segment.

namespace ttmem::model {

using ModelWord = Atomic<std::uint64_t>;

constexpr std::uint64_t kModelRing = 2;    // capacity
constexpr std::uint64_t kModelBytes = 64;  // of every allocation

struct ModelLine {
    ModelWord head;
    ModelWord intent;
};

struct ModelPool {
    ModelWord used;
    ModelWord peak;
    ModelWord since;
    ModelWord is_paused;

    // No peak is below `since`.
    explicit ModelPool(std::uint64_t first_peak = 0) : peak(first_peak), since(first_peak) {}
};

struct ModelTally {
    ModelWord requested;
    ModelWord count;
    ModelWord planned_and_views;
    ModelWord reserved_unknown;
};

// The orders and steps of the product. A test derives from it and weakens one of them.
struct ModelTraits : segment::EventTraits {
    using Line = ModelLine;
    using Record = segment::BasicRecord<ModelWord>;
    using Slot = segment::BasicSlot<ModelWord, segment::LedgerSlot::kPayloadWords + 1>;
    using PoolType = ModelPool;
    using TallyType = ModelTally;
};

// The words that one writer line owns. Set 0 and dram select the pool with index 0.
template <class Traits>
struct ModelWriterLine {
    ModelLine line;
    typename Traits::Record ring[kModelRing];
    ModelTally tally;

    explicit ModelWriterLine(const std::string& suffix = "") {
        name(line.head, "head" + suffix);
        name(line.intent, "intent" + suffix);
        name(tally.requested, "requested" + suffix);
        name(tally.count, "count" + suffix);
    }

    void allocate(typename Traits::Slot* ledger, ModelPool& pool, std::uint32_t slot) {
        segment::Allocation a;
        a.requested = kModelBytes;
        a.reserved = kModelBytes;
        writer(ledger, pool).allocate(slot, a);
    }

    bool free(typename Traits::Slot* ledger, ModelPool& pool, segment::SlotRef ref) {
        std::uint64_t what = 0;
        return writer(ledger, pool).free(ref, 0, what);
    }

private:
    segment::BasicEventWriter<Traits> writer(typename Traits::Slot* ledger, ModelPool& pool) {
        return {&line, ring, kModelRing - 1, ledger, &pool, &tally};
    }
};

// One writer and one slot.
template <class Traits>
struct ModelSegment : ModelWriterLine<Traits> {
    typename Traits::Slot ledger[1];
    ModelPool pool;

    ModelSegment() {
        name(ledger[0].word[0], "generation");
        name(pool.used, "used");
        name(pool.peak, "peak");
    }

    void allocate(std::uint32_t slot) { ModelWriterLine<Traits>::allocate(ledger, pool, slot); }
    bool free(std::uint32_t slot, std::uint64_t generation) {
        return ModelWriterLine<Traits>::free(ledger, pool, {slot, generation});
    }
};

}  // namespace ttmem::model
