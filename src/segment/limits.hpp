// SPDX-License-Identifier: Apache-2.0
#pragma once

// Every limit of a segment, in one place. Reaching one is never silent: it raises a counter of `Inexact` (layout.hpp)
// that every program shows. docs/LIMITS.md describes the limits for users.

#include <cstdint>

namespace ttmem::segment {

// Counts of entries. The environment of the tracked process may set those marked (env), within the bounds given here.
// A reader takes counts from the region table.
constexpr uint32_t kMaxDevices = 64;   // a set names its members by a 64-bit mask
constexpr uint32_t kMaxSets = 128;     // open at the same time
constexpr uint32_t kKindsPerSet = 16;  // pools of one set; the kinds in use are fewer
constexpr uint32_t kMaxPools = kMaxSets * kKindsPerSet;
constexpr uint32_t kMaxCoreSets = 4096;           // different core masks of circular buffers
constexpr uint32_t kDefaultNames = 65'536;        // (env TTMEM_NAMES)
constexpr uint32_t kDefaultWriters = 256;         // (env TTMEM_WRITERS) threads with a ring of their own
constexpr uint32_t kDefaultRingRecords = 16'384;  // (env TTMEM_RING_RECORDS) a power of two
constexpr uint32_t kDefaultSlots = 1'048'576;     // (env TTMEM_SLOTS) live allocations

constexpr uint32_t kMinNames = 2, kMaxNames = 65'536;  // a ring record holds 16 bits of a name
constexpr uint32_t kMinWriters = 1, kMaxWriters = 1'024;
constexpr uint32_t kMinRingRecords = 16, kMaxRingRecords = 1u << 22;
constexpr uint32_t kMinSlots = 32, kMaxSlots = 1u << 24;  // a handle holds 24 bits of a slot

constexpr uint32_t kMaxNameBytes = 120;  // longer names are cut
constexpr uint32_t kMaxScopeDepth = 64;  // deeper scopes have the name of the deepest one that fits

// Failures kept of each type: the first few, which show the cause, and the last few, which show the present.
constexpr uint32_t kFirstFailures = 16;
constexpr uint32_t kLastFailures = 48;
constexpr uint32_t kFailuresPerType = kFirstFailures + kLastFailures;

// Failure cards: what a bank held when a request failed. The first few and the last few of a process are kept.
constexpr uint32_t kFirstCards = 4;
constexpr uint32_t kLastCards = 12;
constexpr uint32_t kCards = kFirstCards + kLastCards;
constexpr uint32_t kCardBlocks = 4'096;  // up to this number of live allocations a card has all of them
constexpr uint32_t kCardEvents = 100;
// Beyond that: the blocks around the largest free ones, the largest and the youngest.
constexpr uint32_t kCardGaps = 64;
constexpr uint32_t kCardLargest = 256;
constexpr uint32_t kCardYoungest = 256;
constexpr uint32_t kCardSums = 64;         // names
constexpr uint32_t kCardScan = 1'048'576;  // live allocations of one bank that a card looks at
constexpr uint64_t kCardIntervalNs = 1'000'000'000;

// Marks: what each name held at a moment that the process named. The first few and the last few of a process are kept.
constexpr uint32_t kFirstMarks = 8;
constexpr uint32_t kLastMarks = 56;
constexpr uint32_t kMarks = kFirstMarks + kLastMarks;
constexpr uint32_t kMarkTotals = 4'096;  // names, kinds and sets in one mark; the rest is summed

// One allocation. The largest chip has 32 GiB; a larger size is a wrong report, counted and not recorded.
constexpr unsigned kSizeBits = 40;
constexpr uint64_t kMaxAllocationBytes = (uint64_t{1} << kSizeBits) - 1;

// The largest segment that a reader accepts. The default segment is below 256 MiB.
constexpr uint64_t kMaxSegmentBytes = uint64_t{4} << 30;

}  // namespace ttmem::segment
