// SPDX-License-Identifier: Apache-2.0
#pragma once

// The segment: what one tracked process reports about its device memory, as bytes in a sealed memfd.
//
//     +-----------+ 0
//     | header    |   magic, version, process, clock, region table, high-water marks, inexact counters
//     +-----------+   every region below is found through the region table: {offset, stride, count}
//     | devices   |   slots of 256 B: one per device
//     | sets      |   slots of 128 B: one per allocator; its members as a mask over the device table
//     | core sets |   slots of 64 B: interned core masks of circular buffers
//     | pools     |   set x kind: bytes in use (all threads add here, so the peak is exact) and their peak
//     | tallies   |   writer x set x kind: this writer's share of the other counts; the sum over writers is the count
//     | names     |   a tree of strings, written once
//     | failures  |   slots of 192 B, by type: the first few and the last few
//     | writers   |   one line per thread: ring head, intent, thread id
//     | rings     |   one per writer: records of 32 B, the oldest overwritten; history only
//     | ledger    |   slots of 64 B, one per live allocation: the truth
//     | cards     |   the state of a bank at a failure: the first few and the last few; may be absent
//     | chips     |   the peaks of each device over all sets that it is in; may be absent
//     | marks     |   what each name held at a moment that the process named: the first few and the last few; may be absent
//     +-----------+
//
// All zero is a valid, empty segment; the magic is written last. Everything that changes is a 64-bit word, little
// endian, written by one store. Events are written by BasicEventWriter (writer.hpp), in the order
//
//     intent set -> ledger slot -> ring record -> counters -> intent cleared
//
// A process killed at any point leaves at most one event per thread in doubt, and its intent word names the slot and
// the generation of that event. State is read from pools, tallies and ledger; the rings are history and may lose.
// docs/SEGMENT_FORMAT.md describes the same bytes for readers written elsewhere.

#include <atomic>
#include <compare>
#include <cstddef>
#include <cstdint>

#include "segment/limits.hpp"
#include "segment/name.hpp"
#include "segment/ring.hpp"
#include "segment/slot.hpp"

namespace ttmem::segment {

using Word = std::atomic<uint64_t>;
static_assert(sizeof(Word) == 8 && Word::is_always_lock_free);

constexpr char kMemfdName[] = "ttmem";
constexpr uint64_t kMagic = 0x4745'534d'454d'5454;  // "TTMEMSEG"

// Raised when a reader of the version before would misread the segment. Longer entries, new regions and new values of
// an enumeration do not raise it: readers skip what they do not know.
constexpr uint32_t kSegmentVersion = 2;

// ---- what a word in a slot means -----------------------------------------------------------------------------------

enum class AllocationKind : uint8_t {
    dram = 0,
    l1 = 1,
    system_memory = 2,
    l1_small = 3,
    trace = 4,
    cb = 5,
    kernel_application = 6,
    kernel_fabric = 7,
    kernel_dispatch = 8,
};
constexpr uint32_t kKinds = 9;
static_assert(kKinds <= kKindsPerSet);

constexpr bool is_kernel(AllocationKind kind) {
    return kind >= AllocationKind::kernel_application && kind <= AllocationKind::kernel_dispatch;
}

enum class AllocationFlag : uint16_t {
    none = 0,
    planned = 1,           // hooked by a graph capture: adds 0 bytes
    view = 2,              // memory of another allocation: adds 0 bytes
    reserved_unknown = 4,  // the used bytes are the requested bytes
    keyed = 8,             // reported by device number and address, not by handle
    dataflow = 16,         // of a circular buffer: it is a dataflow buffer
    scratchpad = 32,       // of a circular buffer: it is a scratchpad
    per_core = 64,         // of an L1 buffer: the allocators of single cores chose its addresses
};

// Any number of them.
struct AllocationFlags {
    uint16_t bits = 0;

    constexpr AllocationFlags() = default;
    // NOLINTNEXTLINE(google-explicit-constructor): one flag is a set of flags.
    constexpr AllocationFlags(AllocationFlag flag) : bits(static_cast<uint16_t>(flag)) {}
    constexpr explicit AllocationFlags(uint16_t from) : bits(from) {}

