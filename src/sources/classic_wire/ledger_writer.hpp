// SPDX-License-Identifier: Apache-2.0
#pragma once

// The ledger of a client of the classic wire: a segment like that of any tracked process, in a memfd of this process.
// Every reader of segments can therefore show this client too.
//
// The rules are those of segment/keyed_rules.hpp. A free of an unknown allocation is counted, and no counter goes below
// zero. One thread writes.
//
// A ledger takes memory only for what it holds, page by page: 48 KiB and its ring at first, then at most 88 bytes per live
// allocation (its slot, its entry here and its share of the hash table). Each page is taken from the budget first. An
// allocation that finds none left is counted in the segment and not recorded.

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "base/error.hpp"
#include "census/process.hpp"
#include "segment/keyed_rules.hpp"
#include "segment/segment_writer.hpp"
#include "sources/classic_wire/ledger_budget.hpp"
#include "sources/classic_wire/ledger_key.hpp"
#include "sources/classic_wire/message.hpp"
#include "sources/classic_wire/page_array.hpp"
#include "sources/segments/attach.hpp"

namespace ttmem::sources::classic_wire {

class LedgerWriter {
public:
    static constexpr segment::Sizes kSizes{segment::kMinNames, 1, 8'192, segment::kDefaultSlots, 0, 0};

    // The ring takes its memory at once. The more of the budget is used, the smaller are the rings of further ledgers, so that
    // a user may have few clients with a long history or many with a short one.
    static segment::Sizes sizes_for(const LedgerBudget& budget);

    struct NewLedger;
    // Fails with Error::Code::refused if the budget is used up. Without a budget there is no limit.
    static base::Expected<NewLedger> make(uint32_t pid, uint64_t start_time,
                                          const segment::Sizes& sizes = kSizes,
                                          std::shared_ptr<LedgerBudget> budget = nullptr);

    ~LedgerWriter() = default;
    LedgerWriter(const LedgerWriter&) = delete;
    LedgerWriter& operator=(const LedgerWriter&) = delete;

    enum class Outcome : uint8_t { done, unknown_free, not_recorded };

    // Applies a message that allocates or frees, and ignores others. `now_ns` is on the monotonic clock.
    Outcome apply(const WireRequest& request, uint64_t now_ns);

    // The memory that it takes.
    uint64_t bytes() const { return account_.taken(); }

private:
    using KeyedClass = segment::KeyedClass;

    // Belongs to the slot with the same index. Slots are linked: the newest slot of each key in the list of a bucket, older
    // slots of a key behind it, and free slots among themselves.
    struct KeyedSlot {
        uint64_t references : 63;
        uint64_t has_other_kind : 1;  // some older slot of the key has another kind
        uint32_t older;               // slot of the same key
        uint32_t next;                // in the list of the bucket, or of free slots
    };
    static_assert(sizeof(KeyedSlot) == 16);
    // The slots of one key, as the rules access them.
    class LedgerEntries;

    LedgerWriter(std::shared_ptr<void> mapping, const segment::Sizes& sizes, uint32_t pid,
                 uint64_t start_time, LedgerAccount account);

    Outcome begin(const WireRequest& request, KeyedClass of, uint32_t kind);
    Outcome end(const WireRequest& request, KeyedClass of);
    Outcome unknown_free(const WireRequest& request);
    Outcome refuse(segment::Inexact why);

    static LedgerKey key_of(const WireRequest& request, uint8_t set, KeyedClass of);
    LedgerKey key_of(uint32_t slot) const;
    segment::AllocationKind kind_of(uint32_t slot) const;
    uint32_t* link_of(const LedgerKey& key);
    std::optional<uint8_t> set_of(int32_t device) const;

    // Each returns the reason if it fails.
    std::optional<segment::Inexact> add_set(int32_t device);
    std::optional<segment::Inexact> add_slots();
    std::optional<segment::Inexact> provide(segment::RegionId id, uint64_t begin, uint64_t end);
    bool grow_index(uint32_t slots);
    bool grow_buckets(size_t count);

    LedgerAccount account_;
    const std::shared_ptr<void> mapping_;  // shared with the reader
    unsigned char* const memory_;
    const segment::Sizes sizes_;
    segment::SegmentWriter writer_;
    const uint32_t label_;
    std::array<uint64_t, segment::kRegions>
        provided_{};                // the end of the memory that a region has; an offset
    std::vector<int32_t> devices_;  // by set, which is also the index in the device table
    const LedgerKeyHash hash_;
    PageArray<uint32_t> buckets_;  // the first slot of each list; the size is a power of two
    PageArray<KeyedSlot> keyed_;   // by slot
    uint32_t first_free_ = segment::kNoEntry;
    uint64_t now_ = 0;  // time of the current message
};

// A writer, and a reader of the same segment.
struct LedgerWriter::NewLedger {
    std::unique_ptr<LedgerWriter> writer;
    segment::Reader reader;
    segments::ExaminedFile file;
};

}  // namespace ttmem::sources::classic_wire
