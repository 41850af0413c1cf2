// SPDX-License-Identifier: Apache-2.0
#include "client/cards.hpp"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "base/time.hpp"
#include "client/card_selection.hpp"
#include "client/clock.hpp"
#include "client/segment_file.hpp"
#include "client/sets.hpp"

namespace ttmem::client {

using segment::AllocationKind;
using segment::CardGap;
using segment::CardHead;
using segment::CardSum;
using segment::Failure;
using segment::FailureType;
using segment::LedgerSlot;
using segment::NoCard;
using segment::RegionId;
using segment::SetSlot;
using segment::SlotRef;
using segment::Word;

namespace {

// Private memory for the length of one card. Pages that are not touched cost nothing.
struct CardScratch {
    CardHead head;
    Largest<segment::kCardLargest> largest;    // slots, by bytes
    Largest<segment::kCardYoungest> youngest;  // slots, by time
    Largest<segment::kCardGaps> widest;        // entries behind a gap, by its bytes
    Largest<segment::kCardSums> names;         // by bytes
    CardGap gaps[segment::kCardGaps];
    CardSum sums[segment::kMaxNames];  // by name
    // Behind it: a bit for each slot that is in the card, the entries, and room to sort them.
};

class CardWriter {
public:
    CardWriter(State& state, const Recorder& recorder, const Failure& failure, const RequestRules& rules)
        : state_(state), recorder_(recorder), failure_(failure), rules_(rules) {}
    ~CardWriter() {
        if (scratch_ != nullptr) {
            munmap(scratch_, bytes_);
        }
    }
    CardWriter(const CardWriter&) = delete;
    CardWriter& operator=(const CardWriter&) = delete;

    // What the bank holds. Needs no lock.
    NoCard collect() {
        if (!take_memory()) {
            return NoCard::no_host_memory;
        }
        describe_bank();
        populate_entries();
        if (!find_blocks()) {
            return NoCard::too_many;
        }
        entries_ = sort_by_address(entries_, spare_, count_);
        find_gaps();
        choose_blocks();
        return NoCard::not_written;
    }

    // Writes the card, as number `number`. False: no memory.
    bool publish(uint64_t number, const Failure& failure) {
        const segment::Region& cards = state_.header->region[static_cast<uint32_t>(RegionId::cards)];
        const uint64_t offset = cards.offset + uint64_t{segment::card_index(number)} * cards.stride;
        const uint64_t words = segment::kCardBlocksWord + uint64_t{chosen_} * segment::kCardBlockWords;
        if (!populate(state_, offset, words * sizeof(Word))) {
            return false;
        }
        card_ = reinterpret_cast<Word*>(state_.base + offset);
        const uint64_t generation = retire();
        CardHead& head = scratch_->head;
        head.number = number;
        head.failure = failure;
        write_gaps();
        write_sums();
        write_events();
        write_blocks();
        write(1, &head, segment::kCardHeadWords);
        // SYNC POINT: with Reader::card().
        card_[0].store(segment::live_generation_after(generation), std::memory_order_release);
        return true;
    }

private:
    bool take_memory() {
        slots_ = static_cast<uint32_t>(state_.header->slots_used.load(std::memory_order_acquire));
        capacity_ = slots_ < segment::kCardScan ? slots_ : segment::kCardScan;
        const uint64_t marks = uint64_t{slots_ / 64 + 1} * sizeof(uint64_t);
        bytes_ = sizeof(CardScratch) + marks + uint64_t{capacity_} * 2 * sizeof(CardEntry);
        void* memory =
            mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED) {
            return false;
        }
        madvise(memory, bytes_, MADV_DONTFORK);
        scratch_ = static_cast<CardScratch*>(memory);
        marks_ = reinterpret_cast<uint64_t*>(scratch_ + 1);
        entries_ = reinterpret_cast<CardEntry*>(marks_ + marks / sizeof(uint64_t));
        spare_ = entries_ + capacity_;
        return true;
    }

    // All pages for the entries at once, which costs less than one by one. Without that they come one by one.
    void populate_entries() {
        const uint32_t pool = segment::pool_index(failure_.set, kind_);
        const uint64_t lines = state_.header->writers_used.load(std::memory_order_acquire);
        uint64_t live = 0;
        for (uint64_t line = 0; line < lines; ++line) {
            live += state_.recorders[line].events.tallies[pool].count.load(std::memory_order_relaxed);
        }
        live = live < capacity_ ? live : capacity_;
        for (CardEntry* const from : {entries_, spare_}) {
            const uint64_t begin = reinterpret_cast<uint64_t>(from) & ~(segment::kPage - 1);
            const uint64_t end = segment::round_to_page(reinterpret_cast<uint64_t>(from + live));
            madvise(reinterpret_cast<void*>(begin), end - begin, MADV_POPULATE_WRITE);
        }
    }

