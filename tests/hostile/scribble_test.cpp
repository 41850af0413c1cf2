// SPDX-License-Identifier: Apache-2.0

// Another process continuously writes random words to its segment, while readers make every call of the API.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <utility>
#include <vector>

#include "segment/read_everything_test_support.hpp"
#include "tests/hostile/hostile_file.hpp"
#include "tests/support/wait.hpp"

namespace ttmem::hostile {

namespace {

using segment::RegionId;
using segment::Word;

constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr int kRounds = 400;

// Larger than the populated part, so that the file has holes, which readers must not fill.
constexpr segment::Sizes kSizes{.names = 1'024, .writers = 16, .ring_records = 1'024, .slots = 65'536};

using Extent = std::pair<uint64_t, uint64_t>;  // offset and length, in bytes

// Populates the parts that the scribbler writes to: the header and the start of each region.
std::vector<Extent> make_data(HostileFile& file) {
    std::vector<Extent> extents = {{0, sizeof(segment::Header)}};
    for (uint32_t i = 0; i < segment::kRegions; ++i) {
        const segment::Region& region = file.header().region[i];
        const uint64_t length = std::min<uint64_t>(region.bytes(), 16 * segment::kPage);
        file.make_data(region.offset, length);
        extents.emplace_back(region.offset, length);
    }
    return extents;
}

uint64_t any_value(std::mt19937_64& random) {
    switch (random() % 6) {
        case 0:
            return random();
        case 1:
            return random() % 100;
        case 2:
            return UINT64_MAX - random() % 3;
        case 3:
            return random() & 0xffff'ffff'0000'00ff;
        case 4:
            return (random() % 256) << 32 | random() % 256;  // a name with an existing parent
        default:
            return uint64_t{1} << random() % 64;
    }
}

// Never returns. The header is repaired from time to time, so that new readers can open the segment.
[[noreturn]] void scribble(HostileFile& file, const std::vector<Extent>& extents) {
    std::mt19937_64 random(static_cast<uint64_t>(getpid()));
    constexpr size_t kFixedBytes = offsetof(segment::Header, devices_used);
    std::vector<unsigned char> honest(kFixedBytes);
    std::memcpy(honest.data(), static_cast<const void*>(&file.header()), kFixedBytes);
    for (;;) {
        const Extent& extent = extents[random() % extents.size()];
        Word* const words = file.words() + extent.first / sizeof(Word);
        for (int i = 0; i < 64; ++i) {
            words[random() % (extent.second / sizeof(Word))].store(any_value(random),
                                                                   std::memory_order_relaxed);
        }
        if (random() % 4 == 0) {
            std::memcpy(static_cast<void*>(&file.header()), honest.data(), kFixedBytes);
        }
        if (random() % 16 == 0) {
            file.claim_everything();
        }
    }
}

// The scribbling process. It ends with this object, and with the test.
class Scribbler {
public:
    Scribbler(HostileFile& file, const std::vector<Extent>& extents) : child_(fork()) {
        if (child_ == 0) {
            alarm(300);
            scribble(file, extents);
        }
    }
    ~Scribbler() {
        kill(child_, SIGKILL);
        waitpid(child_, nullptr, 0);
    }
    Scribbler(const Scribbler&) = delete;
    Scribbler& operator=(const Scribbler&) = delete;

private:
    pid_t child_;
};

}  // namespace

TEST(Scribbler, NeitherCrashesNorHangsNorGrowsAReader) {
    HostileFile file(kSizes);
    file.claim_everything();
    const std::vector<Extent> extents = make_data(file);
    const auto blocks = file.blocks();
    const auto reader = file.open();
    ASSERT_TRUE(reader) << reader.error().text;

    const Word& watched = file.words()[file.region(RegionId::ledger).offset / sizeof(Word)];
    const uint64_t untouched = watched.load();
    const Scribbler scribbler(file, extents);
    test::wait_until([&] { return watched.load() != untouched; });
    ASSERT_NE(untouched, watched.load()) << "nobody scribbles";

    segment::Cursor cursor;
    uint64_t heap = 0;
    uint64_t memory = 0;
    unsigned entered = 0;
    for (int round = 0; round < kRounds; ++round) {
        ASSERT_EQ("", read_everything(*reader, cursor).problem) << "round " << round;
        if (const auto another = file.open()) {
            segment::Cursor fresh;
            ASSERT_EQ("", read_everything(*another, fresh).problem) << "round " << round;
            ++entered;
        }
        if (round == kRounds / 8) {
            heap = heap_in_use();
            memory = anonymous_memory();
        }
    }
    EXPECT_LE(heap_in_use(), heap + kMiB);
    EXPECT_LE(anonymous_memory(), memory + 16 * kMiB);
    EXPECT_GT(entered, 0u) << "no new reader ever got in";
    EXPECT_EQ(blocks, file.blocks()) << "holes were filled";
}

}  // namespace ttmem::hostile
