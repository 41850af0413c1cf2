// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <utility>

#include "segment/writer.hpp"
#include "tests/model/atomic.hpp"
#include "tests/model/expect.hpp"
#include "tests/model/explore.hpp"
#include "tests/model/world.hpp"

// A tag (tag_slot() of segment/writer.hpp) changes one word of a live slot, which the slot protocol alone does not
// allow: another thread may free the allocation and reuse the slot at the same time. A compare-and-swap on a word that
// carries bits of the generation makes it safe, and both parts are needed.

namespace ttmem::model {
namespace {

using segment::BasicSlot;
using segment::TagOrders;
using std::memory_order_acquire;
using std::memory_order_relaxed;
using Word = Atomic<std::uint64_t>;
using Copy = std::pair<std::uint64_t, std::uint64_t>;  // generation, name

constexpr std::uint32_t kName = 5;  // the same for both allocations, which is the hard case
constexpr std::uint32_t kTag = 9;

enum class GenerationBits : std::uint8_t { yes, no };

struct IgnoresGeneration : TagOrders {
    static constexpr bool kChecksGeneration = false;
};
struct DoesNotSwap : TagOrders {
    static constexpr bool kSwaps = false;
};
struct OnlyAcquires : TagOrders {
    static constexpr auto swap = memory_order_acquire;
};

struct TaggedSlot {
    BasicSlot<Word, 2> slot;
    Word name_text;  // stands for the entry of the name table: 1 when written

    TaggedSlot() {
        name(slot.word[0], "generation");
        name(slot.word[1], "naming");
        name(name_text, "name text");
    }

    void allocate(std::uint64_t generation, GenerationBits bits) {
        const std::uint64_t payload[1] = {
            segment::naming_word(kName, 0, bits == GenerationBits::yes ? generation : 0)};
        slot.publish(payload, generation);
    }

    template <class Orders>
    void tag(std::uint64_t generation) {
        segment::tag_slot<Orders>(slot.word[0], slot.word[1], generation, [&](std::uint32_t) {
            name_text.store(1, memory_order_relaxed);
            return kTag;
        });
    }

    Copy read() const {
        std::uint64_t payload[1];
        const std::uint64_t generation = slot.read(payload);
        const std::uint64_t seen = generation == 0 ? 0 : segment::name_in(payload[0]);
        check(generation != 3 || seen == kName, "a late tag does not reach the next allocation");
        check(seen != kTag || name_text.load(memory_order_relaxed) == 1, "who sees the tag sees its text");
        return {generation, seen};
    }
};

template <class Orders = TagOrders>
Result late_tag(std::set<Copy>* copies = nullptr, GenerationBits bits = GenerationBits::yes) {
    return explore({}, [=](World& world) {
        TaggedSlot tagged;
        Copy seen;
        tagged.allocate(1, bits);
        world.thread("owner", [&, bits] {
            check(tagged.slot.retire(1), "the only owner frees");
            tagged.allocate(3, bits);
        });
        world.thread("tagger", [&] { tagged.tag<Orders>(1); });
        world.reader("reader", [&] { seen = tagged.read(); });
        world.run();
        check(tagged.read() == Copy{3, kName}, "a late tag does not reach the next allocation");
        if (copies != nullptr) {
            copies->insert(seen);
        }
    });
}

constexpr const char* kLate = "a late tag does not reach the next allocation";

TEST(TagModel, ALateTagDoesNotReachTheNextAllocation) {
    std::set<Copy> copies;
    EXPECT_PROVEN(late_tag(&copies));
    EXPECT_THAT(copies, testing::ElementsAre(Copy{0, 0}, Copy{1, kName}, Copy{1, kTag}, Copy{3, kName}));
}

TEST(TagModel, ATagWithoutGenerationBitsIsCaught) {
    // There are no generation bits to compare with, so the check passes.
    EXPECT_CAUGHT((late_tag<IgnoresGeneration>(nullptr, GenerationBits::no)), kLate);
}

TEST(TagModel, ATagThatDoesNotCheckTheGenerationBitsIsCaught) {
    EXPECT_CAUGHT(late_tag<IgnoresGeneration>(), kLate);
}

TEST(TagModel, ATagThatDoesNotSwapIsCaught) { EXPECT_CAUGHT(late_tag<DoesNotSwap>(), kLate); }

TEST(TagModel, ATagThatDoesNotReleaseIsCaught) {
    EXPECT_CAUGHT(late_tag<OnlyAcquires>(), "who sees the tag sees its text");
}

}  // namespace
}  // namespace ttmem::model