    constexpr bool has(AllocationFlag flag) const { return (bits & static_cast<uint16_t>(flag)) != 0; }
    constexpr AllocationFlags& operator|=(AllocationFlags other) {
        bits = static_cast<uint16_t>(bits | other.bits);
        return *this;
    }
    constexpr auto operator<=>(const AllocationFlags&) const = default;
};
constexpr AllocationFlags operator|(AllocationFlags a, AllocationFlags b) { return a |= b; }
constexpr AllocationFlags operator|(AllocationFlag a, AllocationFlag b) { return AllocationFlags(a) | b; }

constexpr bool adds_bytes(AllocationFlags flags) {
    return (flags.bits & (AllocationFlag::planned | AllocationFlag::view).bits) == 0;
}

enum class EventType : uint8_t { allocate = 1, free = 2, open_set = 3, close_set = 4, failure = 5 };

enum class FailureType : uint8_t { out_of_memory = 0, cb_clash = 1, unknown_free = 2 };
constexpr uint32_t kFailureTypes = 3;

// A direction that the reporter does not know; the others are those of ttmem_direction.
constexpr uint32_t kUnknownDirection = 2;

enum class ClockKind : uint32_t { monotonic_ns = 1, tsc = 2 };

// Why a figure is not exact. The value is the index of its counter in the header.
enum class Inexact : uint8_t {
    ledger_full = 0,
    sets_full = 1,
    devices_full = 2,
    names_full = 3,
    core_sets_full = 4,
    threads_share_ring = 5,
    implausible_size = 6,
    unknown_set = 7,
    unknown_kind = 8,
    reentered = 9,
    unknown_free = 10,
    double_free = 11,
    ambiguous_free = 12,
    name_cut = 13,
    scope_too_deep = 14,
    no_host_memory = 15,
    unknown_device = 16,
    stopped = 17,
};
constexpr uint32_t kInexactCounters = 18;
constexpr uint32_t kInexactCounterPlaces = 32;

constexpr const char* reason(Inexact what) {
    constexpr const char* kReasons[kInexactCounters] = {
        "ledger full: allocations not recorded",
        "device sets full: sets not recorded",
        "device table full: devices not recorded",
        "name table full: names not recorded",
        "core set table full: core masks not recorded",
        "more threads than rings: they share one",
        "implausible size: allocations not recorded",
        "allocation in an unknown or closed device set: not recorded",
        "unknown kind: allocations not recorded",
        "call from a signal handler inside another call: not recorded",
        "free of something unknown",
        "double free",
        "ambiguous free: several allocations matched",
        "name longer than its limit: cut",
        "scopes nested too deep: inner names not recorded",
        "no memory for the ledger: allocations not recorded",
        "report of an unknown device: not recorded on it",
        "its reporter stopped: later events not recorded",
    };
    return kReasons[static_cast<uint32_t>(what)];
}

// ---- handles: which slot, at which generation ----------------------------------------------------------------------

//     63          40 39                            0
//     +-------------+-------------------------------+
//     | slot        | generation                    |
//     +-------------+-------------------------------+
struct SlotRef {
    uint32_t slot = 0;        // 24 bits
    uint64_t generation = 0;  // 40 bits

    static constexpr SlotRef unpack(uint64_t word) {
        return {static_cast<uint32_t>(word >> kGenerationBits), word & kGenerationMask};
    }
    constexpr uint64_t pack() const { return uint64_t{slot} << kGenerationBits | generation; }
};

// ---- the ledger ----------------------------------------------------------------------------------------------------

struct Allocation {
    uint64_t address = 0;
    uint64_t requested = 0;  // logical bytes on one device
    // What the allocator gave away on one device; the requested bytes where that is not known.
    uint64_t reserved = 0;
    uint64_t ticks = 0;
    uint64_t owner = 0;  // buffer id, program or kernel id
    uint32_t name = 0;
    uint16_t core_set = 0;  // 0: none or unknown
    uint32_t thread = 0;
    uint8_t set = 0;
    AllocationKind kind = AllocationKind::dram;
    AllocationFlags flags;

