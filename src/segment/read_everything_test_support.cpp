// SPDX-License-Identifier: Apache-2.0
#include "segment/read_everything_test_support.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace ttmem::segment {

namespace {

constexpr uint64_t kMostSets = 256;
constexpr uint64_t kMostWriters = 1'024;
constexpr uint64_t kMostSlots = uint64_t{1} << 24;
constexpr uint64_t kMostDevices = 64;
constexpr uint64_t kMostFailures = 192;
constexpr uint64_t kLongestPath = uint64_t{66} * 121;
constexpr uint64_t kMostSegmentBytes = uint64_t{4} << 30;

class EverythingReader {
public:
    EverythingReader(const Reader& reader, Cursor& cursor, const std::function<void()>& between)
        : reader_(reader), cursor_(cursor), between_(between) {}

    Everything read() {
        read_tables();
        read_totals();
        read_ledger();
        read_rings();
        read_cards();
        read_marks();
        read_clock();
        return std::move(result_);
    }

private:
    void bound(uint64_t value, uint64_t most, const char* what) {
        result_.looked_at += value;
        if (value > most && result_.problem.empty()) {
            result_.problem =
                std::string(what) + ": " + std::to_string(value) + ", at most " + std::to_string(most);
        }
        between_();
    }

    void read_name(uint64_t id) {
        const std::string text = reader_.name(id);
        bound(text.size(), kLongestPath, "bytes of a name");
        const bool fit = std::all_of(text.begin(), text.end(), [](char c) {
            const auto byte = static_cast<unsigned char>(c);
            return byte >= 0x20 && byte != 0x7f;
        });
        if (!fit && result_.problem.empty()) {
            result_.problem = "a name that moves the cursor";
        }
    }

    void read_tables() {
        bound(reader_.devices().size(), kMostDevices, "devices");
        bound(reader_.sets().size(), kMostSets, "sets");
        bound(reader_.writers().size(), kMostWriters, "writers");
        const std::vector<Failure> failures = reader_.failures();
        bound(failures.size(), kMostFailures, "failures");
        for (const Failure& failure : failures) {
            read_name(failure.name);
        }
        for (const uint64_t id : {uint64_t{0}, uint64_t{1}, uint64_t{2}, uint64_t{3}, uint64_t{7},
                                  uint64_t{65'535}, uint64_t{65'536}, uint64_t{UINT32_MAX}, UINT64_MAX}) {
            read_name(id);
        }
        for (const uint32_t id : {0u, 1u, 2u, 4'095u, 65'535u}) {
            reader_.cores(static_cast<uint16_t>(id));
            between_();
        }
        for (uint32_t i = 0; i < kInexactCounters; ++i) {
            reader_.inexact(static_cast<Inexact>(i));
        }
        for (uint32_t i = 0; i < kFailureTypes; ++i) {
            reader_.failure_count(static_cast<FailureType>(i));
        }
        reader_.events_written();
    }

    void read_totals() {
        bound(reader_.totals().sets.size(), kMostSets, "sets of the totals");
        bound(reader_.totals_from_ledger().sets.size(), kMostSets, "sets of the ledger");
    }

    void read_ledger() {
        bound(reader_.slots_used(), kMostSlots, "slots");
        uint64_t live = 0;
        uint64_t last = 0;
        reader_.for_each_live([&](SlotRef slot, const Allocation& a) {
            if (live != 0 && slot.slot <= last && result_.problem.empty()) {
                result_.problem = "slots that are not in order";
            }
            last = slot.slot;
            if (++live <= 64) {
                read_name(a.name);
                reader_.cores(a.core_set);
            }
            return true;
        });
        bound(live, kMostSlots, "live allocations");
        uint64_t until_told = 0;
        reader_.for_each_live([&](SlotRef, const Allocation&) { return ++until_told < 2; });
        bound(until_told, 2, "allocations after the second, where it said stop");
    }

    void read_rings() {
        const uint64_t most = std::min<uint64_t>(kMostSegmentBytes / sizeof(RingRecord),
                                                 uint64_t{reader_.ring_capacity()} * kMostWriters);
        uint64_t events = 0;
        reader_.follow(cursor_, [&](uint32_t line, const Event&) {
            ++events;
            if (line >= kMostWriters && result_.problem.empty()) {
                result_.problem = "an event of a ring that can't be";
            }
            if (events <= 64) {
                between_();
            }
        });
        bound(events, most, "events");
        bound(cursor_.rings.size(), kMostWriters, "rings of the cursor");
        Cursor at_end = reader_.cursor_at_end();
        bound(at_end.rings.size(), kMostWriters, "rings of a cursor at the end");
        events = 0;
        reader_.follow(at_end, [&](uint32_t, const Event&) { ++events; });
        bound(events, most, "events after the end");
    }

    void read_cards() {
        const std::vector<uint64_t> numbers = reader_.card_numbers();
        bound(numbers.size(), kCards, "cards");
        for (const uint64_t number : numbers) {
            read_card(number);
        }
        for (const uint64_t number : {uint64_t{0}, uint64_t{1}, uint64_t{2}, uint64_t{3}, UINT64_MAX}) {
            read_card(number);
        }
    }

    void read_card(uint64_t number) {
        const std::optional<CardContents> card = reader_.card(number);
        between_();
        if (!card) {
            return;
        }
        bound(card->gaps.size(), kCardGaps, "gaps of a card");
        bound(card->sums.size(), kCardSums, "sums of a card");
        bound(card->events.size(), kCardEvents, "events of a card");
        bound(card->blocks.size(), kCardBlocks, "blocks of a card");
        if (card->head.number != number && result_.problem.empty()) {
            result_.problem = "another card";
        }
        for (const CardSum& sum : card->sums) {
            read_name(sum.name);
        }
    }

    void read_marks() {
        const std::vector<MarkContents> marks = reader_.marks();
        bound(marks.size(), kMarks, "marks");
        for (const MarkContents& mark : marks) {
            bound(mark.totals.size(), kMarkTotals, "totals of a mark");
            read_name(mark.head.name);
        }
        between_();
    }

    void read_clock() {
        const Clock clock = reader_.clock();
        const uint64_t now = Clock::now(ClockKind::monotonic_ns).monotonic_ns;
        for (const uint64_t ticks : {uint64_t{0}, uint64_t{1}, uint64_t{1} << 62, UINT64_MAX}) {
            if (clock.monotonic_ns(ticks) > now && result_.problem.empty()) {
                result_.problem = "a time after now";
            }
        }
    }

    const Reader& reader_;
    Cursor& cursor_;
    const std::function<void()>& between_;
    Everything result_;
};

}  // namespace

Everything read_everything(const Reader& reader, Cursor& cursor, const std::function<void()>& between) {
    return EverythingReader(reader, cursor, between).read();
}

}  // namespace ttmem::segment
