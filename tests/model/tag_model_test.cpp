// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <utility>

#include "segment/slot.hpp"
#include "tests/model/atomic.hpp"
#include "tests/model/expect.hpp"
#include "tests/model/explore.hpp"
#include "tests/model/world.hpp"

// A tag changes one word of a live slot, which the slot protocol alone does not allow: another thread may
// free the allocation and use the slot again meanwhile. A compare-and-swap on a word that carries bits of the
// generation makes it safe, and each half of that is needed. The steps are written down here once more, as
// ttmem_tag() makes them.

namespace ttmem::model {
namespace {

using segment::BasicSlot;
using std::memory_order_acq_rel;
using std::memory_order_acquire;
using std::memory_order_relaxed;
using std::memory_order_release;
using Word = Atomic<std::uint64_t>;
using Copy = std::pair<std::uint64_t, std::uint64_t>;  // generation, name

constexpr std::uint64_t kName = 5;  // of both allocations: the hard case
constexpr std::uint64_t kTag = 9;

struct Protocol {
    bool has_generation_bits = true;
    bool looks_at_them = true;
    bool swaps = true;
    std::memory_order swap = memory_order_acq_rel;

    std::uint64_t naming_word(std::uint64_t name, std::uint64_t generation) const {
        return name << 16U | (has_generation_bits ? generation : 0);
    }
    bool matches(std::uint64_t naming, std::uint64_t generation) const {
        return !has_generation_bits || !looks_at_them || (naming & 0xffff) == generation;
    }
};

struct Tagged {
    BasicSlot<Word, 2> slot;
    Word name_text;  // stands for the entry of the name table: 1 when it is there

    Tagged() {
        name(slot.word[0], "generation");
        name(slot.word[1], "naming");
        name(name_text, "name text");
    }

    void allocate(std::uint64_t generation, const Protocol& protocol) {
        const std::uint64_t payload[1] = {protocol.naming_word(kName, generation)};
        slot.publish(payload, generation);
    }

    void tag(std::uint64_t generation, const Protocol& protocol) {
        if (slot.word[0].load(memory_order_acquire) != generation) {
            return;
        }
        std::uint64_t naming = slot.word[1].load(memory_order_acquire);
        name_text.store(1, memory_order_relaxed);
        if (!protocol.matches(naming, generation)) {
            return;
        }
        const std::uint64_t tagged = protocol.naming_word(kTag, generation);
        if (protocol.swaps) {
            slot.word[1].compare_exchange_strong(naming, tagged, protocol.swap, memory_order_relaxed);
        } else {
            slot.word[1].store(tagged, memory_order_release);
        }
    }

    Copy read() const {
        std::uint64_t payload[1];
        const std::uint64_t generation = slot.read(payload);
        const std::uint64_t seen = generation == 0 ? 0 : payload[0] >> 16U;
        check(generation != 3 || seen == kName, "a late tag does not reach the next allocation");
        check(seen != kTag || name_text.load(memory_order_relaxed) == 1, "who sees the tag sees its text");
        return {generation, seen};
    }
};

Result late_tag(const Protocol& protocol, std::set<Copy>* copies = nullptr) {
    return explore({}, [=](World& world) {
        Tagged tagged;
        Copy seen;
        tagged.allocate(1, protocol);
        world.thread("owner", [&] {
            check(tagged.slot.retire(1), "the only owner frees");
            tagged.allocate(3, protocol);
        });
        world.thread("tagger", [&] { tagged.tag(1, protocol); });
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
    EXPECT_PROVEN(late_tag({}, &copies));
    EXPECT_THAT(copies, testing::ElementsAre(Copy{0, 0}, Copy{1, kName}, Copy{1, kTag}, Copy{3, kName}));
}

TEST(TagModel, ATagWithoutGenerationBitsIsCaught) {
    EXPECT_CAUGHT(late_tag({.has_generation_bits = false}), kLate);
}

TEST(TagModel, ATagThatDoesNotLookAtTheGenerationBitsIsCaught) {
    EXPECT_CAUGHT(late_tag({.looks_at_them = false}), kLate);
}

TEST(TagModel, ATagThatDoesNotSwapIsCaught) { EXPECT_CAUGHT(late_tag({.swaps = false}), kLate); }

TEST(TagModel, ATagThatDoesNotReleaseIsCaught) {
    EXPECT_CAUGHT(late_tag({.swap = memory_order_acquire}), "who sees the tag sees its text");
}

}  // namespace
}  // namespace ttmem::model