    // The bytes that count as used on each member of the set.
    constexpr uint64_t used() const { return adds_bytes(flags) ? reserved : 0; }
    constexpr uint64_t counted_request() const { return adds_bytes(flags) ? requested : 0; }
};

using LedgerSlot = BasicSlot<Word, 8>;
constexpr size_t kLedgerPayloadWords = LedgerSlot::kPayloadWords;

// Words of a ledger slot. Word 0 is the generation.
constexpr size_t kAddressWord = 1;
constexpr size_t kRequestedWord = 2;
constexpr size_t kReservedWord = 3;
constexpr size_t kTicksWord = 4;
constexpr size_t kOwnerWord = 5;
constexpr size_t kNamingWord = 6;
constexpr size_t kWhatWord = 7;

// The naming word. It carries bits of the generation, so that a tag that comes too late has no effect: see tag_slot().
//
//     63                    32 31        16 15          0
//     +-----------------------+------------+-------------+
//     | name                  | core set   | generation  |
//     +-----------------------+------------+-------------+
constexpr uint64_t naming_word(uint32_t name, uint16_t core_set, uint64_t generation) {
    return uint64_t{name} << 32 | uint64_t{core_set} << 16 | (generation & 0xffff);
}
constexpr uint32_t name_in(uint64_t naming) { return static_cast<uint32_t>(naming >> 32); }
constexpr uint16_t core_set_in(uint64_t naming) { return static_cast<uint16_t>(naming >> 16); }
constexpr bool names_generation(uint64_t naming, uint64_t generation) {
    return (naming & 0xffff) == (generation & 0xffff);
}

// The what word. Its bits 4 to 15 are the index of the pool, and its low byte is that of a ring record but for the type.
//
//     63                    32 31        16 15     8 7    4 3   2  0
//     +-----------------------+------------+--------+------+---+----+
//     | thread                | flags      | set    | kind | n | 0  |    n: adds nothing
//     +-----------------------+------------+--------+------+---+----+
constexpr uint64_t kAddsNothing = 8;

constexpr uint64_t what_word(const Allocation& a) {
    return uint64_t{a.thread} << 32 | uint64_t{a.flags.bits} << 16 | uint64_t{a.set} << 8 |
           (uint64_t(a.kind) & 15) << 4 | (adds_bytes(a.flags) ? 0 : kAddsNothing);
}
constexpr uint32_t thread_in(uint64_t what) { return static_cast<uint32_t>(what >> 32); }
constexpr AllocationFlags flags_in(uint64_t what) {
    return AllocationFlags(static_cast<uint16_t>(what >> 16));
}
constexpr uint8_t set_in(uint64_t what) { return static_cast<uint8_t>(what >> 8); }
constexpr AllocationKind kind_in(uint64_t what) { return static_cast<AllocationKind>(what >> 4 & 15); }
constexpr uint32_t pool_in(uint64_t what) { return static_cast<uint32_t>(what >> 4 & 0xfff); }

constexpr uint32_t pool_index(uint32_t set, AllocationKind kind) {
    return set * kKindsPerSet + static_cast<uint32_t>(kind);
}
static_assert(kKindsPerSet == 16 && pool_in(0x5'37'0) == pool_index(0x53, AllocationKind{7}));

constexpr void encode(const Allocation& a, uint64_t generation, uint64_t (&payload)[kLedgerPayloadWords]) {
    payload[kAddressWord - 1] = a.address;
    payload[kRequestedWord - 1] = a.requested;
    payload[kReservedWord - 1] = a.reserved;
    payload[kTicksWord - 1] = a.ticks;
    payload[kOwnerWord - 1] = a.owner;
    payload[kNamingWord - 1] = naming_word(a.name, a.core_set, generation);
    payload[kWhatWord - 1] = what_word(a);
}

constexpr Allocation decode_allocation(const uint64_t (&payload)[kLedgerPayloadWords]) {
    Allocation a;
    a.address = payload[kAddressWord - 1];
    a.requested = payload[kRequestedWord - 1];
    a.reserved = payload[kReservedWord - 1];
    a.ticks = payload[kTicksWord - 1];
    a.owner = payload[kOwnerWord - 1];
    a.name = name_in(payload[kNamingWord - 1]);
    a.core_set = core_set_in(payload[kNamingWord - 1]);
    a.thread = thread_in(payload[kWhatWord - 1]);
    a.set = set_in(payload[kWhatWord - 1]);
    a.kind = kind_in(payload[kWhatWord - 1]);
    a.flags = flags_in(payload[kWhatWord - 1]);
    return a;
}

// ---- ring records --------------------------------------------------------------------------------------------------

// allocate, free: what happened to which slot. open_set, close_set: only `set`. failure: `slot` is the failure's entry.
struct Event {
    EventType type = EventType::allocate;
    AllocationKind kind = AllocationKind::dram;
    uint64_t ticks = 0;  // the low 4 bits are lost
    SlotRef slot;
    uint64_t address = 0;  // of an allocation or free
    uint64_t requested = 0;
    uint16_t name = 0;
    uint8_t set = 0;
    bool adds_bytes = true;                            // false: planned or a view
    FailureType failure = FailureType::out_of_memory;  // of a failure
};

using RingRecord = BasicRecord<Word>;

//                63                                  8 7    4 3   2  0
//     word 0     +------------------------------------+------+---+----+
//                | ticks / 16                         | kind | n |type|    n: adds nothing
//                +------------------------------------+------+---+----+
//                63          40 39                            0
//     word 1     | slot        | generation                    |    a SlotRef
//     word 2     | address                                     |    of an allocation or free
//                | 0                          | failure type  |    of a failure: bits 0 to 7
//                63                         24 23      8 7      0
//     word 3     | requested                   | name    | set   |
constexpr uint64_t record_time(uint64_t ticks) { return ticks << 4 & ~uint64_t{0xff}; }

constexpr void encode(const Event& e, uint64_t (&record)[kRecordWords]) {
    record[0] =
        record_time(e.ticks) | uint64_t(e.kind) << 4 | uint64_t(e.type) | (e.adds_bytes ? 0 : kAddsNothing);
    record[1] = e.slot.pack();
    record[2] = e.type == EventType::failure ? uint64_t(e.failure) : e.address;
    record[3] = e.requested << 24 | uint64_t{e.name} << 8 | e.set;
}

// The same from the words of the ledger slot that the event is about.
constexpr void encode(EventType type, uint64_t ticks, SlotRef slot,
                      const uint64_t (&payload)[kLedgerPayloadWords], uint64_t (&record)[kRecordWords]) {
    const uint64_t what = payload[kWhatWord - 1];
    record[0] = record_time(ticks) | (what & 0xff) | uint64_t(type);
    record[1] = slot.pack();
    record[2] = payload[kAddressWord - 1];
    record[3] =
        payload[kRequestedWord - 1] << 24 | (payload[kNamingWord - 1] >> 32 & 0xffff) << 8 | set_in(what);
}

constexpr Event decode_event(const uint64_t (&record)[kRecordWords]) {
    Event e;
    e.type = static_cast<EventType>(record[0] & 7);
    e.adds_bytes = (record[0] & kAddsNothing) == 0;
    e.kind = static_cast<AllocationKind>(record[0] >> 4 & 15);
    e.ticks = record[0] >> 8 << 4;
    e.slot = SlotRef::unpack(record[1]);
    if (e.type == EventType::failure) {
        e.failure = static_cast<FailureType>(record[2] & 0xff);
    } else {
        e.address = record[2];
    }
    e.requested = record[3] >> 24;
    e.name = static_cast<uint16_t>(record[3] >> 8);
    e.set = static_cast<uint8_t>(record[3]);
    return e;
}

// ---- counters ------------------------------------------------------------------------------------------------------

struct alignas(64) Pool {
    Word used;  // bytes now
    Word peak;  // the highest value that `used` has had, exactly
    // The highest value that `used` has had since the peaks of the set's devices were brought up to date (chip_peaks.hpp).
    Word since;
    Word
        is_paused;  // another pool on one of the set's devices may change now: bring the peaks up to date at the next event
    Word unused[4];
};

// What a device had at most in all pools of one kind together. The three kinds of kernels count as one.
constexpr uint32_t kChipKinds = 7;
constexpr uint32_t chip_kind(uint32_t kind) { return kind < kChipKinds - 1 ? kind : kChipKinds - 1; }

// An entry of the device table has the same index. The highest sum is the word here, or the sum of `since` of all pools of
// that kind whose set has this device, whichever is higher.
struct ChipPeak {
    Word peak;         // since the process began
    Word since_reset;  // since the process last reset it
};
struct alignas(64) ChipCounters {
    Word is_kept;  // 0: the writer does not keep these peaks
    Word unused;
    ChipPeak kind[kChipKinds];
};

// One writer's share. A share may be below zero (this thread frees what another allocated): sum modulo 2^64 first.
struct Tally {
    Word requested;          // bytes now
    Word count;              // allocations that add bytes
    Word planned_and_views;  // planned in the low half, views in the high half
    Word reserved_unknown;   // allocations whose used bytes are their requested bytes
};

// ---- the other slots -----------------------------------------------------------------------------------------------

using DeviceSlot = BasicSlot<Word, 32>;   // payload: ttmem_device_info
using SetSlot = BasicSlot<Word, 16>;      // payload: DeviceSet
using CoreSetSlot = BasicSlot<Word, 8>;   // payload: four words of mask, bit 16 y + x
using FailureSlot = BasicSlot<Word, 24>;  // payload: Failure
using Name = BasicName<Word>;

struct DeviceSet {
    uint64_t members = 0;  // bit i: entry i of the device table
    uint64_t opened_ticks = 0;
    // 0: open. A closed set keeps its members and peaks until its entry is used again.
    uint64_t closed_ticks = 0;
    uint64_t label = 0;  // a name
    // The shape of a mesh, row by row in the order of `member`. Both 0: not known.
    uint32_t columns = 0;
    uint32_t rows = 0;
    uint64_t unused[2] = {};
    uint8_t member[kMaxDevices] =
        {};  // entries of the device table, in the order in which the process named them
};
static_assert(sizeof(DeviceSet) == SetSlot::kPayloadWords * 8);
constexpr size_t kMembersWord = 1;
constexpr size_t kClosedTicksWord = 3;
constexpr size_t kShapeWord = 5;

//     63                    32 31                     0
//     | rows                  | columns                |
constexpr uint64_t shape_word(uint32_t rows, uint32_t columns) { return uint64_t{rows} << 32 | columns; }

// A field that a type of failure does not have is 0.
struct Failure {
    uint64_t ticks = 0;
    uint8_t type = 0;  // FailureType
    uint8_t kind = 0;
    uint8_t set = 0;
    uint8_t core_x = 0, core_y = 0;  // cb_clash: a core where they overlap; both kUnknownCore: not known
    uint8_t blocker_kind = 0;
    uint8_t has_blocker = 0;
    uint8_t has_device = 0;
    uint64_t requested = 0;
    uint64_t needed_per_bank = 0;  // out_of_memory
    uint64_t free_per_bank = 0;
    uint64_t largest_free_per_bank = 0;  // out_of_memory
    uint64_t program = 0;                // cb_clash
    uint64_t members = 0;
    uint32_t name = 0;
    uint32_t thread = 0;
    uint64_t address = 0;  // unknown_free: what was to be freed
    uint64_t blocker_address = 0;
    uint64_t blocker_requested = 0;
    uint64_t blocker_reserved = 0;
    uint64_t blocker_owner = 0;
    uint32_t blocker_name = 0;
    int32_t device = 0;          // unknown_free: on which device, where has_device
    uint64_t cb_end = 0;         // cb_clash: the address where the circular buffers end ...
    uint64_t lowest_buffer = 0;  // ... and that of the lowest L1 buffer; 0: none is in the way
    uint64_t card = 0;           // the number of its card; 0: it has none
    uint64_t no_card = 0;        // NoCard: why it has none
    uint64_t l1_end = 0;         // cb_clash beyond the end of L1: that address
    uint64_t unused[3] = {};