    bool is_clash() const { return failure_.type == static_cast<uint8_t>(FailureType::cb_clash); }

    void describe_bank() {
        CardHead& head = scratch_->head;
        head.page_bytes = rules_.page_bytes;
        head.request_banks = rules_.banks;
        head.request_direction = rules_.direction;
        kind_ = is_clash() ? AllocationKind::l1 : static_cast<AllocationKind>(failure_.kind);
        uint64_t payload[SetSlot::kPayloadWords];
        segment::DeviceSet set;
        if (region<SetSlot>(state_, RegionId::sets)[failure_.set].read(payload) == 0) {
            return;
        }
        memcpy(static_cast<void*>(&set), payload, sizeof set);
        head.label = set.label;
        ttmem_device_info info;
        if (static_cast<uint32_t>(kind_) >= sizeof info.memory / sizeof info.memory[0] ||
            !read_device(state_, set.member[0], info)) {
            return;
        }
        const ttmem_memory_info& memory = info.memory[static_cast<uint32_t>(kind_)];
        head.bank_base = memory.base;
        head.bank_size = memory.size_per_bank;
        head.banks = memory.banks;
        head.alignment = memory.alignment;
        head.direction = memory.direction;
    }

    // A buffer of the bank, or of a clash a circular buffer of the program. A mesh has those on sets of its chips, the same on each:
    // one of these sets serves.
    bool is_in_bank(uint64_t what, uint64_t owner) const {
        if ((what & segment::kAddsNothing) != 0) {
            return false;
        }
        const uint8_t set = segment::set_in(what);
        if (segment::kind_in(what) == kind_) {
            return set == failure_.set;
        }
        return is_clash() && segment::kind_in(what) == AllocationKind::cb &&
               (failure_.program == TTMEM_UNKNOWN || owner == failure_.program) &&
               (buffer_set_ == kNoBufferSet
                    ? set < segment::kMaxSets && (members_of(state_, set) & failure_.members) != 0
                    : set == buffer_set_);
    }

    uint64_t in_one_bank(uint64_t reserved) const {
        const uint32_t banks = scratch_->head.banks;
        return banks == 0 ? reserved : (reserved + banks - 1) / banks;
    }

    // From the last slot down: slots are handed out in rising order, so the youngest allocations come first as a rule, and most
    // others are then too old to be offered. SYNC POINT: with BasicSlot::publish() and retire(), as Reader::for_each_live().
    bool find_blocks() {
        CardHead& head = scratch_->head;
        for (uint32_t slot = slots_; slot-- != 0;) {
            const LedgerSlot& from = state_.ledger[slot];
            const uint64_t generation = from.word[0].load(std::memory_order_acquire);
            if (!segment::is_live(generation) ||
                !is_in_bank(from.word[segment::kWhatWord].load(std::memory_order_acquire),
                            from.word[segment::kOwnerWord].load(std::memory_order_acquire))) {
                continue;
            }
            uint64_t payload[segment::kLedgerPayloadWords];
            if (from.read(payload) != generation) {
                continue;  // freed meanwhile
            }
            if (count_ == capacity_) {
                return false;
            }
            const segment::Allocation a = segment::decode_allocation(payload);
            const bool is_buffer = a.kind == kind_;
            const uint64_t bytes = is_buffer ? in_one_bank(a.reserved) : a.requested;
            entries_[count_++] = {a.address, bytes << CardEntry::kSlotBits | slot};
            if (!is_buffer) {
                buffer_set_ = a.set;
                mark(slot);
                continue;
            }
            scratch_->largest.offer(bytes, slot);
            scratch_->youngest.offer(a.ticks, slot);
            head.used_per_bank += bytes;
            CardSum& sum = scratch_->sums[a.name % segment::kMaxNames];
            ++sum.count;
            sum.used += a.reserved;
        }
        head.live = count_;
        return true;
    }

