// SPDX-License-Identifier: Apache-2.0

// Feeds hostile segments to the reader. The first byte of an input selects how the rest becomes one:
//
//   bits 0-1   0  raw: the bytes are the segment's first ones; behind them it is zero
//              1  damaged: a valid small segment, with words changed by the input
//              2  the same as a sealed file with holes, as a real reader maps it
//              3  the same, of a later writer with larger entries
//   bits 2-7   how many of the changes are made before the reader opens it; the others come one by one while it reads
//
// A change is 11 bytes: where (3 bytes: which word, counted from the header, or from a place that matters), and the new
// value (8 bytes). Whatever happens, the reader must stay in its bounds; libFuzzer watches time and memory.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <vector>

#include "segment/read_everything_test_support.hpp"
#include "segment/reader.hpp"
#include "segment/small_segment_test_support.hpp"

namespace ttmem::segment {

namespace {

constexpr size_t kRawBytes = size_t{64} << 10;
constexpr size_t kChangeBytes = 11;
constexpr size_t kMostChanges = 256;
constexpr uint64_t kMostWork = uint64_t{1} << 23;  // far above what a segment of these sizes can ask for

struct Change {
    uint32_t where = 0;
    uint64_t value = 0;
};

std::vector<Change> changes_in(const uint8_t* data, size_t size) {
    std::vector<Change> changes;
    for (size_t at = 0; at + kChangeBytes <= size && changes.size() < kMostChanges; at += kChangeBytes) {
        Change change;
        std::memcpy(&change.where, data + at, 3);
        std::memcpy(&change.value, data + at + 3, sizeof change.value);
        changes.push_back(change);
    }
    return changes;
}

// The word that a change means: the low 4 bits choose the header or a region, the others the word there.
Word* word_of(SmallSegment& segment, const std::vector<Region>& table, uint32_t where) {
    const uint32_t part = where & 15;
    uint64_t offset = 0;
    uint64_t words = sizeof(Header) / sizeof(Word);
    if (part < kRegions) {
        offset = table[part].offset;
        words = table[part].bytes() / sizeof(Word);
    }
    return reinterpret_cast<Word*>(segment.bytes() + offset + (where >> 4) % words * sizeof(Word));
}

void require(const Everything& everything) {
    if (!everything.problem.empty() || everything.looked_at > kMostWork) {
        fprintf(stderr, "reader out of bounds: %s, %llu looked at\n", everything.problem.c_str(),
                static_cast<unsigned long long>(everything.looked_at));
        abort();
    }
}

void read_twice(const Reader& reader, const std::function<void()>& between) {
    Cursor cursor;
    require(read_everything(reader, cursor, between));
    require(read_everything(reader, cursor, between));
}

void read_raw(const uint8_t* data, size_t size) {
    static SmallSegment* const frame = [] {
        Shape shape;
        shape.count_of(RegionId::names) = 256;  // so that there is room
        return new SmallSegment(shape);
    }();
    const size_t length = std::min(frame->size(), kRawBytes);
    std::memset(frame->bytes(), 0, length);
    std::memcpy(frame->bytes(), data, std::min(size, length));
    if (const auto reader = Reader::over(frame->bytes(), length)) {
        read_twice(*reader, [] {});
    }
}

Shape shape_of(unsigned mode) {
    Shape shape;
    if (mode == 3) {
        shape.extra.fill(64);
        shape.extra_of(RegionId::rings) = 0;
        shape.extra_of(RegionId::ledger) = 8;
        shape.extra_header = 64;
        shape.unknown_region = 64;
    }
    return shape;
}

void read_spoiled(unsigned mode, size_t before, const std::vector<Change>& changes) {
    SmallSegment segment(shape_of(mode));
    segment.fill();
    const std::vector<Region> table(segment.header().region, segment.header().region + kRegions);
    size_t next = 0;
    const auto change_one = [&] {
        if (next < changes.size()) {
            word_of(segment, table, changes[next].where)
                ->store(changes[next].value, std::memory_order_relaxed);
            ++next;
        }
    };
    while (next < std::min(before, changes.size())) {
        change_one();
    }
    if (mode == 2) {
        if (const auto reader = Reader::open(segment.memfd())) {
            read_twice(*reader, [] {});
        }
    } else if (const auto reader = segment.read()) {
        read_twice(*reader, change_one);
    }
}

}  // namespace

}  // namespace ttmem::segment

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace ttmem::segment;
    if (size == 0) {
        return 0;
    }
    const unsigned mode = data[0] & 3;
    if (mode == 0) {
        read_raw(data + 1, size - 1);
    } else {
        const size_t before = mode == 2 ? kMostChanges : data[0] >> 2;
        read_spoiled(mode, before, changes_in(data + 1, size - 1));
    }
    return 0;
}