    // The address that the circular buffers of a clash may not pass.
    uint64_t cb_limit() const { return l1_end != 0 ? l1_end : lowest_buffer; }
};
constexpr uint8_t kUnknownCore = 0xff;
static_assert(sizeof(Failure) == FailureSlot::kPayloadWords * 8);

// Why a failure has no card.
enum class NoCard : uint8_t {
    not_written = 0,  // by a writer or for a type of failure without cards
    too_soon = 1,     // another card was written within the same second
    no_host_memory = 2,
    too_many = 3,  // more live allocations than one card looks at
};
constexpr uint32_t kNoCardReasons = 4;

// Where the n-th failure of a type stands: the first few stay, the last few go round.
constexpr uint32_t failure_index(FailureType type, uint64_t n) {
    const uint64_t place = n < kFirstFailures ? n : kFirstFailures + (n - kFirstFailures) % kLastFailures;
    return static_cast<uint32_t>(type) * kFailuresPerType + static_cast<uint32_t>(place);
}

// ---- failure cards -------------------------------------------------------------------------------------------------

// What the bank of a failed request held at that moment. A card is a slot whose payload has five parts:
//
//     word 0     generation
//     word 1     CardHead
//     word 64    gaps      the largest free blocks, by address
//     word 192   sums      the names that hold most, the most first
//     word 320   events    the last records of the thread that failed, the oldest first
//     word 720   blocks    live allocations by address: word 0 is slot and generation, the rest as in the ledger
//
// The counts in the head say how much of each part is in use. Only those words are written and read.
struct CardHead {
    uint64_t number = 0;  // 1: the first card of the process
    Failure failure;      // a copy: the failure's own entry may be used again before the card
    // The request. 0: unknown.
    uint64_t page_bytes = 0;
    uint32_t request_banks = 0;
    uint32_t request_direction = kUnknownDirection;
    // The bank of the set's first member. No banks: unknown.
    uint64_t bank_base = 0;
    uint64_t bank_size = 0;
    uint32_t banks = 0;
    uint32_t alignment = 0;
    uint32_t direction = 0;
    uint32_t unused = 0;
    uint64_t label = 0;  // of the set: a name
    // All live blocks of the bank, also those that are not in the card.
    uint64_t live = 0;
    uint64_t used_per_bank = 0;
    // Those whose name is not in the sums.
    uint64_t other_count = 0;
    uint64_t other_used = 0;
    uint32_t gaps = 0;
    uint32_t sums = 0;
    uint32_t events = 0;
    uint32_t blocks = 0;

