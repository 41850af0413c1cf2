// SPDX-License-Identifier: Apache-2.0
#pragma once

// What is in a block, in a few numbers: where a kind of memory was at its highest, how many failures it has, whether it has marks. With
// them a reader finds a peak, a failure or a mark without reading the other blocks.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "census/kind.hpp"
#include "recording/columns.hpp"
#include "recording/tables.hpp"

namespace ttmem::recording {

// Used bytes of one kind over all sets of a process.
struct KindUsage {
    census::Kind kind = census::Kind::dram;
    uint64_t start = 0;             // before the first event
    uint64_t highest = 0;           // after any of the events, or at the start
    uint64_t highest_after_ns = 0;  // when it was first so high, after `first_ns` of the block
    uint64_t end = 0;               // after the last event

    bool operator==(const KindUsage&) const = default;
};

struct BlockSummary {
    uint32_t sequence = 0;  // of the block in its file
    // Its tables have names or marks that the blocks before do not have.
    bool has_marks = false;
    // Of a ledger: it is the state from then on, also for a reader that has all events before it.
    bool is_state = false;
    uint64_t failures = 0;
    std::vector<KindUsage> kinds;  // those that are not listed were unused

    KindUsage usage_of(census::Kind kind) const;

    bool operator==(const BlockSummary&) const = default;
};

void write_summaries(const std::vector<BlockSummary>& summaries, ByteWriter& to);
std::vector<BlockSummary> read_summaries(ByteReader& from);

bool has_names_or_marks(const std::vector<TableEntry>& entries);

// Follows the used bytes of a process as a replay of its recording does.
class UsageTracker {
public:
    // Begins a block, with the time of its beginning.
    void begin_block(uint64_t first_ns);
    // An event with its time as the block has it.
    void apply(const RecordedEvent& event, uint64_t time_ns);
    // What happened since begin_block().
    BlockSummary summary(uint32_t sequence) const;

private:
    struct Usage {
        uint64_t start = 0;
        uint64_t highest = 0;
        uint64_t highest_ns = 0;
        uint64_t now = 0;
    };
    void free(uint32_t slot);

    std::array<Usage, census::kKinds> usage_;
    std::vector<uint64_t>
        slots_;  // used bytes and, in the lowest bits, the kind: small, because slots are at random
    uint64_t first_ns_ = 0;
    uint64_t failures_ = 0;
};

}  // namespace ttmem::recording
