// SPDX-License-Identifier: Apache-2.0
#pragma once

// The ledger of a client of the classic wire, kept for it by who reads its messages: a segment like that of any tracked
// process, in a memfd of this process, so that whoever reads segments shows this client too and needs not know.
//
// The rules of a key are those of the AllocationClient (include/ttmem): a buffer that is reported again adds a reference and no
// bytes, a free takes one away, and the bytes go with the last; each circular buffer is one of its own and is freed by its
// size; a kernel counts once. What is unknown is counted, and nothing goes below zero. One thread writes.

#include <boost/unordered/unordered_flat_map.hpp>
#include <memory>
#include <optional>
#include <vector>

#include "base/error.hpp"
#include "census/process.hpp"
#include "segment/sole_writer.hpp"
#include "sources/classic_wire/message.hpp"
#include "sources/segments/attach.hpp"

namespace ttmem::sources::classic_wire {

class LedgerWriter {
public:
    // The ring is larger than a client's own: a socket brings events in bursts.
    static constexpr segment::Sizes kSizes{segment::kMinNames, 1, 32'768, segment::kDefaultSlots};

    struct Made;
    static base::Expected<Made> make(uint32_t pid, uint64_t start_time, const segment::Sizes& sizes = kSizes);

    ~LedgerWriter();
    LedgerWriter(const LedgerWriter&) = delete;
    LedgerWriter& operator=(const LedgerWriter&) = delete;

    enum class Outcome : uint8_t { done, unknown_free, not_recorded };

    // Of a type that changes what is held; others do nothing. `now_ns` is on the monotonic clock.
    Outcome apply(const Request& request, uint64_t now_ns);

private:
    enum class Class : uint8_t { buffer, cb, kernel };

    struct Key {
        uint64_t id = 0;
        uint64_t size = 0;  // of a circular buffer: a free names it by that too
        uint8_t set = 0;
        Class what = Class::buffer;

        bool operator==(const Key&) const = default;
    };
    struct Hash {
        size_t operator()(const Key& key) const;
    };
    // A live slot, and the next older one of the same key.
    struct Link {
        uint64_t references = 1;
        uint32_t next = 0;
        segment::Kind kind = segment::Kind::dram;
    };

    LedgerWriter(unsigned char* memory, const segment::Sizes& sizes, uint32_t pid, uint64_t start_time);

    Outcome begin(const Request& request, Class what, uint32_t kind);
    Outcome end(const Request& request, Class what);
    Outcome unknown_free(const Request& request);
    Outcome refuse(segment::Inexact why);
    static Key key_of(const Request& request, uint8_t set, Class what);
    std::optional<uint8_t> set_of(int32_t device);
    std::optional<uint32_t> take_slot();

    unsigned char* const memory_;
    const segment::Sizes sizes_;
    segment::SoleWriter writer_;
    const uint32_t label_;
    std::vector<int32_t> devices_;  // by set, which is also the entry of the device table
    boost::unordered_flat_map<Key, uint32_t, Hash> newest_;  // of each key, the slot that came last
    std::vector<Link> links_;                                // by slot
    std::vector<uint32_t> free_slots_;
    uint32_t slots_used_ = 0;
    uint64_t now_ = 0;  // of the message in hand
};

// The writer, and the way to read what it writes.
struct LedgerWriter::Made {
    std::unique_ptr<LedgerWriter> writer;
    segment::Reader reader;
    segments::FileId file;
};

}  // namespace ttmem::sources::classic_wire