    // False: the card has only the blocks that matter most.
    constexpr bool is_complete() const { return blocks == live; }
};

struct CardGap {
    uint64_t address = 0;
    uint64_t bytes = 0;  // in one bank
};

struct CardSum {
    uint32_t name = 0;
    uint32_t count = 0;
    uint64_t used = 0;  // bytes in all banks of one device; of circular buffers on all cores
};

constexpr size_t kCardGapsWord = 64;
constexpr size_t kCardSumsWord = kCardGapsWord + size_t{kCardGaps} * 2;
constexpr size_t kCardEventsWord = kCardSumsWord + size_t{kCardSums} * 2;
constexpr size_t kCardBlocksWord = kCardEventsWord + size_t{kCardEvents} * kRecordWords;
constexpr size_t kCardBlockWords = 1 + kLedgerPayloadWords;
constexpr size_t kCardWords = kCardBlocksWord + size_t{kCardBlocks} * kCardBlockWords;
constexpr size_t kCardHeadWords = sizeof(CardHead) / 8;
constexpr size_t kCardBytes = (kCardWords * 8 + 4095) / 4096 * 4096;
static_assert(sizeof(CardHead) % 8 == 0 && 1 + kCardHeadWords <= kCardGapsWord);
static_assert(sizeof(CardGap) == 16 && sizeof(CardSum) == 16);
static_assert(kCardSumsWord == 192 && kCardEventsWord == 320 && kCardBlocksWord == 720);

// Where the n-th card of a process stands, from 1: the first few stay, the last few go round.
constexpr uint32_t card_index(uint64_t number) {
    const uint64_t n = number - 1;
    return static_cast<uint32_t>(n < kFirstCards ? n : kFirstCards + (n - kFirstCards) % kLastCards);
}

// ---- marks ---------------------------------------------------------------------------------------------------------

// A mark is a slot: word 0 is its generation, the head follows, and the totals begin at word 8, by name, kind and set.
struct MarkHead {
    uint64_t number = 0;  // 1: the first mark of the process
    uint64_t ticks = 0;
    uint32_t name = 0;
    uint32_t totals = 0;
    uint64_t live = 0;  // allocations that add bytes, also those that are in no total
    // Those that found no room in the totals.
    uint64_t other_count = 0;
    uint64_t other_used = 0;
    uint64_t unused = 0;
};

struct MarkTotal {
    uint32_t name = 0;
    uint8_t kind = 0;  // AllocationKind
    uint8_t set = 0;
    uint16_t unused = 0;
    uint64_t count = 0;
    uint64_t used = 0;  // bytes on each device of the set
};

constexpr size_t kMarkTotalsWord = 8;
constexpr size_t kMarkTotalWords = sizeof(MarkTotal) / 8;
constexpr size_t kMarkWords = kMarkTotalsWord + size_t{kMarkTotals} * kMarkTotalWords;
constexpr size_t kMarkBytes = (kMarkWords * 8 + 4095) / 4096 * 4096;
static_assert(sizeof(MarkHead) == 56 && sizeof(MarkTotal) == 24);

// Where the n-th mark of a process stands, from 1: the first few stay, the last few go round.
constexpr uint32_t mark_index(uint64_t number) {
    const uint64_t n = number - 1;
    return static_cast<uint32_t>(n < kFirstMarks ? n : kFirstMarks + (n - kFirstMarks) % kLastMarks);
}

// What one thread is doing. A thread that ends gives its line back, and the next one goes on at this head.
struct alignas(64) WriterLine {
    Word head;    // records ever written to its ring
    Word intent;  // SlotRef of the event being recorded; 0 = none
    Word thread;  // thread id; 0 = no thread's
    Word unused[5];
};

// ---- the header ----------------------------------------------------------------------------------------------------

enum class RegionId : uint32_t {
    devices = 0,
    sets,
    core_sets,
    pools,
    tallies,
    names,
    failures,
    writers,
    rings,
    ledger,
    cards,
    chips,
    marks,
};
constexpr uint32_t kRegions = 13;
constexpr uint32_t kRegionTableEntries = 16;

struct Region {
    uint64_t offset = 0;
    uint32_t stride = 0;
    uint32_t count = 0;