    // Calls take(start, bytes, index of the block behind it) for each free block of the bank.
    template <class Take>
    void for_each_gap(const Take& take) const {
        const CardHead& head = scratch_->head;
        uint64_t free_from = head.bank_base;
        for (uint32_t i = 0; i < count_; ++i) {
            const CardEntry& entry = entries_[i];
            if (entry.address > free_from) {
                take(free_from, entry.address - free_from, i);
            }
            const uint64_t end = entry.address + entry.bytes();
            free_from = end > free_from ? end : free_from;
        }
        const uint64_t bank_end = head.bank_base + head.bank_size;
        if (bank_end > free_from) {
            take(free_from, bank_end - free_from, count_);
        }
    }

    void find_gaps() {
        CardHead& head = scratch_->head;
        if (head.banks == 0) {
            return;  // without the geometry nothing is known to be free
        }
        auto& widest = scratch_->widest;
        for_each_gap([&](uint64_t, uint64_t bytes, uint32_t next) { widest.offer(bytes, next); });
        // By address, which is the order of the blocks behind them.
        widest.finish([&](uint32_t a, uint32_t b) { return widest.indexes[a] < widest.indexes[b]; });
        uint32_t listed = 0;
        for_each_gap([&](uint64_t start, uint64_t bytes, uint32_t next) {
            if (listed < widest.size && widest.indexes[listed] == next) {
                scratch_->gaps[listed++] = {start, bytes};
            }
        });
        head.gaps = listed;
    }

    bool is_marked(uint32_t slot) const { return (marks_[slot / 64] >> slot % 64 & 1) != 0; }

    void mark(uint32_t slot) {
        if (!is_marked(slot) && chosen_ < segment::kCardBlocks) {
            marks_[slot / 64] |= uint64_t{1} << slot % 64;
            ++chosen_;
        }
    }

    // The circular buffers of a clash are chosen already.
    void choose_blocks() {
        if (count_ <= segment::kCardBlocks) {
            for (uint32_t i = 0; i < count_; ++i) {
                mark(entries_[i].slot());
            }
            return;
        }
        scratch_->largest.finish();
        scratch_->youngest.finish();
        const auto& widest = scratch_->widest;
        for (uint32_t i = 0; i < widest.size; ++i) {
            const uint32_t next = widest.indexes[i];
            if (next < count_) {
                mark(entries_[next].slot());
            }
            if (next != 0) {
                mark(entries_[next - 1].slot());
            }
        }
        for (uint32_t i = 0; i < scratch_->largest.size; ++i) {
            mark(scratch_->largest.indexes[i]);
        }
        for (uint32_t i = 0; i < scratch_->youngest.size; ++i) {
            mark(scratch_->youngest.indexes[i]);
        }
    }

    // Makes the place free: readers drop what they copied of it. Returns the generation that it then has.
    uint64_t retire() {
        const uint64_t generation = card_[0].load(std::memory_order_relaxed);
        if (!segment::is_live(generation)) {
            return generation;
        }
        card_[0].store(segment::next_generation(generation), std::memory_order_release);
        return segment::next_generation(generation);
    }

    // SYNC POINT: with Reader::card(). Release, so that a reader that sees a word of this card sees the place retired.
    void write(size_t word, const void* from, size_t words) {
        const auto* bytes = static_cast<const unsigned char*>(from);
        for (size_t i = 0; i < words; ++i) {
            uint64_t value;
            memcpy(&value, bytes + i * sizeof value, sizeof value);
            card_[word + i].store(value, std::memory_order_release);
        }
    }

    void write_gaps() { write(segment::kCardGapsWord, scratch_->gaps, size_t{scratch_->head.gaps} * 2); }

    void write_sums() {
        CardHead& head = scratch_->head;
        CardSum* sums = scratch_->sums;
        const uint64_t names = state_.header->names_used.load(std::memory_order_acquire);
        auto& largest = scratch_->names;
        uint64_t count = 0;
        uint64_t used = 0;
        for (uint32_t name = 0; name < names && name < segment::kMaxNames; ++name) {
            if (sums[name].count != 0) {
                largest.offer(sums[name].used, name);
                count += sums[name].count;
                used += sums[name].used;
            }
        }
        largest.finish([&](uint32_t a, uint32_t b) { return largest.values[a] > largest.values[b]; });
        head.sums = largest.size;
        for (uint32_t i = 0; i < largest.size; ++i) {
            CardSum sum = sums[largest.indexes[i]];
            sum.name = largest.indexes[i];
            count -= sum.count;
            used -= sum.used;
            write(segment::kCardSumsWord + size_t{i} * 2, &sum, 2);
        }
        head.other_count = count;
        head.other_used = used;
    }

