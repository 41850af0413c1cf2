// SPDX-License-Identifier: Apache-2.0

// Scopes and tags: which name an allocation has.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "tests/support/child.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/own_segment.hpp"
#include "ttmem/ttmem.h"

namespace {

using namespace ttmem;
using namespace ttmem::test;
using segment::Inexact;

// The name of the allocation with this owner.
std::string name_of(uint64_t owner) {
    for (const Live& live : ledger_of(own_reader())) {
        if (live.owner == owner) {
            return live.name;
        }
    }
    return "(not there)";
}

// Allocates something now, and returns the name that it got.
std::string name_now(ttmem_set set) {
    static uint64_t owner = 1000;
    ttmem_allocate(set, TTMEM_DRAM, 0, 1, 1, ++owner);
    return name_of(owner);
}

TRACKED_TEST(Scope, NamesWhatIsAllocatedInItAndNothingElse) {
    const ttmem_set set = make_set();
    EXPECT_EQ(name_now(set), "");
    ttmem_scope_push("ttnn::matmul");
    EXPECT_EQ(name_now(set), "ttnn::matmul");
    EXPECT_EQ(name_now(set), "ttnn::matmul");
    ttmem_scope_pop();
    EXPECT_EQ(name_now(set), "");
}

TRACKED_TEST(Scope, IsInsideTheScopesAroundIt) {
    const ttmem_set set = make_set();
    ttmem_scope_push("decoder.3");
    ttmem_scope_push("ttnn::matmul");
    EXPECT_EQ(name_now(set), "decoder.3/ttnn::matmul");
    ttmem_scope_push("decoder.3");
    EXPECT_EQ(name_now(set), "decoder.3/ttnn::matmul/decoder.3");
    ttmem_scope_pop();
    ttmem_scope_pop();
    EXPECT_EQ(name_now(set), "decoder.3");
    ttmem_scope_push("ttnn::matmul");
    EXPECT_EQ(name_now(set), "decoder.3/ttnn::matmul");
}

TRACKED_TEST(Scope, IsOfItsThreadAlone) {
    const ttmem_set set = make_set();
    ttmem_scope_push("mine");
    std::thread([&] {
        EXPECT_EQ(name_now(set), "");
        ttmem_scope_push("yours");
        EXPECT_EQ(name_now(set), "yours");
    }).join();
    EXPECT_EQ(name_now(set), "mine");
    std::thread([&] { EXPECT_EQ(name_now(set), "") << "a new thread on the old one's line"; }).join();
}

TRACKED_TEST(Scope, APopTooManyIsHarmless) {
    const ttmem_set set = make_set();
    ttmem_scope_pop();
    ttmem_scope_push("a");
    ttmem_scope_pop();
    ttmem_scope_pop();
    ttmem_scope_push("b");
    EXPECT_EQ(name_now(set), "b");
}

TRACKED_TEST(Scope, WithoutANameLeavesTheNamesAroundItAndTakesThoseInside) {
    const ttmem_set set = make_set();
    ttmem_scope_push("a");
    ttmem_scope_push("");
    EXPECT_EQ(name_now(set), "a");
    ttmem_scope_push(nullptr);
    ttmem_scope_push("b");
    EXPECT_EQ(name_now(set), "a/b");
    ttmem_scope_pop();
    EXPECT_EQ(name_now(set), "a");
    ttmem_scope_pop();
    ttmem_scope_pop();
    EXPECT_EQ(name_now(set), "a");
    ttmem_scope_pop();
    EXPECT_EQ(name_now(set), "");
}

TRACKED_TEST(Scope, TooDeepKeepsTheNameOfTheLastThatFitsAndStaysBalanced) {
    const ttmem_set set = make_set();
    std::string deepest;
    for (uint32_t i = 0; i < segment::kMaxScopeDepth; ++i) {
        ttmem_scope_push("s");
        deepest += i == 0 ? "s" : "/s";
    }
    EXPECT_EQ(name_now(set), deepest);
    for (int i = 0; i < 3; ++i) {
        ttmem_scope_push("too deep");
        EXPECT_EQ(name_now(set), deepest);
    }
    EXPECT_EQ(own_reader().inexact(Inexact::scope_too_deep), 3u);
    for (int i = 0; i < 3; ++i) {
        ttmem_scope_pop();
        EXPECT_EQ(name_now(set), deepest);
    }
    ttmem_scope_pop();
    EXPECT_EQ(name_now(set), deepest.substr(2));
}

TRACKED_TEST(Name, IsCutAtItsLimitAndCounted) {
    const ttmem_set set = make_set();
    const std::string fits(segment::kMaxNameBytes, 'x');
    ttmem_scope_push(fits.c_str());
    EXPECT_EQ(name_now(set), fits);
    EXPECT_EQ(own_reader().inexact(Inexact::name_cut), 0u);
    ttmem_scope_pop();
    ttmem_scope_push((fits + "y").c_str());
    EXPECT_EQ(name_now(set), fits);
    EXPECT_EQ(own_reader().inexact(Inexact::name_cut), 1u);
}

// Every length of a character's tail across the limit: the cut is before the character, never inside it.
TRACKED_TEST(Name, IsNotCutInsideACharacter) {
    const ttmem_set set = make_set();
    const std::string characters[] = {"\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x8d\x83"};  // 2, 3 and 4 bytes
    for (const std::string& character : characters) {
        for (size_t inside = 1; inside < character.size(); ++inside) {
            const std::string before(segment::kMaxNameBytes - inside, "abcd"[inside]);
            ttmem_scope_push((before + character + "tail").c_str());
            EXPECT_EQ(name_now(set), before);
            ttmem_scope_pop();
        }
        const std::string before(segment::kMaxNameBytes - character.size(), 'z');
        ttmem_scope_push((before + character + "tail").c_str());
        EXPECT_EQ(name_now(set), before + character);
        ttmem_scope_pop();
    }
    // What is no UTF-8 at all is cut somewhere, and nothing happens.
    ttmem_scope_push(std::string(300, '\x80').c_str());
    ttmem_scope_pop();
    EXPECT_EQ(own_reader().inexact(Inexact::name_cut), 10u);
}

TRACKED_TEST(Name, IsKeptOnceHoweverOftenItIsUsed) {
    const ttmem_set set = make_set();
    for (int i = 0; i < 1000; ++i) {
        ttmem_scope_push("a");
        ttmem_scope_push("b");
        ttmem_tag(ttmem_allocate(set, TTMEM_DRAM, 0, 1, 1, 0), "c");
        ttmem_scope_pop();
        ttmem_scope_pop();
    }
    const segment::Reader reader = own_reader();
    EXPECT_EQ(reader.name(3), "a/b/c");
    EXPECT_EQ(reader.name(4), "");
}

TRACKED_TEST(Name, TheSameFromSeveralThreadsIsKeptOnce) {
    make_set();
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([] {
            for (int n = 0; n < 200; ++n) {
                ttmem_scope_push(("name " + std::to_string(n)).c_str());
                ttmem_scope_pop();
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    const segment::Reader reader = own_reader();
    std::vector<std::string> names;
    for (uint64_t id = 1; id <= 200; ++id) {
        names.push_back(reader.name(id));
    }
    EXPECT_EQ(reader.name(201), "");
    std::sort(names.begin(), names.end());
    EXPECT_EQ(std::unique(names.begin(), names.end()), names.end());
}

TRACKED_TEST(Tag, IsInsideTheNameThatTheAllocationHas) {
    const ttmem_set set = make_set();
    ttmem_scope_push("decoder.3");
    const ttmem_handle handle = ttmem_allocate(set, TTMEM_DRAM, 0, 1, 1, 1);
    ttmem_scope_pop();
    ttmem_tag(handle, "kv_cache");
    EXPECT_EQ(name_of(1), "decoder.3/kv_cache");
    ttmem_tag(handle, "k");
    EXPECT_EQ(name_of(1), "decoder.3/kv_cache/k");
    ttmem_tag(handle, "");
    ttmem_tag(handle, nullptr);
    EXPECT_EQ(name_of(1), "decoder.3/kv_cache/k");
}

TRACKED_TEST(Tag, FindsTheOwnerOfAnAddress) {
    EXPECT_EQ(ttmem_tag_address(0, TTMEM_DRAM, 64, "early"), 0);
    EXPECT_FALSE(own_mapping().has_value()) << "it must make no segment";
    const ttmem_device devices[] = {make_device(0), make_device(1)};
    const ttmem_set both = ttmem_open_set(devices, 2, "both");
    const ttmem_set second = ttmem_open_set(devices + 1, 1, "second");
    ttmem_allocate(both, TTMEM_DRAM | TTMEM_VIEW, 64, 1, 1, 1);
    ttmem_allocate(both, TTMEM_DRAM, 64, 1, 1, 2);
    ttmem_allocate(both, TTMEM_L1, 64, 1, 1, 3);
    ttmem_allocate(second, TTMEM_DRAM, 128, 1, 1, 4);
    EXPECT_EQ(ttmem_tag_address(1, TTMEM_DRAM, 64, "weights"), 1);
    EXPECT_EQ(ttmem_tag_address(0, TTMEM_L1, 64, "mask"), 1);
    EXPECT_EQ(ttmem_tag_address(0, TTMEM_DRAM, 128, "other"), 0) << "it is on device 1";
    EXPECT_EQ(ttmem_tag_address(1, TTMEM_DRAM, 128, "kv_cache"), 1);
    EXPECT_EQ(ttmem_tag_address(7, TTMEM_DRAM, 64, "other"), 0);
    EXPECT_EQ(ttmem_tag_address(0, 99, 64, "other"), 0);
    EXPECT_EQ(name_of(1), "");
    EXPECT_EQ(name_of(2), "weights");
    EXPECT_EQ(name_of(3), "mask");
    EXPECT_EQ(name_of(4), "kv_cache");
}

TRACKED_TEST(Tag, KeepsCoresAndCountsOfWhatItNames) {
    const ttmem_set set = make_set();
    const ttmem_cores cores = rectangle(0, 0, 3, 3);
    ttmem_tag(ttmem_allocate_cb(set, 9, 1, 100, &cores, 0), "in0");
    Live live;
    live.owner = 9;
    live.address = 1;
    live.requested = 100;
    live.reserved = 1600;
    live.set = static_cast<uint8_t>(set & 0xff);
    live.kind = segment::AllocationKind::cb;
    live.name = "in0";
    live.cores = mask_of(cores);
    EXPECT_THAT(differences(own_reader(), {live}), testing::IsEmpty());
}

TRACKED_TEST(Tag, OfWhatIsGoneOrNeverWasChangesNothing) {
    const ttmem_set set = make_set();
    const ttmem_handle gone = ttmem_allocate(set, TTMEM_DRAM, 0, 1, 1, 1);
    ttmem_free(gone);
    ttmem_tag(gone, "late");
    ttmem_allocate(set, TTMEM_DRAM, 0, 1, 1, 2);  // the same slot
    ttmem_tag(gone, "late");
    ttmem_tag(gone ^ uint64_t{0xabcdef} << 20, "wild");
    ttmem_tag(0, "nothing");
    EXPECT_EQ(name_of(2), "");
}

// The naming word of a slot holds 16 bits of its generation: after 2^15 uses they are the same again.
TRACKED_TEST(Tag, OfWhatIsLongGoneChangesNothing) {
    const ttmem_set set = make_set();
    const ttmem_handle gone = ttmem_allocate(set, TTMEM_DRAM, 0, 1, 1, 1);
    ttmem_free(gone);
    for (int i = 1; i < 32'768; ++i) {
        ttmem_free(ttmem_allocate(set, TTMEM_DRAM, 0, 1, 1, 1));
    }
    const ttmem_handle now = ttmem_allocate(set, TTMEM_DRAM, 0, 1, 1, 2);
    ASSERT_EQ((gone ^ now) & 0xffff, 0u) << "another slot, or another generation, than meant";
    ttmem_tag(gone, "late");
    EXPECT_EQ(name_of(2), "");
}

}  // namespace
