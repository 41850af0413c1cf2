// SPDX-License-Identifier: Apache-2.0
#include "recording/replay.hpp"

#include <algorithm>
#include <cstring>
#include <set>

#include "census/device_admission.hpp"

namespace ttmem::recording {

namespace {

// When an entry of an events block applies. Entries without a time of their own apply before its first event.
uint64_t time_of(const TableEntry& entry, uint64_t last_ns) {
    switch (entry.table) {
        case TableId::sets: {
            segment::DeviceSet set;
            words_from_bytes(entry.bytes, &set, sizeof set);
            return std::max(set.opened_ticks, set.closed_ticks);
        }
        case TableId::failures: {
            segment::Failure failure;
            words_from_bytes(entry.bytes, static_cast<void*>(&failure), sizeof failure);
            return failure.ticks;
        }
        case TableId::cards:
            return card_from_bytes(entry.bytes).head.failure.ticks;
        case TableId::marks:
            return mark_from_bytes(entry.bytes).head.ticks;
        case TableId::failure_totals:
            return last_ns;
        default:
            return 0;
    }
}

// A device that is known may be opened again with other banks. It is noted together with the set that was opened on it, after it in
// the list, and applies with that.
uint64_t time_of_device(const std::vector<TableEntry>& entries, size_t device) {
    uint64_t time = 0;
    bool has_sets = false;
    for (size_t i = device + 1; i < entries.size(); ++i) {
        if (entries[i].table != TableId::sets && (entries[i].table != TableId::devices || has_sets)) {
            break;
        }
        if (entries[i].table == TableId::sets) {
            has_sets = true;
            segment::DeviceSet set;
            words_from_bytes(entries[i].bytes, &set, sizeof set);
            const bool is_member =
                entries[device].index < 64 && (set.members >> entries[device].index & 1) != 0;
            time = is_member ? std::max(time, set.opened_ticks) : time;
        }
    }
    return time;
}

// A set that was opened and closed within a block is first open, then closed.
std::optional<TableEntry> open_version_of(const TableEntry& entry) {
    segment::DeviceSet set;
    words_from_bytes(entry.bytes, &set, sizeof set);
    if (entry.table != TableId::sets || set.closed_ticks == 0) {
        return std::nullopt;
    }
    set.closed_ticks = 0;
    return TableEntry{TableId::sets, entry.index, bytes_of_words(&set, sizeof set)};
}

}  // namespace

base::Expected<void> ProcessReplay::make_image() {
    const census::Identity& who = process_->facts.identity;
    auto made = SegmentImage::make(who.inner_pid, who.start_time, process_->facts.slots, ring_records_);
    if (!made) {
        return tl::unexpected(std::move(made.error()));
    }
    image_.emplace(std::move(*made));
    columns_.reset();
    has_event_ = false;
    tables_.clear();
    next_table_ = 0;
    missing_ = 0;
    changed_ns_ = 0;
    return {};
}

bool ProcessReplay::load_ledger(const BlockPlace& place) {
    const auto payload = place.read();
    if (!payload) {
        return false;
    }
    ByteReader from(*payload);
    const std::vector<TableEntry> tables = read_tables(from);
    ColumnReader slots(from, place.header().first_ns);
    SegmentImage::LedgerUpdate update(*image_);
    // A set must be there before its allocations count.
    for (const TableEntry& entry : tables) {
        image_->apply(entry);
    }
    RecordedEvent slot;
    while (slots.next(slot)) {
        update.add(slot);
    }
    update.finish();
    for (const TableEntry& entry : tables) {
        if (entry.table == TableId::pools) {
            image_->apply(entry);
        }
    }
    missing_ = 0;
    ++ledgers_;
    note_change(place.header().last_ns);
    return slots.is_good();
}

bool ProcessReplay::load_totals(const BlockPlace& place) {
    const auto payload = place.read();
    if (!payload) {
        return false;
    }
    ByteReader from(*payload);
    const std::vector<TableEntry> tables = read_tables(from);
    image_->clear_totals();
    for (const TableEntry& entry : tables) {
        image_->apply(entry);
    }
    missing_ = 0;
    ++ledgers_;
    note_change(place.header().last_ns);
    return from.is_good();
}

bool ProcessReplay::load_state(const BlockPlace& place) {
    return place.type() == BlockType::totals ? load_totals(place) : load_ledger(place);
}

base::Expected<void> ProcessReplay::start_before(uint64_t time_ns) {
    auto made = make_image();
    if (!made) {
        return made;
    }
    const std::vector<BlockPlace>& blocks = process_->blocks;
    for (size_t i = blocks.size(); i-- > 0;) {
        if (blocks[i].type() != BlockType::events && blocks[i].header().last_ns <= time_ns &&
            load_state(blocks[i])) {
            position_ = i + 1;
            return {};
        }
    }
    position_ = 0;
    missing_ = process_->facts.is_from_start ? 0 : 1;
    return {};
}

bool ProcessReplay::load_events(const BlockPlace& place) {
    note_change(place.header().first_ns);
    auto payload = place.read();
    const uint64_t lost = place.header().lost + (payload ? 0 : std::max<uint64_t>(place.header().events, 1)) +
                          place.missing_before;
    missing_ += lost;
    if (lost != 0) {
        gaps_.push_back({place.header().first_ns, lost});
    }
    if (!payload) {
        return false;
    }
    payload_ = std::move(*payload);
    ByteReader from(payload_);
    tables_.clear();
    next_table_ = 0;
    std::vector<TableEntry> entries = read_tables(from);
    std::set<uint32_t> devices;  // of this block, so far
    for (size_t i = 0; i < entries.size(); ++i) {
        TableEntry& entry = entries[i];
        const bool is_known_device = entry.table == TableId::devices &&
                                     (!devices.insert(entry.index).second || image_->has_device(entry.index));
        const uint64_t time =
            is_known_device ? time_of_device(entries, i) : time_of(entry, place.header().last_ns);
        if (auto open = open_version_of(entry)) {
            tables_.emplace_back(time_of(*open, 0), std::move(*open));
        }
        tables_.emplace_back(time, std::move(entry));
    }
    std::stable_sort(tables_.begin(), tables_.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    columns_.emplace(from, place.header().first_ns);
    has_event_ = columns_->next(event_);
    return true;
}

void ProcessReplay::apply_tables(uint64_t time_ns) {
    for (; next_table_ < tables_.size() && tables_[next_table_].first <= time_ns; ++next_table_) {
        image_->apply(tables_[next_table_].second);
        note_change(tables_[next_table_].first);
    }
}

void ProcessReplay::finish_block() {
    apply_tables(UINT64_MAX);
    if (!columns_->is_good()) {
        ++missing_;
    }
    columns_.reset();
    ++position_;
}

bool ProcessReplay::enter_block(uint64_t time_ns) {
    const std::vector<BlockPlace>& blocks = process_->blocks;
    while (!columns_ && position_ < blocks.size()) {
        const BlockPlace& place = blocks[position_];
        if (place.type() == BlockType::totals) {
            if (place.header().last_ns > time_ns) {
                return false;
            }
            load_totals(place);
            ++position_;
            continue;
        }
        if (place.type() == BlockType::ledger) {
            // Only after a loss does it say more than the events before it.
            if (missing_ != 0 || place.missing_before != 0) {
                if (place.header().last_ns > time_ns) {
                    return false;
                }
                load_ledger(place);
            }
            ++position_;
            continue;
        }
        if (place.header().first_ns > time_ns) {
            return false;
        }
        if (!load_events(place)) {
            ++position_;
        }
    }
    return columns_.has_value();
}

base::Expected<void> ProcessReplay::move_to(uint64_t time_ns) {
    if (!image_ || time_ns < std::min(now_ns_, changed_ns_)) {
        if (auto started = start_before(time_ns); !started) {
            return started;
        }
    }
    now_ns_ = time_ns;
    while (enter_block(time_ns)) {
        while (has_event_ && event_.time_ns <= time_ns) {
            apply_next();
        }
        apply_tables(time_ns);
        if (has_event_) {
            break;
        }
        if (columns_) {
            finish_block();
        }
    }
    return {};
}

std::optional<uint64_t> ProcessReplay::next_ns() {
    if (process_->facts.has_only_totals) {
        return std::nullopt;
    }
    while (enter_block(UINT64_MAX)) {
        if (has_event_) {
            return event_.time_ns;
        }
        finish_block();
    }
    return std::nullopt;
}

// A set, a failure and its card have times of their own, which may differ a little from that of the event about them. They apply with
// the event. Applying them again at their time changes nothing.
void ProcessReplay::apply_announced() {
    constexpr uint64_t kLargestDifferenceNs = 1'000'000;
    if (event_.type != segment::EventType::open_set && event_.type != segment::EventType::failure) {
        return;
    }
    for (size_t i = next_table_;
         i < tables_.size() && tables_[i].first <= event_.time_ns + kLargestDifferenceNs; ++i) {
        const TableEntry& entry = tables_[i].second;
        const bool is_of_failure = entry.table == TableId::failures || entry.table == TableId::cards;
        const bool is_of_set = entry.table == TableId::sets && entry.index == event_.allocation.set;
        const bool is_of_open = is_of_set || entry.table == TableId::devices;
        if (event_.type == segment::EventType::failure ? is_of_failure : is_of_open) {
            image_->apply(entry);
            if (is_of_set) {
                return;  // what follows is its closing
            }
        }
    }
}

void ProcessReplay::apply_next() {
    apply_tables(event_.time_ns);
    apply_announced();
    image_->apply(event_);
    note_change(event_.time_ns);
    now_ns_ = std::max(now_ns_, event_.time_ns);
    has_event_ = columns_->next(event_);
}

bool ProcessReplay::lacks_block() const {
    const std::vector<BlockPlace>& blocks = process_->blocks;
    const uint64_t missing =
        position_ < blocks.size() ? blocks[position_].missing_before : process_->missing_at_end;
    return missing != 0 && !columns_ && (position_ == 0 || now_ns_ > blocks[position_ - 1].header().last_ns);
}

bool ProcessReplay::is_present(uint64_t time_ns) const {
    const bool has_begun = process_->first_ns <= time_ns;
    return has_begun && (!process_->ended_ns || time_ns < *process_->ended_ns);
}

Replay::Replay(std::shared_ptr<const Recording> recording, uint32_t ring_records)
    : recording_(std::move(recording)), device_ids_(std::make_shared<census::DeviceIds>()) {
    processes_.reserve(recording_->processes().size());
    for (const RecordedProcess& process : recording_->processes()) {
        processes_.emplace_back(process, ring_records);
    }
    device_ids_->restore(recording_->host().numbers, true);
}

base::Expected<void> Replay::move_to(uint64_t time_ns) {
    now_ns_ = time_ns;
    for (ProcessReplay& process : processes_) {
        if (process.is_present(time_ns)) {
            if (auto moved = process.move_to(time_ns); !moved) {
                return moved;
            }
        }
    }
    return {};
}

base::Expected<census::Census> Replay::census() const {
    census::Census census;
    census.device_ids = device_ids_;
    if (recording_->host().has_driver) {
        auto driver = std::make_shared<census::Driver>();
        driver->devices = recording_->host().devices;
        driver->lists_holders = true;
        census.driver = std::move(driver);
    }
    for (const ProcessReplay& replay : processes_) {
        if (!replay.is_present(now_ns_) || replay.image() == nullptr) {
            continue;
        }
        auto reader = replay.image()->reader(now_ns_);
        if (!reader) {
            return tl::unexpected(std::move(reader.error()));
        }
        const ProcessFactsRecord& facts = replay.process().facts;
        census::Process process(facts.identity, census::ProcessState::live, std::move(*reader));
        process.source = facts.source;
        process.is_older_than_ledger = facts.is_older_than_ledger;
        process.has_changed_user = facts.has_changed_user;
        process.has_only_totals = facts.has_only_totals;
        if (const uint64_t missing = replay.missing() + (replay.lacks_block() ? 1 : 0); missing != 0) {
            census::Omission omission{facts.identity.pid, census::Reason::events_lost};
            omission.count = missing;
            census.omissions.push_back(std::move(omission));
        }
        if (is_unsure(replay.process())) {
            census.omissions.push_back({facts.identity.pid, census::Reason::settling});
        }
        census.processes.push_back(std::move(process));
    }
    std::sort(census.processes.begin(), census.processes.end(),
              [](const auto& a, const auto& b) { return a.identity.pid < b.identity.pid; });
    census::number_all_devices(census);
    return census;
}

// A recorder that was killed, or still runs, has events of the last second that are not in the file.
bool Replay::is_unsure(const RecordedProcess& process) const {
    const uint64_t written_ns = process.blocks.empty() ? 0 : process.blocks.back().header().last_ns;
    return !recording_->is_finished() && !process.ended_ns && now_ns_ > written_ns &&
           now_ns_ + kLongestWaitNs > recording_->last_ns();
}

ProcessReplay* Replay::find_next() {
    ProcessReplay* next = nullptr;
    uint64_t next_ns = UINT64_MAX;
    for (ProcessReplay& process : processes_) {
        const auto& ended_ns = process.process().ended_ns;
        const bool is_past = ended_ns && *ended_ns <= now_ns_;
        if (process.image() == nullptr && (is_past || !process.move_to(0))) {
            continue;
        }
        const auto time = process.next_ns();
        if (time && *time < next_ns) {
            next = &process;
            next_ns = *time;
        }
    }
    return next;
}

std::optional<uint64_t> Replay::next_ns() {
    ProcessReplay* const next = find_next();
    return next == nullptr ? std::nullopt : next->next_ns();
}

std::optional<Replay::ReplayStep> Replay::step() {
    ProcessReplay* const next = find_next();
    if (next == nullptr) {
        return std::nullopt;
    }
    ReplayStep step{next->next().time_ns, next, next->next()};
    next->apply_next();
    now_ns_ = std::max(now_ns_, step.time_ns);
    for (ProcessReplay& process : processes_) {
        if (process.process().facts.has_only_totals && process.is_present(now_ns_)) {
            // Its totals have no events of their own.
            [[maybe_unused]] const auto moved = process.move_to(now_ns_);
        }
    }
    return step;
}

uint64_t Replay::used(segment::AllocationKind kind) const {
    uint64_t sum = 0;
    for (const ProcessReplay& process : processes_) {
        if (process.image() != nullptr && process.is_present(now_ns_)) {
            sum += process.image()->used(kind);
        }
    }
    return sum;
}

}  // namespace ttmem::recording