    // The caller owns the writer line, so its ring stands still.
    void write_events() {
        const auto& events = recorder_.events;
        const uint64_t end = events.line->head.load(std::memory_order_relaxed);
        const uint64_t kept = end < events.ring_mask ? end : events.ring_mask;
        const uint64_t count = kept < segment::kCardEvents ? kept : segment::kCardEvents;
        for (uint64_t i = 0; i < count; ++i) {
            const segment::RingRecord& record = events.ring[(end - count + i) & events.ring_mask];
            uint64_t words[segment::kRecordWords];
            for (size_t word = 0; word < segment::kRecordWords; ++word) {
                words[word] = record.word[word].load(std::memory_order_relaxed);
            }
            write(segment::kCardEventsWord + i * segment::kRecordWords, words, segment::kRecordWords);
        }
        scratch_->head.events = static_cast<uint32_t>(count);
    }

    // What was freed since the scan is left out, and `blocks` is then below `live`.
    void write_blocks() {
        uint32_t written = 0;
        for (uint32_t i = 0; i < count_; ++i) {
            const uint32_t slot = entries_[i].slot();
            if (!is_marked(slot)) {
                continue;
            }
            uint64_t block[segment::kCardBlockWords];
            uint64_t payload[segment::kLedgerPayloadWords];
            const uint64_t generation = state_.ledger[slot].read(payload);
            if (generation == 0 || payload[segment::kAddressWord - 1] != entries_[i].address ||
                !is_in_bank(payload[segment::kWhatWord - 1], payload[segment::kOwnerWord - 1])) {
                continue;
            }
            block[0] = SlotRef{slot, generation}.pack();
            memcpy(block + 1, payload, sizeof payload);
            write(segment::kCardBlocksWord + size_t{written} * segment::kCardBlockWords, block,
                  segment::kCardBlockWords);
            ++written;
        }
        scratch_->head.blocks = written;
    }

    static constexpr uint32_t kNoBufferSet = UINT32_MAX;

    State& state_;
    const Recorder& recorder_;
    const Failure& failure_;
    const RequestRules& rules_;
    CardScratch* scratch_ = nullptr;
    uint64_t bytes_ = 0;
    AllocationKind kind_ = AllocationKind::dram;
    uint32_t buffer_set_ = kNoBufferSet;  // of the circular buffers of a clash
    uint64_t* marks_ = nullptr;
    CardEntry* entries_ = nullptr;
    CardEntry* spare_ = nullptr;
    uint32_t slots_ = 0;  // that have ever been in use
    uint32_t capacity_ = 0;
    uint32_t count_ = 0;
    uint32_t chosen_ = 0;
    Word* card_ = nullptr;
};

uint64_t thread_ns() {
    return tls.clock == ThreadClock::counter || tls.clock == ThreadClock::kernel ? base::monotonic_ns()
                                                                                 : system_call_ns();
}

// Under card_lock.
NoCard try_to_write(const ApiCall& call, Failure& failure, const RequestRules& rules) {
    State& state = call.state();
    CardWriter writer(state, call.recorder(), failure, rules);
    NoCard problem;
    {
        const ReleasedLine line(call.recorder());
        problem = writer.collect();
    }
    if (problem != NoCard::not_written) {
        return problem;
    }
    const uint64_t number = state.header->cards.load(std::memory_order_relaxed) + 1;
    failure.card = number;
    if (!writer.publish(number, failure)) {
        failure.card = 0;
        return NoCard::no_host_memory;
    }
    state.header->cards.store(number, std::memory_order_release);
    return NoCard::not_written;
}

}  // namespace

void write_card(const ApiCall& call, Failure& failure, const RequestRules& rules) {
    State& state = call.state();
    const int saved = errno;
    NoCard problem = NoCard::too_soon;
    // Another thread that writes a card now began within the same second, as a rule.
    if (pthread_mutex_trylock(&state.card_lock) == 0) {
        const uint64_t now = thread_ns();
        if (state.last_card_ns == 0 || now - state.last_card_ns >= segment::kCardIntervalNs) {
            state.last_card_ns = now;
            problem = try_to_write(call, failure, rules);
        }
        pthread_mutex_unlock(&state.card_lock);
    }
    failure.no_card = static_cast<uint64_t>(problem);
    errno = saved;
}

}  // namespace ttmem::client
