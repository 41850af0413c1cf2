// SPDX-License-Identifier: Apache-2.0
#include "recording/tables.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

namespace ttmem::recording {

using segment::CardContents;
using segment::Failure;
using segment::FailureType;

void write_tables(const std::vector<TableEntry>& entries, ByteWriter& to) {
    to.number(entries.size());
    for (const TableEntry& entry : entries) {
        to.number(static_cast<uint8_t>(entry.table));
        to.number(entry.index);
        to.text(entry.bytes);
    }
}

std::vector<TableEntry> read_tables(ByteReader& from) {
    std::vector<TableEntry> entries;
    const uint64_t count = from.number();
    for (uint64_t i = 0; i < count && from.is_good(); ++i) {
        TableEntry entry;
        entry.table = static_cast<TableId>(from.number());
        entry.index = static_cast<uint32_t>(from.number());
        entry.bytes = from.text();
        if (from.is_good()) {
            entries.push_back(std::move(entry));
        }
    }
    return entries;
}

std::string bytes_of_words(const void* object, size_t length) {
    std::string bytes(static_cast<const char*>(object), length);
    bytes.erase(std::find_if(bytes.rbegin(), bytes.rend(), [](char c) { return c != 0; }).base(),
                bytes.end());
    return bytes;
}

void words_from_bytes(const std::string& bytes, void* object, size_t length) {
    std::memset(object, 0, length);
    std::memcpy(object, bytes.data(), std::min(length, bytes.size()));
}

namespace {

std::string bytes_of_number(uint64_t number) {
    ByteWriter bytes;
    bytes.number(number);
    return bytes.bytes();
}

template <class T>
void append_object(ByteWriter& to, const T& object) {
    to.text(bytes_of_words(&object, sizeof object));
}

template <class T>
T read_object(ByteReader& from) {
    T object;
    words_from_bytes(std::string(from.text()), static_cast<void*>(&object), sizeof object);
    return object;
}

// Ticks of 0 mean that there is no time.
uint64_t time_of(uint64_t ticks, const segment::Clock& clock) {
    return ticks == 0 ? 0 : clock.monotonic_ns(ticks);
}

// A block of a card in the form that it has there.
struct StoredCardBlock {
    uint64_t slot = 0;
    uint64_t payload[segment::kLedgerPayloadWords] = {};
};
struct StoredRecord {
    uint64_t words[segment::kRecordWords] = {};
};

}  // namespace

std::string bytes_of_card(const CardContents& card, const segment::Clock& clock) {
    ByteWriter to;
    segment::CardHead head = card.head;
    head.failure.ticks = time_of(head.failure.ticks, clock);
    append_object(to, head);
    to.number(card.gaps.size());
    for (const segment::CardGap& gap : card.gaps) {
        append_object(to, gap);
    }
    to.number(card.sums.size());
    for (const segment::CardSum& sum : card.sums) {
        append_object(to, sum);
    }
    to.number(card.events.size());
    for (segment::Event event : card.events) {
        event.ticks = time_of(event.ticks, clock);
        StoredRecord stored;
        segment::encode(event, stored.words);
        append_object(to, stored);
    }
    to.number(card.blocks.size());
    for (segment::CardBlock block : card.blocks) {
        block.allocation.ticks = time_of(block.allocation.ticks, clock);
        StoredCardBlock stored{block.slot.pack()};
        segment::encode(block.allocation, block.slot.generation, stored.payload);
        append_object(to, stored);
    }
    return to.bytes();
}

CardContents card_from_bytes(const std::string& bytes) {
    ByteReader from(bytes);
    CardContents card;
    card.head = read_object<segment::CardHead>(from);
    const auto count = [&](uint32_t most) { return std::min<uint64_t>(from.number(), most); };
    for (uint64_t i = count(segment::kCardGaps); i != 0 && from.is_good(); --i) {
        card.gaps.push_back(read_object<segment::CardGap>(from));
    }
    for (uint64_t i = count(segment::kCardSums); i != 0 && from.is_good(); --i) {
        card.sums.push_back(read_object<segment::CardSum>(from));
    }
    for (uint64_t i = count(segment::kCardEvents); i != 0 && from.is_good(); --i) {
        card.events.push_back(segment::decode_event(read_object<StoredRecord>(from).words));
    }
    for (uint64_t i = count(segment::kCardBlocks); i != 0 && from.is_good(); --i) {
        const auto stored = read_object<StoredCardBlock>(from);
        card.blocks.push_back(
            {segment::SlotRef::unpack(stored.slot), segment::decode_allocation(stored.payload)});
    }
    card.head.gaps = static_cast<uint32_t>(card.gaps.size());
    card.head.sums = static_cast<uint32_t>(card.sums.size());
    card.head.events = static_cast<uint32_t>(card.events.size());
    card.head.blocks = static_cast<uint32_t>(card.blocks.size());
    return card;
}

std::string bytes_of_mark(const segment::MarkContents& mark, const segment::Clock& clock) {
    ByteWriter to;
    segment::MarkHead head = mark.head;
    head.ticks = time_of(head.ticks, clock);
    append_object(to, head);
    to.number(mark.totals.size());
    for (const segment::MarkTotal& total : mark.totals) {
        append_object(to, total);
    }
    return to.bytes();
}

segment::MarkContents mark_from_bytes(const std::string& bytes) {
    ByteReader from(bytes);
    segment::MarkContents mark;
    mark.head = read_object<segment::MarkHead>(from);
    for (uint64_t i = std::min<uint64_t>(from.number(), segment::kMarkTotals); i != 0 && from.is_good();
         --i) {
        mark.totals.push_back(read_object<segment::MarkTotal>(from));
    }
    mark.head.totals = static_cast<uint32_t>(mark.totals.size());
    return mark;
}

namespace {

using EntriesByKey = std::map<std::pair<TableId, uint32_t>, std::string>;

void read_devices_and_sets(const segment::Reader& reader, EntriesByKey& found) {
    const segment::Clock clock = reader.clock();
    uint32_t index = 0;
    for (const auto& device : reader.devices()) {
        if (device) {
            found[{TableId::devices, index}] = bytes_of_words(&*device, sizeof *device);
        }
        ++index;
    }
    for (segment::SetTotals set : reader.sets()) {
        set.set.opened_ticks = time_of(set.set.opened_ticks, clock);
        set.set.closed_ticks = time_of(set.set.closed_ticks, clock);
        found[{TableId::sets, set.index}] = bytes_of_words(&set.set, sizeof set.set);
    }
}

void read_inexact_counters(const segment::Reader& reader, EntriesByKey& found) {
    for (uint32_t counter = 0; counter < segment::kInexactCounters; ++counter) {
        if (const uint64_t count = reader.inexact(static_cast<segment::Inexact>(counter))) {
            found[{TableId::inexact, counter}] = bytes_of_number(count);
        }
    }
}

std::vector<TableEntry> entries_of(const EntriesByKey& found) {
    std::vector<TableEntry> entries;
    for (const auto& [key, bytes] : found) {
        entries.push_back({key.first, key.second, bytes});
    }
    return entries;
}

}  // namespace

std::string bytes_of_totals(const segment::PoolTotals& totals) {
    ByteWriter bytes;
    for (const uint64_t number : {totals.used, totals.requested, totals.peak, totals.count, totals.planned,
                                  totals.views, totals.reserved_unknown}) {
        bytes.number(number);
    }
    return bytes.bytes();
}

segment::PoolTotals totals_from_bytes(const std::string& bytes) {
    ByteReader from(bytes);
    segment::PoolTotals totals;
    for (uint64_t* number : {&totals.used, &totals.requested, &totals.peak, &totals.count, &totals.planned,
                             &totals.views, &totals.reserved_unknown}) {
        *number = from.number();
    }
    return totals;
}

std::vector<TableEntry> totals_of(const segment::Reader& reader) {
    EntriesByKey found;
    read_devices_and_sets(reader, found);
    read_inexact_counters(reader, found);
    for (const segment::SetTotals& set : reader.totals().sets) {
        for (uint32_t kind = 0; kind < segment::kKinds; ++kind) {
            if (set.pools[kind] != segment::PoolTotals()) {
                found[{TableId::pool_totals, set.index * segment::kKindsPerSet + kind}] =
                    bytes_of_totals(set.pools[kind]);
            }
        }
    }
    return entries_of(found);
}

std::map<TableTracker::TableKey, std::string> TableTracker::current(const segment::Reader& reader) const {
    EntriesByKey found;
    const segment::Clock clock = reader.clock();
    read_devices_and_sets(reader, found);
    for (uint32_t i = 1; i < reader.core_sets_used(); ++i) {
        if (const auto mask = reader.cores(static_cast<uint16_t>(i))) {
            found[{TableId::core_sets, i}] = bytes_of_words(mask->data(), sizeof *mask);
        }
    }
    std::array<uint32_t, segment::kFailureTypes> places{};
    for (Failure failure : reader.failures()) {
        failure.ticks = time_of(failure.ticks, clock);
        uint32_t& place = places[failure.type];
        if (place < segment::kFailuresPerType) {
            found[{TableId::failures, failure.type * segment::kFailuresPerType + place++}] =
                bytes_of_words(&failure, sizeof failure);
        }
    }
    for (uint32_t type = 0; type < segment::kFailureTypes; ++type) {
        if (const uint64_t total = reader.failure_count(static_cast<FailureType>(type))) {
            found[{TableId::failure_totals, type}] = bytes_of_number(total);
        }
    }
    read_inexact_counters(reader, found);
    for (const segment::SetTotals& set : reader.totals().sets) {
        for (uint32_t kind = 0; kind < segment::kKinds; ++kind) {
            if (const uint64_t peak = set.pools[kind].peak) {
                found[{TableId::pools, set.index * segment::kKindsPerSet + kind}] = bytes_of_number(peak);
            }
        }
    }
    return found;
}

void TableTracker::add_names(const segment::Reader& reader, std::vector<TableEntry>& to) {
    for (; names_ < reader.names_used(); ++names_) {
        const auto name = reader.name_entry(names_);
        if (!name) {
            return;  // not written yet: the next time
        }
        ByteWriter bytes;
        bytes.number(name->parent);
        bytes.append(name->text);
        to.push_back({TableId::names, names_, bytes.bytes()});
    }
}

void TableTracker::add_marks(const segment::Reader& reader, uint64_t after, std::vector<TableEntry>& to) {
    const uint64_t count = reader.mark_count();
    for (const segment::MarkContents& mark : reader.marks()) {
        if (mark.head.number > after && mark.head.number <= count) {
            to.push_back({TableId::marks, static_cast<uint32_t>(mark.head.number),
                          bytes_of_mark(mark, reader.clock())});
        }
    }
    marks_ = count;
}

namespace {

// Cards are large and never change, so each is read once.
void update_cards(const segment::Reader& reader, std::map<uint32_t, std::string>& cards) {
    const std::vector<uint64_t> numbers = reader.card_numbers();
    std::erase_if(cards, [&](const auto& card) {
        return std::find(numbers.begin(), numbers.end(), card.first) == numbers.end();
    });
    for (const uint64_t number : numbers) {
        const auto key = static_cast<uint32_t>(number);
        if (!cards.contains(key)) {
            if (const auto card = reader.card(number)) {
                cards[key] = bytes_of_card(*card, reader.clock());
            }
        }
    }
}

}  // namespace

std::vector<TableEntry> TableTracker::all(const segment::Reader& reader) {
    known_ = current(reader);
    std::vector<TableEntry> entries = entries_of(known_);
    update_cards(reader, cards_);
    for (const auto& [number, bytes] : cards_) {
        entries.push_back({TableId::cards, number, bytes});
    }
    names_ = 1;
    add_names(reader, entries);
    add_marks(reader, 0, entries);
    return entries;
}

std::vector<TableEntry> TableTracker::changes(const segment::Reader& reader) {
    std::map<TableKey, std::string> now = current(reader);
    std::vector<TableEntry> entries;
    for (const auto& [key, bytes] : now) {
        const auto before = known_.find(key);
        // Events say how a peak came to be; the next ledger has its exact value.
        if ((before == known_.end() || before->second != bytes) && key.first != TableId::pools) {
            entries.push_back({key.first, key.second, bytes});
        }
    }
    known_ = std::move(now);
    std::map<uint32_t, std::string> before = std::move(cards_);
    cards_ = before;
    update_cards(reader, cards_);
    for (const auto& [number, bytes] : cards_) {
        if (!before.contains(number)) {
            entries.push_back({TableId::cards, number, bytes});
        }
    }
    add_names(reader, entries);
    if (has_new_marks(reader)) {
        add_marks(reader, marks_, entries);
    }
    return entries;
}

}  // namespace ttmem::recording
