// SPDX-License-Identifier: Apache-2.0
#include "recording/failures.hpp"

#include <algorithm>

#include "recording/columns.hpp"
#include "recording/recorded_names.hpp"
#include "recording/tables.hpp"

namespace ttmem::recording {

namespace {

struct CardOrigin {
    uint64_t number = 0;
    segment::Failure failure;
};

std::vector<CardOrigin> cards_in(const std::vector<TableEntry>& entries) {
    std::vector<CardOrigin> cards;
    for (const TableEntry& entry : entries) {
        if (entry.table == TableId::cards) {
            cards.push_back({entry.index, card_from_bytes(entry.bytes).head.failure});
        }
    }
    return cards;
}

// The clock of a card is read a little before that of the event. A process writes one card per second at most.
uint64_t card_of(const RecordedEvent& event, const std::vector<CardOrigin>& cards) {
    constexpr uint64_t kLargestDifferenceNs = 1'000'000;
    for (const CardOrigin& card : cards) {
        const uint64_t time_ns = card.failure.ticks;
        const uint64_t difference_ns = std::max(time_ns, event.time_ns) - std::min(time_ns, event.time_ns);
        if (difference_ns <= kLargestDifferenceNs && card.failure.requested == event.allocation.requested &&
            card.failure.type == static_cast<uint8_t>(event.failure)) {
            return card.number;
        }
    }
    return 0;
}

void read_failures(const RecordedProcess& process, uint64_t last_ns, std::vector<RecordedFailure>& to) {
    RecordedNames names;
    for (const BlockPlace& place : process.blocks) {
        const bool may_have_failures =
            place.type() == BlockType::events && (place.summary == nullptr || place.summary->failures != 0);
        if (!may_have_failures && !may_have_new_names(process, place)) {
            continue;
        }
        const auto payload = place.read();
        if (!payload) {
            continue;  // damaged: its events are lost
        }
        ByteReader from(*payload);
        const std::vector<TableEntry> entries = read_tables(from);
        names.add(entries);
        if (!may_have_failures) {
            continue;
        }
        const std::vector<CardOrigin> cards = cards_in(entries);
        ColumnReader columns(from, place.header().first_ns);
        for (RecordedEvent event; columns.next(event);) {
            if (event.type == segment::EventType::failure) {
                // The time of an event is rounded down, that of the failure itself is not.
                to.push_back({std::min(event.time_ns + 4 * kTimeUnitNs, last_ns), process.number,
                              event.allocation.kind, event.failure, event.allocation.requested,
                              names.full_name(event.allocation.name), card_of(event, cards)});
            }
        }
    }
}

}  // namespace

std::vector<RecordedFailure> find_failures(const Recording& recording) {
    std::vector<RecordedFailure> failures;
    for (const RecordedProcess& process : recording.processes()) {
        read_failures(process, recording.last_ns(), failures);
    }
    std::stable_sort(failures.begin(), failures.end(),
                     [](const auto& a, const auto& b) { return a.time_ns < b.time_ns; });
    return failures;
}

}  // namespace ttmem::recording
