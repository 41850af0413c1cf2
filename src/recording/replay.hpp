// SPDX-License-Identifier: Apache-2.0
#pragma once

// The host at any moment of a recording: for each process a segment in memory, made of its ledger before that moment and the
// events since. It moves forward event by event, and back by starting from a ledger again.

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "census/census.hpp"
#include "recording/columns.hpp"
#include "recording/recording.hpp"
#include "recording/segment_image.hpp"

namespace ttmem::recording {

// One process.
class ProcessReplay {
public:
    ProcessReplay(const RecordedProcess& process, uint32_t ring_records)
        : process_(&process), ring_records_(ring_records) {}

    base::Expected<void> move_to(uint64_t time_ns);

    // The time of the next event, and whether it was there; call apply_next() then.
    std::optional<uint64_t> next_ns();
    const RecordedEvent& next() const { return event_; }
    void apply_next();

    const RecordedProcess& process() const { return *process_; }
    bool is_present(uint64_t time_ns) const;
    // Events that are missing since the last ledger: until the next one the state is not exact.
    uint64_t missing() const { return missing_; }
    // The block that has this moment may be one that is damaged.
    bool lacks_block() const;
    // Losses of the blocks that were entered, in the order of the file.
    struct ReplayGap {
        uint64_t time_ns = 0;
        uint64_t events = 0;
    };
    const std::vector<ReplayGap>& gaps() const { return gaps_; }
    // How many ledgers became the state. Each may have changed it without an event.
    uint64_t ledgers() const { return ledgers_; }
    const SegmentImage* image() const { return image_ ? &*image_ : nullptr; }

private:
    base::Expected<void> start_before(uint64_t time_ns);
    void note_change(uint64_t time_ns) { changed_ns_ = std::max(changed_ns_, time_ns); }
    base::Expected<void> make_image();
    // Makes the state that of a ledger, or of totals.
    bool load_state(const BlockPlace& place);
    bool load_ledger(const BlockPlace& place);
    bool load_totals(const BlockPlace& place);
    bool load_events(const BlockPlace& place);
    void finish_block();
    void apply_tables(uint64_t time_ns);
    void apply_announced();
    // Goes on to the next block that has something until this time. False: there is none.
    bool enter_block(uint64_t time_ns);

    const RecordedProcess* process_;
    uint32_t ring_records_;
    std::optional<SegmentImage> image_;
    uint64_t now_ns_ = 0;
    uint64_t changed_ns_ = 0;  // nothing has happened since: the state of a moment after it is this one
    size_t position_ = 0;      // the block that is being applied, or the next one
    uint64_t missing_ = 0;
    uint64_t ledgers_ = 0;
    std::vector<ReplayGap> gaps_;
    // Of the events block that is being applied.
    std::string payload_;
    std::optional<ColumnReader> columns_;
    bool has_event_ = false;
    RecordedEvent event_;
    std::vector<std::pair<uint64_t, TableEntry>> tables_;  // by the time when they apply
    size_t next_table_ = 0;
};

class Replay {
public:
    static constexpr uint32_t kStandardRing = 16'384;

    explicit Replay(std::shared_ptr<const Recording> recording, uint32_t ring_records = kStandardRing);

    const Recording& recording() const { return *recording_; }
    uint64_t now_ns() const { return now_ns_; }

    // Moves to a moment, forward or back.
    base::Expected<void> move_to(uint64_t time_ns);

    // The host at this moment.
    base::Expected<census::Census> census() const;

    // Applies the next event of any process, in the order of time. Absent at the end.
    struct ReplayStep {
        uint64_t time_ns = 0;
        const ProcessReplay* process = nullptr;
        RecordedEvent event;
    };
    std::optional<ReplayStep> step();
    // The time of that event.
    std::optional<uint64_t> next_ns();

    const std::vector<ProcessReplay>& processes() const { return processes_; }
    const std::shared_ptr<census::DeviceIds>& device_ids() const { return device_ids_; }

    // Used bytes of a kind over all sets of all processes.
    uint64_t used(segment::AllocationKind kind) const;

private:
    // It may hold something else at this moment, because its last events are not in the file.
    bool is_unsure(const RecordedProcess& process) const;
    // The process of the next event; null at the end.
    ProcessReplay* find_next();

    std::shared_ptr<const Recording> recording_;
    std::vector<ProcessReplay> processes_;
    std::shared_ptr<census::DeviceIds> device_ids_;
    uint64_t now_ns_ = 0;
};

}  // namespace ttmem::recording
