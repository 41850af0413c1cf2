// SPDX-License-Identifier: Apache-2.0
#include "segment/name.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <string_view>

#include "segment/slot.hpp"
#include "tests/model/atomic.hpp"
#include "tests/model/expect.hpp"
#include "tests/model/explore.hpp"
#include "tests/model/world.hpp"

// The name protocol in every execution: a reader that sees a length sees the bytes, and a reader that sees an
// allocation sees its name. Then the same with one weakened step, which must be detected.

namespace ttmem::model {
namespace {

using segment::BasicName;
using segment::BasicSlot;
using segment::NameOrders;
using std::memory_order_acquire;
using std::memory_order_relaxed;
using std::memory_order_release;
using Word = Atomic<std::uint64_t>;

constexpr std::size_t kByteWords = 2;
constexpr std::string_view kText = "ttnn::matmul";
constexpr std::uint32_t kParent = 7;

template <class Orders = NameOrders>
using Name = BasicName<Word, kByteWords, Orders>;

struct RelaxedLengthStore : NameOrders {
    static constexpr auto length_store = memory_order_relaxed;
};
struct RelaxedLengthLoad : NameOrders {
    static constexpr auto length_load = memory_order_relaxed;
};

struct LengthFirst : Name<> {
    void publish(const char* text, std::uint32_t length, std::uint32_t parent) {
        length_and_parent.store(std::uint64_t{parent} << 32U | length, memory_order_release);
        for (std::size_t i = 0; i < kByteWords; ++i) {
            std::uint64_t chunk = 0;
            std::memcpy(&chunk, text + 8 * i, length - 8 * i < 8 ? length - 8 * i : 8);
            bytes[i].store(chunk, memory_order_release);
        }
    }
};

template <class N>
void publish(N& entry) {
    entry.publish(kText.data(), static_cast<std::uint32_t>(kText.size()), kParent);
}

template <class N>
bool read(const N& entry) {
    char text[kByteWords * 8];
    std::uint32_t parent = 0;
    const std::uint32_t length = entry.read(text, parent);
    if (length == 0) {
        check(parent == 0, "what is not there yet has no parent");
        return false;
    }
    check(std::string_view(text, length) == kText, "who sees the length sees the bytes");
    check(parent == kParent, "who sees the length sees the parent");
    return true;
}

template <class N>
Result write_and_read(std::set<bool>* seen = nullptr) {
    return explore({}, [=](World& world) {
        N entry;
        name(entry.length_and_parent, "length");
        name(entry.bytes[0], "bytes0");
        name(entry.bytes[1], "bytes1");
        world.thread(
            "writer", [&] { publish(entry); }, Fate::may_be_killed);
        bool first = false;
        bool second = false;
        world.reader("reader", [&] {
            first = read(entry);
            second = read(entry);
            check(second || !first, "a name stays");
        });
        world.run();
        const bool last = read(entry);
        check(last || !second, "a name stays");
        if (seen != nullptr) {
            seen->insert(second);
        }
    });
}

// One thread creates a name and adds it to the private index. Another thread finds it there and allocates under it. A
// process that reads the allocation must be able to read the name.
template <class N>
Result name_of_an_allocation(std::memory_order put = memory_order_release,
                             std::memory_order find = memory_order_acquire) {
    return explore({}, [=](World& world) {
        N entry;
        Word index;
        BasicSlot<Word, 2> slot;
        name(entry.length_and_parent, "length");
        name(index, "index");
        name(slot.word[0], "generation");
        name(slot.word[1], "name id");
        world.thread("namer", [&] {
            publish(entry);
            index.store(1, put);
        });
        world.thread("allocator", [&] {
            const std::uint64_t payload[1] = {index.load(find)};
            slot.publish(payload, 1);
        });
        world.reader("reader", [&] {
            std::uint64_t payload[1];
            if (slot.read(payload) != 0 && payload[0] == 1) {
                check(read(entry), "who sees an allocation sees its name");
            }
        });
        world.run();
    });
}

constexpr const char* kNoBytes = "who sees the length sees the bytes";
constexpr const char* kNoName = "who sees an allocation sees its name";

TEST(NameModel, WhoSeesTheLengthSeesTheBytes) {
    std::set<bool> seen;
    EXPECT_PROVEN(write_and_read<Name<>>(&seen));
    EXPECT_THAT(seen, testing::ElementsAre(false, true));
}

TEST(NameModel, WhoSeesAnAllocationSeesItsName) { EXPECT_PROVEN(name_of_an_allocation<Name<>>()); }

TEST(NameModel, ARelaxedLengthStoreIsCaught) {
    EXPECT_CAUGHT(write_and_read<Name<RelaxedLengthStore>>(), kNoBytes);
}

TEST(NameModel, ARelaxedLengthLoadIsCaught) {
    EXPECT_CAUGHT(write_and_read<Name<RelaxedLengthLoad>>(), kNoBytes);
}

TEST(NameModel, ALengthThatComesBeforeTheBytesIsCaught) {
    EXPECT_CAUGHT(write_and_read<LengthFirst>(), kNoBytes);
}

TEST(NameModel, AnIndexWithoutOrderIsCaught) {
    EXPECT_CAUGHT(name_of_an_allocation<Name<>>(memory_order_relaxed, memory_order_acquire), kNoName);
    EXPECT_CAUGHT(name_of_an_allocation<Name<>>(memory_order_release, memory_order_relaxed), kNoName);
}

}  // namespace
}  // namespace ttmem::model
