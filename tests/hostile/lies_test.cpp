// SPDX-License-Identifier: Apache-2.0

// Segments that claim everything and hold nothing, hold only ones, or have a region table with arbitrary offsets.

#include <gtest/gtest.h>

#include <random>

#include "segment/read_everything_test_support.hpp"
#include "tests/hostile/hostile_file.hpp"

namespace ttmem::hostile {

namespace {

using segment::Region;
using segment::RegionId;

constexpr uint64_t kMiB = uint64_t{1} << 20;

constexpr segment::Sizes kSmall{.names = 64, .writers = 4, .ring_records = 64, .slots = 256};

// Reads everything twice. Returns a description of unbounded work or memory, or of a hole that was filled.
std::string read_it(const HostileFile& file) {
    const auto blocks = file.blocks();
    const auto reader = file.open();
    if (!reader) {
        return "";
    }
    segment::Cursor cursor;
    read_everything(*reader, cursor);  // the first read makes all one-time allocations
    const uint64_t heap = heap_in_use();
    const std::string problem = read_everything(*reader, cursor).problem;
    if (heap_in_use() > heap + kMiB) {
        return "the reader grows: " + std::to_string(heap_in_use() - heap);
    }
    return file.blocks() != blocks ? "the reader filled holes" : problem;
}

}  // namespace

TEST(Lies, AHugeSparseFileThatClaimsToBeFullCostsNothing) {
    // The largest possible segment: 16 M slots, 1,024 writers, 65,536 names.
    segment::Sizes sizes;
    sizes.slots = segment::kMaxSlots;
    sizes.writers = segment::kMaxWriters;
    HostileFile file(sizes, segment::kMaxSegmentBytes);
    file.claim_everything();
    ASSERT_TRUE(file.open()) << file.open().error().text;
    const uint64_t before = anonymous_memory();
    EXPECT_EQ("", read_it(file));
    EXPECT_LE(anonymous_memory(), before + 16 * kMiB);
    EXPECT_LE(file.blocks(), 8) << "one page: the header";
}

TEST(Lies, AFileBeyondTheLimitIsRefused) {
    HostileFile file(kSmall, segment::kMaxSegmentBytes + segment::kPage);
    const auto reader = file.open();
    ASSERT_FALSE(reader);
    EXPECT_EQ(base::Error::Code::refused, reader.error().code);
}

TEST(Lies, AFileOfManySmallIslandsIsReadInOrder) {
    segment::Sizes sizes;
    sizes.slots = segment::kMaxSlots;
    HostileFile file(sizes);
    file.claim_everything();
    const Region ledger = file.region(RegionId::ledger);
    constexpr uint64_t kIslands = 2'000;
    const uint64_t step = ledger.bytes() / kIslands / segment::kPage * segment::kPage;
    for (uint64_t i = 0; i < kIslands; ++i) {
        // Makes the first slot of the page live: its generation becomes 1.
        file.make_data(ledger.offset + i * step, 1);
    }
    EXPECT_EQ("", read_it(file));
    const auto reader = file.open();
    ASSERT_TRUE(reader);
    uint64_t live = 0;
    reader->for_each_live([&](segment::SlotRef slot, const segment::Allocation&) {
        EXPECT_EQ(live * step / ledger.stride, slot.slot);
        ++live;
        return true;
    });
    EXPECT_EQ(kIslands, live);
}

TEST(Lies, OnesEverywhereBehindTheTableAreRead) {
    HostileFile file(kSmall);
    const uint64_t marks = offsetof(segment::Header, devices_used);
    for (uint64_t at = marks; at < file.size(); at += sizeof(segment::Word)) {
        file.words()[at / sizeof(segment::Word)].store(UINT64_MAX);
    }
    ASSERT_TRUE(file.open());
    EXPECT_EQ("", read_it(file));
    const auto reader = file.open();
    EXPECT_EQ(4u, reader->writers().size());
    EXPECT_EQ(256u, reader->slots_used());
}

TEST(Lies, OnesEverywhereAreRefused) {
    HostileFile file(kSmall);
    for (uint64_t at = 0; at < file.size(); at += sizeof(segment::Word)) {
        file.words()[at / sizeof(segment::Word)].store(UINT64_MAX);
    }
    EXPECT_FALSE(file.open());
}

// Region tables with plausible errors. Many of them are accepted, and direct the reader to any place in the file.
TEST(Lies, RegionTablesThatPointEverywhereAreReadOrRefused) {
    std::mt19937_64 random(5);
    HostileFile file(kSmall);
    for (uint64_t at = sizeof(segment::Header); at < file.size(); at += sizeof(segment::Word)) {
        file.words()[at / sizeof(segment::Word)].store(random() % 4 == 0 ? random() | 1 : random() % 200);
    }
    file.claim_everything();
    const std::vector<Region> honest(file.header().region, file.header().region + segment::kRegions);
    unsigned accepted = 0;
    for (int round = 0; round < 500; ++round) {
        std::copy(honest.begin(), honest.end(), file.header().region);
        const uint64_t lies = 1 + random() % 3;
        for (uint64_t i = 0; i < lies; ++i) {
            Region& region = file.header().region[random() % segment::kRegions];
            switch (random() % 4) {
                case 0:
                    region.offset = random() % (file.size() / 64) * 64;
                    break;
                case 1:
                    region.stride += static_cast<uint32_t>(random() % 8 * 64);
                    break;
                case 2:
                    region.count = static_cast<uint32_t>(random() % (2 * region.count + 1));
                    break;
                default:
                    region.offset = random();
                    break;
            }
        }
        accepted += file.open() ? 1u : 0u;
        ASSERT_EQ("", read_it(file)) << "round " << round;
    }
    EXPECT_GT(accepted, 50u) << "too few tables were accepted for this to prove anything";
}

}  // namespace ttmem::hostile
