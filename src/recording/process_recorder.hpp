// SPDX-License-Identifier: Apache-2.0
#pragma once

// Records one process: its ledger, then its events, and its ledger again from time to time and after each loss.

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/error.hpp"
#include "recording/block_summary.hpp"
#include "recording/block_writer.hpp"
#include "recording/columns.hpp"
#include "recording/tables.hpp"
#include "segment/reader.hpp"

namespace ttmem::recording {

class ProcessRecorder {
public:
    // present: from now on; call write_ledger() first. beginning: from an empty ledger on, by the events that the rings have.
    enum class StartState : uint8_t { present, beginning };

    ProcessRecorder(uint32_t number, std::shared_ptr<const segment::Reader> ledger, StartState from);

    // A seek replays at most about this many events of all processes together, or twice the live allocations.
    static constexpr uint64_t kEventsPerLedger = 1'048'576;

    // Reads new events and writes full blocks, and a ledger after so many events. Returns the number of events.
    base::Expected<uint64_t> follow(BlockWriter& to, uint64_t events_per_ledger = kEventsPerLedger);

    // Writes the events that are waiting for a full block.
    base::Expected<void> flush(BlockWriter& to);

    // Writes everything that the process holds.
    base::Expected<void> write_ledger(BlockWriter& to);

    // Writes the summaries of the blocks that have none yet. The last of these, in each file.
    base::Expected<void> write_summaries(BlockWriter& to);

    // The time of the oldest event that is not written yet; absent if there is none.
    std::optional<uint64_t> waiting_since_ns() const;

    uint64_t events() const { return events_; }
    uint64_t lost() const { return cursor_.lost(); }
    uint64_t without_details() const { return without_details_; }

private:
    struct ReadEvent {
        segment::Event event;
        uint32_t line = 0;
    };

    static constexpr uint64_t kEventsPerBlock = 65'536;
    // A reader must read the blocks without a summary, which are at most the last ones.
    static constexpr size_t kBlocksPerSummaries = 16;
    static constexpr uint64_t kEventsPerScan = 262'144;
    // A process that loses events all the time wants a ledger all the time. What a ledger costs beyond this sets the pause until the
    // next one, so that a large one takes no more than a tenth of the recorder.
    static constexpr uint64_t kCheapLedgerNs = 10'000'000;
    static constexpr uint64_t kPausePerCost = 10;

    void read_rings();
    RecordedEvent describe(const ReadEvent& read, const segment::Clock& clock);
    bool is_newer(segment::SlotRef slot);
    void learn_generations();
    void note_tables();
    void add_event(const RecordedEvent& event);
    base::Expected<void> note_summary(BlockSummary summary, uint64_t last_ns, BlockWriter& to);

    const uint32_t number_;
    const std::shared_ptr<const segment::Reader> ledger_;
    segment::Cursor cursor_;
    TableTracker tables_;
    std::vector<uint64_t> generations_;  // by slot: of its newest event
    std::vector<uint32_t> threads_;      // by line
    std::vector<ReadEvent> batch_;       // of one scan
    std::optional<ColumnWriter> columns_;
    std::vector<TableEntry> noted_tables_;  // of the block that is being filled
    UsageTracker usage_;
    std::vector<BlockSummary> summaries_;  // that are not written yet
    uint64_t summarised_ns_ = 0;           // the end of the last block with a summary
    uint64_t block_first_ns_ = 0;
    uint64_t last_ns_ = 0;
    uint64_t events_ = 0;
    uint64_t without_details_ = 0;
    uint64_t loss_began_ns_ = 0;  // the last loss happened after this
    uint64_t lost_noted_ = 0;     // losses before the events that are waiting
    uint64_t lost_written_ = 0;   // losses that are in the file
    uint64_t events_since_ledger_ = 0;
    uint64_t live_ = 0;  // in the last ledger
    uint64_t next_ledger_ns_ = 0;
    bool needs_ledger_ = false;
    bool has_lost_ =
        false;  // the next ledger repairs a loss, or is the first of a process that was there before
    uint64_t looked_ns_;  // when the rings were last read
};

}  // namespace ttmem::recording