    constexpr uint64_t bytes() const { return uint64_t{stride} * count; }
};

struct Header {
    Word magic;
    uint32_t version;
    uint32_t header_bytes;
    uint64_t segment_bytes;
    uint32_t pid;  // as its own pid namespace counts
    uint32_t clock_kind;
    uint64_t start_time;  // of the process: clock ticks since boot, as in /proc/PID/stat
    uint64_t boot_id[2];
    // One moment on the clock of the events and on CLOCK_MONOTONIC. A reader takes the same pair now and has the rate.
    uint64_t clock_ticks;
    uint64_t clock_monotonic_ns;
    uint64_t unused[6];

    Region region[kRegionTableEntries];

    // High-water marks: how many entries of a region have ever been in use.
    Word devices_used;
    Word sets_used;
    Word core_sets_used;
    Word names_used;
    Word writers_used;
    Word slots_used;
    Word failures[kFailureTypes];  // total of each type
    Word cards;                    // cards ever written
    Word marks;                    // marks ever written
    Word unused_counts[5];

    Word inexact[kInexactCounterPlaces];
};

// ---- the format, fixed ---------------------------------------------------------------------------------------------

static_assert(sizeof(LedgerSlot) == 64 && sizeof(RingRecord) == 32 && sizeof(Pool) == 64 &&
              sizeof(Tally) == 32);
static_assert(sizeof(DeviceSlot) == 256 && sizeof(SetSlot) == 128 && sizeof(CoreSetSlot) == 64);
static_assert(sizeof(FailureSlot) == 192 && sizeof(Name) == 128 && sizeof(WriterLine) == 64 &&
              sizeof(Region) == 16);
static_assert(offsetof(Header, magic) == 0 && offsetof(Header, version) == 8);
static_assert(offsetof(Header, header_bytes) == 12 && offsetof(Header, segment_bytes) == 16);
static_assert(offsetof(Header, pid) == 24 && offsetof(Header, clock_kind) == 28);
static_assert(offsetof(Header, start_time) == 32 && offsetof(Header, boot_id) == 40);
static_assert(offsetof(Header, clock_ticks) == 56 && offsetof(Header, clock_monotonic_ns) == 64);
static_assert(offsetof(Header, region) == 120 && offsetof(Header, devices_used) == 376);
static_assert(offsetof(Header, sets_used) == 384 && offsetof(Header, core_sets_used) == 392);
static_assert(offsetof(Header, names_used) == 400 && offsetof(Header, writers_used) == 408);
static_assert(offsetof(Header, slots_used) == 416 && offsetof(Header, failures) == 424);
static_assert(offsetof(Header, cards) == 448 && offsetof(Header, marks) == 456);
static_assert(offsetof(Header, inexact) == 504 && sizeof(Header) == 760);
static_assert(offsetof(Pool, used) == 0 && offsetof(Pool, peak) == 8);
static_assert(offsetof(Pool, since) == 16 && offsetof(Pool, is_paused) == 24);
static_assert(sizeof(ChipCounters) == 128 && offsetof(ChipCounters, kind) == 16);
static_assert(offsetof(Tally, requested) == 0 && offsetof(Tally, count) == 8);
static_assert(offsetof(Tally, planned_and_views) == 16 && offsetof(Tally, reserved_unknown) == 24);
static_assert(offsetof(WriterLine, head) == 0 && offsetof(WriterLine, intent) == 8 &&
              offsetof(WriterLine, thread) == 16);
static_assert(offsetof(DeviceSet, columns) + 8 == kShapeWord * 8 && offsetof(DeviceSet, member) == 56);
static_assert(offsetof(Failure, requested) == 16 && offsetof(Failure, name) == 64);
static_assert(offsetof(Failure, address) == 72 && offsetof(Failure, blocker_name) == 112);
static_assert(offsetof(Failure, cb_end) == 120 && offsetof(Failure, lowest_buffer) == 128);
static_assert(offsetof(Failure, card) == 136 && offsetof(Failure, no_card) == 144 &&
              offsetof(Failure, l1_end) == 152);
static_assert(offsetof(CardHead, failure) == 8 && offsetof(CardHead, page_bytes) == 192);
static_assert(offsetof(CardHead, bank_base) == 208 && offsetof(CardHead, banks) == 224);
static_assert(offsetof(CardHead, label) == 240 && offsetof(CardHead, live) == 248);
static_assert(offsetof(CardHead, other_count) == 264 && offsetof(CardHead, gaps) == 280);
static_assert(sizeof(CardHead) == 296);

// How many entries the adjustable regions have.
struct Sizes {
    uint32_t names = kDefaultNames;
    uint32_t writers = kDefaultWriters;
    uint32_t ring_records = kDefaultRingRecords;
    uint32_t slots = kDefaultSlots;
    uint32_t cards = kCards;
    uint32_t marks = kMarks;
};

constexpr uint64_t kPage = 4096;
constexpr uint64_t round_to_page(uint64_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

// Lays out the regions one after another, each on a page of its own; returns the size of the segment.
// The regions of rings and of tallies have one entry per writer; an entry of tallies has one tally per pool.
constexpr uint64_t lay_out(const Sizes& sizes, Region (&region)[kRegionTableEntries]) {
    const struct {
        RegionId id;
        uint64_t stride;
        uint32_t count;
    } plan[kRegions] = {
        {RegionId::devices, sizeof(DeviceSlot), kMaxDevices},
        {RegionId::sets, sizeof(SetSlot), kMaxSets},
        {RegionId::core_sets, sizeof(CoreSetSlot), kMaxCoreSets},
        {RegionId::pools, sizeof(Pool), kMaxPools},
        {RegionId::tallies, sizeof(Tally) * uint64_t{kMaxPools}, sizes.writers},
        {RegionId::names, sizeof(Name), sizes.names},
        {RegionId::failures, sizeof(FailureSlot), kFailureTypes * kFailuresPerType},
        {RegionId::writers, sizeof(WriterLine), sizes.writers},
        {RegionId::rings, sizeof(RingRecord) * uint64_t{sizes.ring_records}, sizes.writers},
        {RegionId::ledger, sizeof(LedgerSlot), sizes.slots},
        {RegionId::cards, kCardBytes, sizes.cards},
        {RegionId::chips, sizeof(ChipCounters), kMaxDevices},
        {RegionId::marks, kMarkBytes, sizes.marks},
    };
    uint64_t offset = round_to_page(sizeof(Header));
    for (const auto& p : plan) {
        region[static_cast<uint32_t>(p.id)] = Region{offset, static_cast<uint32_t>(p.stride), p.count};
        offset += round_to_page(p.stride * p.count);
    }
    return offset;
}

}  // namespace ttmem::segment
