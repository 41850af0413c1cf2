// SPDX-License-Identifier: Apache-2.0
#include "recording/process_recorder.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/time.hpp"
#include "segment/clock.hpp"

namespace ttmem::recording {

using segment::Allocation;
using segment::AllocationFlag;
using segment::Event;
using segment::EventType;
using segment::SlotRef;

namespace {

bool is_about_slot(EventType type) { return type == EventType::allocate || type == EventType::free; }

bool is_known(EventType type) { return type >= EventType::allocate && type <= EventType::failure; }

// What a ring record says about an allocation. Whether it is planned or a view is not known; neither adds bytes.
Allocation allocation_of(const Event& event, uint32_t thread) {
    Allocation a;
    a.address = event.address;
    a.requested = event.requested;
    a.reserved = event.requested;
    a.name = event.name;
    a.thread = thread;
    a.set = event.set;
    a.kind = event.kind;
    a.flags = AllocationFlag::reserved_unknown;
    if (!event.adds_bytes) {
        a.flags = AllocationFlag::planned;
    }
    return a;
}

uint64_t newest_mark_ns(const std::vector<TableEntry>& entries) {
    uint64_t newest_ns = 0;
    for (const TableEntry& entry : entries) {
        if (entry.table == TableId::marks) {
            newest_ns = std::max(newest_ns, mark_from_bytes(entry.bytes).head.ticks);
        }
    }
    return newest_ns == 0 ? segment::monotonic_now() : newest_ns;
}

}  // namespace

ProcessRecorder::ProcessRecorder(uint32_t number, std::shared_ptr<const segment::Reader> ledger,
                                 StartState from)
    : number_(number),
      ledger_(std::move(ledger)),
      cursor_(from == StartState::present ? ledger_->cursor_at_end() : segment::Cursor{}),
      needs_ledger_(from == StartState::present),
      has_lost_(from == StartState::present),
      looked_ns_(from == StartState::present ? segment::monotonic_now() : ledger_->created_ns()) {}

std::optional<uint64_t> ProcessRecorder::waiting_since_ns() const {
    return columns_ ? std::optional(block_first_ns_) : std::nullopt;
}

void ProcessRecorder::read_rings() {
    batch_.clear();
    uint32_t lines = 0;
    uint32_t last_line = UINT32_MAX;
    ledger_->follow(
        cursor_,
        [&](uint32_t line, const Event& event) {
            lines += line != last_line ? 1u : 0u;
            last_line = line;
            if (is_known(event.type)) {
                batch_.push_back({event, line});
            }
        },
        kEventsPerScan);
    if (lines > 1) {
        // There is no order between the rings of different threads but that of the clock.
        std::stable_sort(batch_.begin(), batch_.end(), [](const ReadEvent& a, const ReadEvent& b) {
            return a.event.ticks < b.event.ticks;
        });
    }
    if (!batch_.empty()) {
        threads_.clear();
        for (const segment::WriterState& writer : ledger_->writers()) {
            threads_.push_back(writer.thread);
        }
    }
}

bool ProcessRecorder::is_newer(SlotRef slot) {
    if (slot.slot >= generations_.size()) {
        generations_.resize(std::max<size_t>(slot.slot + 1, ledger_->slots_used()));
    }
    uint64_t& known = generations_[slot.slot];
    const uint64_t ahead = (slot.generation - known) & segment::kGenerationMask;
    if (ahead == 0 || ahead > segment::kGenerationMask / 2) {
        return false;
    }
    known = slot.generation;
    return true;
}

void ProcessRecorder::learn_generations() {
    const uint32_t slots = ledger_->slots_used();
    generations_.resize(std::max<size_t>(generations_.size(), slots));
    for (uint32_t slot = 0; slot < slots; ++slot) {
        const uint64_t now = ledger_->generation_of(slot);
        is_newer({slot, now});
    }
}

RecordedEvent ProcessRecorder::describe(const ReadEvent& read, const segment::Clock& clock) {
    const Event& event = read.event;
    RecordedEvent result;
    result.type = event.type;
    result.time_ns = std::max(last_ns_, clock.monotonic_ns(event.ticks));
    result.slot = event.slot.slot;
    result.failure = event.failure;
    const uint32_t thread = read.line < threads_.size() ? threads_[read.line] : 0;
    result.allocation = allocation_of(event, thread);
    if (is_about_slot(event.type)) {
        result.is_late = !is_newer(event.slot);
    }
    if (event.type == EventType::allocate) {
        Allocation details;
        result.lacks_details = ledger_->read_allocation(event.slot.slot, details) != event.slot.generation;
        if (!result.lacks_details) {
            result.allocation = details;
        }
    }
    return result;
}

base::Expected<uint64_t> ProcessRecorder::follow(BlockWriter& to, uint64_t events_per_ledger) {
    uint64_t sum = 0;
    do {
        const uint64_t lost_before = cursor_.lost();
        const uint64_t looked_before_ns = std::exchange(looked_ns_, segment::monotonic_now());
        read_rings();
        if (cursor_.lost() != lost_before) {
            // The loss is before the events of this scan.
            if (auto flushed = flush(to); !flushed) {
                return tl::unexpected(std::move(flushed.error()));
            }
            lost_noted_ = cursor_.lost();
            // What was lost happened after the rings were last read.
            last_ns_ = std::max(last_ns_, looked_before_ns);
            loss_began_ns_ = last_ns_;
            needs_ledger_ = has_lost_ = true;
        }
        const segment::Clock clock = ledger_->clock();
        for (const ReadEvent& read : batch_) {
            if (is_about_slot(read.event.type) && read.event.slot.slot >= ledger_->slots_used()) {
                continue;  // of a damaged segment
            }
            const RecordedEvent event = describe(read, clock);
            if (!columns_) {
                block_first_ns_ = lost_noted_ != lost_written_ ? loss_began_ns_ : event.time_ns;
                columns_.emplace(block_first_ns_);
                usage_.begin_block(block_first_ns_);
            }
            add_event(event);
            if (columns_->count() >= kEventsPerBlock) {
                if (auto flushed = flush(to); !flushed) {
                    return tl::unexpected(std::move(flushed.error()));
                }
            }
        }
        sum += batch_.size();
    } while (batch_.size() >= kEventsPerScan / 2 && sum < 4 * kEventsPerScan);
    if (!columns_ && tables_.has_new_marks(*ledger_)) {
        if (auto flushed = flush(to); !flushed) {
            return tl::unexpected(std::move(flushed.error()));
        }
    }
    events_since_ledger_ += sum;
    const bool wants_ledger = needs_ledger_ || events_since_ledger_ >= std::max(events_per_ledger, 2 * live_);
    if (wants_ledger && segment::monotonic_now() >= next_ledger_ns_) {
        if (auto written = write_ledger(to); !written) {
            return tl::unexpected(std::move(written.error()));
        }
    }
    return sum;
}

void ProcessRecorder::add_event(const RecordedEvent& event) {
    without_details_ += event.lacks_details ? 1u : 0u;
    columns_->add(event);
    usage_.apply(event, columns_->last_ns());
    last_ns_ = event.time_ns;
    ++events_;
    if (event.type == EventType::open_set) {
        // Its number may be used again before the block is written.
        note_tables();
    }
}

void ProcessRecorder::note_tables() {
    std::vector<TableEntry> changes = tables_.changes(*ledger_);
    noted_tables_.insert(noted_tables_.end(), std::make_move_iterator(changes.begin()),
                         std::make_move_iterator(changes.end()));
}

base::Expected<void> ProcessRecorder::flush(BlockWriter& to) {
    const uint64_t lost = lost_noted_ - lost_written_;
    if (!columns_ && lost == 0 && !tables_.has_new_marks(*ledger_)) {
        return {};
    }
    note_tables();
    const std::vector<TableEntry> entries = std::exchange(noted_tables_, {});
    uint64_t now_ns = last_ns_;
    if (!columns_) {
        now_ns = lost != 0 ? segment::monotonic_now() : newest_mark_ns(entries);
        now_ns = std::max(last_ns_, now_ns);
    }
    uint64_t first_ns = columns_ ? block_first_ns_ : now_ns;
    if (lost != 0) {
        first_ns = loss_began_ns_;
    }
    ByteWriter payload;
    write_tables(entries, payload);
    const ColumnWriter none(first_ns);
    if (!columns_) {
        usage_.begin_block(first_ns);
    }
    BlockSummary summary = usage_.summary(to.next_sequence());
    summary.has_marks = has_names_or_marks(entries);
    (columns_ ? *columns_ : none).write(payload);
    auto written = to.append({.type = BlockType::events,
                              .process = number_,
                              .first_ns = first_ns,
                              .last_ns = now_ns,
                              .events = columns_ ? columns_->count() : 0,
                              .lost = lost,
                              .payload = payload.bytes()});
    columns_.reset();
    lost_written_ += lost;
    return written ? note_summary(std::move(summary), now_ns, to) : written;
}

base::Expected<void> ProcessRecorder::note_summary(BlockSummary summary, uint64_t last_ns, BlockWriter& to) {
    summarised_ns_ = last_ns;
    summaries_.push_back(std::move(summary));
    return summaries_.size() >= kBlocksPerSummaries ? write_summaries(to) : base::Expected<void>();
}

base::Expected<void> ProcessRecorder::write_summaries(BlockWriter& to) {
    if (summaries_.empty()) {
        return {};
    }
    ByteWriter payload;
    recording::write_summaries(std::exchange(summaries_, {}), payload);
    return to.append({.type = BlockType::summaries,
                      .process = number_,
                      .first_ns = summarised_ns_,
                      .last_ns = summarised_ns_,
                      .payload = payload.bytes()});
}

base::Expected<void> ProcessRecorder::write_ledger(BlockWriter& to) {
    if (auto flushed = flush(to); !flushed) {
        return flushed;
    }
    if (has_lost_) {
        learn_generations();  // before the scan: an event that the scan has seen may come again, and changes nothing
    }
    const segment::Clock clock = ledger_->clock();
    const uint64_t began_ns = base::processor_ns();
    const uint64_t first_ns = segment::monotonic_now();
    ColumnWriter slots(first_ns);
    UsageTracker usage;
    ledger_->for_each_live([&](SlotRef ref, const Allocation& a) {
        RecordedEvent event;
        event.time_ns = clock.monotonic_ns(a.ticks);
        event.slot = ref.slot;
        event.allocation = a;
        slots.add(event);
        usage.apply(event, first_ns);
        return true;
    });
    const auto known_before = tables_.names_and_marks();
    ByteWriter payload;
    write_tables(tables_.all(*ledger_), payload);
    slots.write(payload);
    usage.begin_block(first_ns);
    BlockSummary summary = usage.summary(to.next_sequence());
    summary.has_marks = tables_.names_and_marks() != known_before;
    summary.is_state = has_lost_;
    if (has_lost_) {
        usage_ = std::move(usage);
    }
    // Events until this time may be in the blocks after this one. They change nothing in a state that has them.
    const uint64_t now_ns = std::max(last_ns_, segment::monotonic_now());
    auto written = to.append({.type = BlockType::ledger,
                              .process = number_,
                              .first_ns = first_ns,
                              .last_ns = now_ns,
                              .events = slots.count(),
                              .lost = 0,
                              .payload = payload.bytes()});
    const uint64_t took_ns = base::processor_ns() - began_ns;
    next_ledger_ns_ = now_ns + kPausePerCost * (took_ns - std::min(took_ns, kCheapLedgerNs));
    live_ = slots.count();
    events_since_ledger_ = 0;
    needs_ledger_ = has_lost_ = false;
    return written ? note_summary(std::move(summary), now_ns, to) : written;
}

}  // namespace ttmem::recording
