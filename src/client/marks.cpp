// SPDX-License-Identifier: Apache-2.0

// Marks: what each name held at one moment. The totals are gathered in private memory and then published in one step.

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "client/clock.hpp"
#include "client/names.hpp"
#include "client/segment_file.hpp"
#include "client/state.hpp"

namespace ttmem::client {

using segment::MarkHead;
using segment::MarkTotal;
using segment::RegionId;
using segment::Word;

namespace {

constexpr uint32_t kPlaces = 4 * segment::kMarkTotals;  // of a hash table; a power of two

struct MarkScratch {
    MarkHead head;
    MarkTotal totals[segment::kMarkTotals];
    uint16_t places[kPlaces];  // total + 1; 0: empty
};
static_assert(segment::kMarkTotals < UINT16_MAX && (kPlaces & (kPlaces - 1)) == 0);

void add_to_mark(MarkScratch& scratch, const segment::Allocation& a) {
    const uint64_t key = uint64_t{a.name} << 16 | uint64_t(a.kind) << 8 | a.set;
    auto place = static_cast<uint32_t>(key * 0x9e3779b97f4a7c15 >> 40) % kPlaces;
    MarkHead& head = scratch.head;
    ++head.live;
    for (; scratch.places[place] != 0; place = (place + 1) % kPlaces) {
        MarkTotal& total = scratch.totals[scratch.places[place] - 1];
        if (total.name == a.name && total.kind == uint8_t(a.kind) && total.set == a.set) {
            ++total.count;
            total.used += a.used();
            return;
        }
    }
    if (head.totals == segment::kMarkTotals) {
        ++head.other_count;
        head.other_used += a.used();
        return;
    }
    MarkTotal& total = scratch.totals[head.totals];
    total.name = a.name;
    total.kind = static_cast<uint8_t>(a.kind);
    total.set = a.set;
    total.count = 1;
    total.used = a.used();
    scratch.places[place] = static_cast<uint16_t>(++head.totals);
}

void collect_totals(const State& state, MarkScratch& scratch) {
    const auto slots = static_cast<uint32_t>(state.header->slots_used.load(std::memory_order_acquire));
    for (uint32_t slot = 0; slot < slots; ++slot) {
        uint64_t payload[segment::LedgerSlot::kPayloadWords];
        if (state.ledger[slot].read(payload) != 0) {
            const segment::Allocation a = segment::decode_allocation(payload);
            if (segment::adds_bytes(a.flags)) {
                add_to_mark(scratch, a);
            }
        }
    }
}

// SYNC POINT: with Reader::mark(). Release, so that a reader that sees a word of this mark sees the place retired.
void write_words(Word* to, const void* from, size_t words) {
    const auto* bytes = static_cast<const unsigned char*>(from);
    for (size_t i = 0; i < words; ++i) {
        uint64_t value;
        memcpy(&value, bytes + i * sizeof value, sizeof value);
        to[i].store(value, std::memory_order_release);
    }
}

// Under mark_lock.
bool publish_mark(State& state, MarkScratch& scratch) {
    const segment::Region& marks = state.header->region[static_cast<uint32_t>(RegionId::marks)];
    scratch.head.number = state.header->marks.load(std::memory_order_relaxed) + 1;
    const uint64_t offset = marks.offset + uint64_t{segment::mark_index(scratch.head.number)} * marks.stride;
    const uint64_t words = segment::kMarkTotalsWord + scratch.head.totals * segment::kMarkTotalWords;
    if (!populate(state, offset, words * sizeof(Word))) {
        return false;
    }
    auto* mark = reinterpret_cast<Word*>(state.base + offset);
    uint64_t generation = mark[0].load(std::memory_order_relaxed);
    if (segment::is_live(generation)) {
        generation = segment::next_generation(generation);
        mark[0].store(generation, std::memory_order_release);
    }
    write_words(mark + 1, &scratch.head, sizeof scratch.head / sizeof(Word));
    write_words(mark + segment::kMarkTotalsWord, scratch.totals,
                scratch.head.totals * segment::kMarkTotalWords);
    mark[0].store(segment::live_generation_after(generation), std::memory_order_release);
    state.header->marks.store(scratch.head.number, std::memory_order_release);
    return true;
}

bool write_mark(const ApiCall& call, const char* name) {
    State& state = call.state();
    void* memory =
        mmap(nullptr, sizeof(MarkScratch), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        return false;
    }
    auto& scratch = *static_cast<MarkScratch*>(memory);
    scratch.head.name = intern_name(state, name, 0);
    scratch.head.ticks = note_ticks(state);
    bool done;
    {
        const ReleasedLine line(call.recorder());
        collect_totals(state, scratch);
        Lock lock(state.mark_lock);
        done = publish_mark(state, scratch);
    }
    munmap(memory, sizeof(MarkScratch));
    return done;
}

}  // namespace

}  // namespace ttmem::client

using namespace ttmem::client;

extern "C" int ttmem_mark(const char* name) {
    if (is_off() || g_state == nullptr || g_state->id.load(std::memory_order_acquire) == 0) {
        return 0;
    }
    const ApiCall call;
    if (!call) {
        return 0;
    }
    const int saved = errno;
    const bool done = write_mark(call, name);
    errno = saved;
    return done ? 1 : 0;
}
