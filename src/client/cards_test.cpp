// SPDX-License-Identifier: Apache-2.0

// Failure cards: what the bank held when a request failed, written in the failing call.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>
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
using segment::AllocationKind;
using segment::CardBlock;
using segment::CardContents;
using segment::Failure;
using segment::NoCard;

constexpr uint64_t kBase = 0x1000;
constexpr uint64_t kBankSize = 0x1000'0000;

ttmem_set chip_with_banks(uint32_t banks = 4) {
    ttmem_device_info info{};
    info.memory[TTMEM_DRAM] = {kBase, kBankSize, kBankSize * banks, banks, 32, TTMEM_BOTTOM_UP, 0};
    info.memory[TTMEM_L1] = {kBase, kBankSize, kBankSize * banks, banks, 16, TTMEM_TOP_DOWN, 0};
    const ttmem_device device = ttmem_register_device(&info);
    return ttmem_open_set(&device, 1, "chip");
}

ttmem_failed_request request_in(ttmem_set set, uint32_t kind = TTMEM_DRAM) {
    ttmem_failed_request request{};
    request.failure = {set, kind, 4000, 1024, 2000, 500};
    request.page_bytes = 2048;
    request.banks = 4;
    request.direction = TTMEM_TOP_DOWN;
    return request;
}

void fail(ttmem_set set, uint32_t kind = TTMEM_DRAM) {
    const ttmem_failed_request request = request_in(set, kind);
    ttmem_request_failed(&request);
}

CardContents only_card() {
    const std::optional<CardContents> card = own_reader().card(1);
    if (!card) {
        ADD_FAILURE() << "no card";
        return {};
    }
    return *card;
}

std::vector<uint64_t> owners_of(const CardContents& card) {
    std::vector<uint64_t> owners;
    for (const CardBlock& block : card.blocks) {
        owners.push_back(block.allocation.owner);
    }
    return owners;
}

TRACKED_TEST(Card, HasTheRequestTheBankAndTheFailure) {
    const ttmem_set set = chip_with_banks();
    ttmem_scope_push("ttnn::matmul");
    fail(set);
    const segment::Reader reader = own_reader();
    ASSERT_EQ(reader.failures().size(), 1u);
    EXPECT_EQ(reader.failures()[0].card, 1u);
    EXPECT_EQ(reader.card_numbers(), std::vector<uint64_t>{1});
    const CardContents card = only_card();
    EXPECT_EQ(card.head.failure.requested, 4000u);
    EXPECT_EQ(card.head.failure.ticks, reader.failures()[0].ticks);
    EXPECT_EQ(reader.name(card.head.failure.name), "ttnn::matmul");
    EXPECT_EQ(reader.name(card.head.label), "chip");
    EXPECT_EQ(card.head.page_bytes, 2048u);
    EXPECT_EQ(card.head.request_banks, 4u);
    EXPECT_EQ(card.head.request_direction, TTMEM_TOP_DOWN);
    EXPECT_EQ(card.head.bank_base, kBase);
    EXPECT_EQ(card.head.bank_size, kBankSize);
    EXPECT_EQ(card.head.banks, 4u);
    EXPECT_EQ(card.head.alignment, 32u);
    EXPECT_EQ(card.head.direction, TTMEM_BOTTOM_UP);
    EXPECT_TRUE(card.blocks.empty());
    ASSERT_EQ(card.gaps.size(), 1u) << "the whole bank is free";
    EXPECT_EQ(card.gaps[0].bytes, kBankSize);
}

TRACKED_TEST(Card, WithoutRulesLeavesThemUnknown) {
    const ttmem_set set = chip_with_banks();
    const ttmem_out_of_memory failure = request_in(set).failure;
    ttmem_allocation_failed(&failure);
    EXPECT_EQ(only_card().head.page_bytes, 0u);
    EXPECT_EQ(only_card().head.request_banks, 0u);
    EXPECT_EQ(only_card().head.request_direction, TTMEM_UNKNOWN_DIRECTION);
}

TRACKED_TEST(Card, HasTheLiveBlocksOfTheBankInTheOrderOfTheirAddresses) {
    const ttmem_set set = chip_with_banks();
    const ttmem_set other = chip_with_banks();
    ttmem_scope_push("late");
    ttmem_allocate(set, TTMEM_DRAM, 0x5000, 100, 128, 3);
    ttmem_scope_pop();
    ttmem_scope_push("early");
    ttmem_allocate(set, TTMEM_DRAM, 0x1000, 400, 512, 1);
    ttmem_allocate(set, TTMEM_DRAM, 0x3000, 400, 512, 2);
    ttmem_scope_pop();
    ttmem_free(ttmem_allocate(set, TTMEM_DRAM, 0x2000, 400, 512, 99));
    ttmem_allocate(set, TTMEM_L1, 0x2000, 400, 512, 98);
    ttmem_allocate(other, TTMEM_DRAM, 0x2000, 400, 512, 97);
    ttmem_allocate(set, TTMEM_DRAM | TTMEM_VIEW, 0x2000, 400, 512, 96);
    ttmem_allocate(set, TTMEM_DRAM | TTMEM_PLANNED, 0x2000, 400, 512, 95);
    fail(set);
    const segment::Reader reader = own_reader();
    const CardContents card = only_card();
    EXPECT_EQ(owners_of(card), (std::vector<uint64_t>{1, 2, 3}));
    EXPECT_TRUE(card.head.is_complete());
    EXPECT_EQ(card.head.live, 3u);
    EXPECT_EQ(card.head.used_per_bank, 128u + 128 + 32);
    const segment::Allocation& last = card.blocks[2].allocation;
    EXPECT_EQ(last.address, 0x5000u);
    EXPECT_EQ(last.requested, 100u);
    EXPECT_EQ(last.reserved, 128u);
    EXPECT_EQ(reader.name(last.name), "late");
    ASSERT_EQ(card.sums.size(), 2u);
    EXPECT_EQ(reader.name(card.sums[0].name), "early");
    EXPECT_EQ(card.sums[0].used, 1024u);
    EXPECT_EQ(card.sums[0].count, 2u);
    EXPECT_EQ(card.head.other_count, 0u);
    ASSERT_EQ(card.gaps.size(), 3u);
    EXPECT_EQ(card.gaps[0].address, 0x1080u);
    EXPECT_EQ(card.gaps[0].bytes, 0x3000u - 0x1080);
    EXPECT_EQ(card.gaps[2].address, 0x5020u);
}

// The runtime unwinds and frees after the call.
TRACKED_TEST(Card, StaysAsItWas) {
    const ttmem_set set = chip_with_banks();
    const ttmem_handle handle = ttmem_allocate(set, TTMEM_DRAM, 0x1000, 400, 512, 1);
    fail(set);
    ttmem_free(handle);
    ttmem_allocate(set, TTMEM_DRAM, 0x2000, 1, 32, 2);  // in the same slot
    ttmem_close_set(set);
    EXPECT_EQ(owners_of(only_card()), std::vector<uint64_t>{1});
}

TRACKED_TEST(Card, OfAClashHasTheL1BuffersAndTheCircularBuffersOfTheProgram) {
    const ttmem_set set = chip_with_banks();
    ttmem_cores cores{};
    ttmem_cores_add(&cores, 0, 0, 3, 3);
    ttmem_allocate_cb(set, 7, 0x3000, 0x2000, &cores, 0);
    ttmem_allocate_cb(set, 7, 0x1000, 0x2000, &cores, 0);
    ttmem_allocate_cb(set, 8, 0x1000, 0x9000, &cores, 0);
    ttmem_allocate_cb(set, 7, 0x9000, 0x10, &cores, TTMEM_VIEW);
    const ttmem_handle blocker = ttmem_allocate(set, TTMEM_L1, 0x4000, 400, 512, 40);
    ttmem_allocate(set, TTMEM_L1, 0x8000, 400, 512, 41);
    ttmem_allocate(set, TTMEM_DRAM, 0x8000, 400, 512, 42);
    ttmem_cb_clash clash{};
    clash.set = set;
    clash.program = 7;
    clash.cb_end = 0x5000;
    clash.lowest_buffer = 0x4000;
    clash.blocker = blocker;
    ttmem_cb_clashed(&clash);
    const CardContents card = only_card();
    EXPECT_EQ(owners_of(card), (std::vector<uint64_t>{7, 7, 40, 41}));
    EXPECT_EQ(card.blocks[0].allocation.kind, AllocationKind::cb);
    EXPECT_EQ(card.head.used_per_bank, 256u) << "of buffers";
    ASSERT_EQ(card.sums.size(), 1u);
    EXPECT_EQ(card.sums[0].count, 2u) << "without circular buffers";
    EXPECT_EQ(card.sums[0].used, 1024u);
    EXPECT_EQ(card.head.bank_size, kBankSize) << "of L1";
}

TRACKED_TEST(Card, OfAClashOfTheFirstProgramHasNoOtherProgram) {
    const ttmem_set set = chip_with_banks();
    ttmem_cores cores{};
    ttmem_cores_add(&cores, 0, 0, 3, 3);
    ttmem_allocate_cb(set, 0, 0x1000, 0x4000, &cores, 0);
    ttmem_allocate_cb(set, 8, 0x2000, 0x9000, &cores, 0);
    ttmem_cb_clash clash{};
    clash.set = set;
    clash.program = 0;
    clash.cb_end = 0x5000;
    clash.lowest_buffer = 0x4000;
    ttmem_cb_clashed(&clash);
    EXPECT_EQ(owners_of(only_card()), std::vector<uint64_t>{0});
}

TRACKED_TEST(Card, HasTheLastEventsOfItsThread) {
    const ttmem_set set = chip_with_banks();
    std::thread([&] { ttmem_allocate(set, TTMEM_DRAM, 1, 1, 1, 1); }).join();
    for (uint64_t i = 0; i < 150; ++i) {
        ttmem_free(ttmem_allocate(set, TTMEM_DRAM, i, 10, 10, i));
    }
    fail(set);
    const CardContents card = only_card();
    ASSERT_EQ(card.events.size(), segment::kCardEvents);
    for (size_t i = 0; i < card.events.size(); ++i) {
        EXPECT_EQ(card.events[i].address, 100 + i / 2);
        EXPECT_EQ(card.events[i].type, i % 2 == 0 ? segment::EventType::allocate : segment::EventType::free);
    }
}

TRACKED_TEST(Card, IsWrittenAtMostOncePerSecondAndTheOthersSayWhyTheyHaveNone) {
    const ttmem_set set = chip_with_banks();
    errno = 77;
    fail(set);
    EXPECT_EQ(errno, 77);
    for (int i = 0; i < 9; ++i) {
        fail(set);
    }
    const segment::Reader reader = own_reader();
    ASSERT_EQ(reader.failures().size(), 10u);
    EXPECT_EQ(reader.failures()[0].card, 1u);
    // Under load more than a second may pass, and then there is another card.
    uint64_t cards = 0;
    for (const Failure& failure : reader.failures()) {
        cards += failure.card != 0 ? 1 : 0;
        EXPECT_EQ(failure.no_card,
                  static_cast<uint64_t>(failure.card != 0 ? NoCard::not_written : NoCard::too_soon));
    }
    EXPECT_EQ(cards, reader.card_count());
    EXPECT_LT(cards, 10u);
    while (own_reader().card_count() == cards) {
        fail(set);
    }
    EXPECT_EQ(own_reader().failures().back().card, cards + 1);
    EXPECT_TRUE(own_reader().card(cards + 1));
}

TRACKED_TEST(Card, OfTwoThreadsThatFailAtOnceOneIsWrittenAndBothFailuresAreKept) {
    const ttmem_set set = chip_with_banks();
    for (uint64_t i = 0; i < 1000; ++i) {
        ttmem_allocate(set, TTMEM_DRAM, kBase + i * 64, 64, 64, i);
    }
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&] { fail(set); });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    const segment::Reader reader = own_reader();
    EXPECT_EQ(reader.failures().size(), 4u);
    EXPECT_GE(reader.card_count(), 1u);
    EXPECT_EQ(only_card().blocks.size(), 1000u);
}

// Others allocate and free while the card is written: it never has a mixture of two allocations.
TRACKED_TEST(Card, IsConsistentBesideOtherThreads) {
    const ttmem_set set = chip_with_banks(1);
    std::atomic<bool> stop{false};
    std::vector<std::thread> threads;
    for (uint64_t t = 0; t < 2; ++t) {
        threads.emplace_back([&, t] {
            for (uint64_t i = 0; !stop.load(); ++i) {
                const uint64_t owner = t * 1'000'000 + i % 1'000'000;
                ttmem_free(ttmem_allocate(set, TTMEM_DRAM, owner * 64, owner, owner, owner));
            }
        });
    }
    for (uint64_t cards = 1; cards <= 2; ++cards) {
        while (own_reader().card_count() < cards) {
            fail(set);
        }
        const std::optional<CardContents> card = own_reader().card(cards);
        ASSERT_TRUE(card);
        for (const CardBlock& block : card->blocks) {
            EXPECT_EQ(block.allocation.address, block.allocation.owner * 64);
            EXPECT_EQ(block.allocation.requested, block.allocation.owner);
            EXPECT_EQ(block.allocation.reserved, block.allocation.owner);
        }
    }
    stop = true;
    for (std::thread& thread : threads) {
        thread.join();
    }
}

TRACKED_TEST(Card, OfAThreadThatSharesItsRingIsWrittenToo) {
    set_environment("TTMEM_WRITERS", "1");
    const ttmem_set set = chip_with_banks();
    ttmem_allocate(set, TTMEM_DRAM, 0x1000, 1, 32, 5);
    std::thread([&] { fail(set); }).join();
    EXPECT_EQ(owners_of(only_card()), std::vector<uint64_t>{5});
    EXPECT_EQ(only_card().events.size(), 2u);
}

TRACKED_TEST(Card, OfAForkedChildIsItsOwn) {
    const ttmem_set set = chip_with_banks();
    fail(set);
    const pid_t child = fork();
    if (child == 0) {
        const ttmem_set own = chip_with_banks();
        ttmem_allocate(own, TTMEM_DRAM, 0x1000, 1, 32, 6);
        fail(own);
        _exit(own_reader().card_count() == 1 && owners_of(only_card()) == std::vector<uint64_t>{6} ? 0 : 1);
    }
    EXPECT_EQ(wait_for_child(child).code, 0);
    EXPECT_EQ(own_reader().card_count(), 1u);
}

ttmem_set g_signal_set;
void fail_in_handler(int) { fail(g_signal_set); }

TRACKED_TEST(Card, MayBeWrittenInASignalHandler) {
    g_signal_set = chip_with_banks();
    signal(SIGUSR1, fail_in_handler);
    raise(SIGUSR1);
    EXPECT_EQ(own_reader().card_count(), 1u);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // which map memory themselves
TRACKED_TEST(Card, ThatFindsNoMemoryIsNotWrittenAndTheFailureSaysSo) {
    const ttmem_set set = chip_with_banks();
    const rlimit none{1, 1};
    ASSERT_EQ(setrlimit(RLIMIT_AS, &none), 0);
    fail(set);
    const rlimit all{1, RLIM_INFINITY};
    setrlimit(RLIMIT_AS, &all);
    const auto* failures = reinterpret_cast<const segment::FailureSlot*>(
        static_cast<const unsigned char*>(own_mapping()->start) +
        static_cast<const segment::Header*>(own_mapping()->start)
            ->region[static_cast<uint32_t>(segment::RegionId::failures)]
            .offset);
    uint64_t payload[segment::FailureSlot::kPayloadWords];
    ASSERT_NE(failures[0].read(payload), 0u);
    Failure failure;
    std::memcpy(static_cast<void*>(&failure), payload, sizeof failure);
    EXPECT_EQ(failure.card, 0u);
    EXPECT_EQ(failure.no_card, static_cast<uint64_t>(NoCard::no_host_memory));
}
#endif

TRACKED_TEST(Card, IsCompleteUpToItsNumberOfBlocks) {
    static_assert(segment::kCardBlocks == 4096);
    const ttmem_set set = chip_with_banks(1);
    for (uint64_t i = 0; i < segment::kCardBlocks; ++i) {
        ttmem_allocate(set, TTMEM_DRAM, kBase + i * 64, 64, 64, i);
    }
    fail(set);
    const CardContents full = only_card();
    EXPECT_EQ(full.blocks.size(), 4096u);
    EXPECT_TRUE(full.head.is_complete());
}

TRACKED_TEST(Card, IsPartialWithOneBlockMore) {
    const ttmem_set set = chip_with_banks(1);
    for (uint64_t i = 0; i <= segment::kCardBlocks; ++i) {
        ttmem_allocate(set, TTMEM_DRAM, kBase + i * 64, 64, 64, i);
    }
    fail(set);
    const CardContents part = only_card();
    EXPECT_EQ(part.head.live, 4097u);
    EXPECT_FALSE(part.head.is_complete());
    EXPECT_LT(part.blocks.size(), 4096u);
}

// 100,000 live blocks with a few gaps, a few large ones and names: beyond the limit a card has what matters.
TRACKED_TEST(Card, OfVeryManyBlocksHasThoseThatMatterAndSumsOfAll) {
    const ttmem_set set = chip_with_banks(1);
    constexpr uint64_t kMany = 100'000;
    uint64_t address = kBase;
    uint64_t used = 0;
    std::vector<uint64_t> around_gaps;
    std::vector<uint64_t> large;
    for (uint64_t i = 0; i < kMany; ++i) {
        if (i % 1'600 == 800) {  // 63 gaps, and the one at the end
            address += 64 + i;
            around_gaps.push_back(i - 1);
            around_gaps.push_back(i);
        }
        const bool is_large = i % 400 == 7;
        const uint64_t bytes = is_large ? 4096 : 64;
        const std::string name = is_large ? "large" : "small." + std::to_string(i % 100);
        ttmem_scope_push(name.c_str());
        ttmem_allocate(set, TTMEM_DRAM, address, bytes, bytes, i);
        ttmem_scope_pop();
        if (is_large) {
            large.push_back(i);
        }
        address += bytes;
        used += bytes;
    }
    fail(set);
    const segment::Reader reader = own_reader();
    const CardContents card = only_card();
    EXPECT_EQ(card.head.live, kMany);
    EXPECT_EQ(card.head.used_per_bank, used);
    EXPECT_FALSE(card.head.is_complete());
    const std::vector<uint64_t> owners = owners_of(card);
    EXPECT_LE(owners.size(), 2u * segment::kCardGaps + segment::kCardLargest + segment::kCardYoungest);
    EXPECT_TRUE(std::is_sorted(owners.begin(), owners.end())) << "by address";
    EXPECT_TRUE(std::includes(owners.begin(), owners.end(), around_gaps.begin(), around_gaps.end()));
    EXPECT_TRUE(std::includes(owners.begin(), owners.end(), large.begin(), large.end()));
    std::vector<uint64_t> youngest(segment::kCardYoungest);
    for (uint64_t i = 0; i < youngest.size(); ++i) {
        youngest[i] = kMany - youngest.size() + i;
    }
    EXPECT_TRUE(std::includes(owners.begin(), owners.end(), youngest.begin(), youngest.end()));
    EXPECT_EQ(card.gaps.size(), around_gaps.size() / 2 + 1);
    ASSERT_EQ(card.sums.size(), segment::kCardSums);
    EXPECT_EQ(reader.name(card.sums[0].name), "large");
    EXPECT_EQ(card.sums[0].used, 250u * 4096);
    uint64_t count = card.head.other_count;
    uint64_t sum = card.head.other_used;
    for (const segment::CardSum& one : card.sums) {
        count += one.count;
        sum += one.used;
    }
    EXPECT_EQ(count, kMany);
    EXPECT_EQ(sum, used);
}

// The addresses of a reporter may be anything.
TRACKED_TEST(Card, SortsAddressesOfAllBits) {
    const ttmem_set set = chip_with_banks();
    uint64_t state = 1;
    std::vector<uint64_t> addresses = {0, UINT64_MAX, 1, uint64_t{1} << 63};
    for (int i = 0; i < 500; ++i) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        addresses.push_back(state);
    }
    for (const uint64_t address : addresses) {
        ttmem_allocate(set, TTMEM_DRAM, address, 1, 32, 1);
    }
    fail(set);
    const CardContents card = only_card();
    std::vector<uint64_t> found;
    for (const CardBlock& block : card.blocks) {
        found.push_back(block.allocation.address);
    }
    std::sort(addresses.begin(), addresses.end());
    EXPECT_EQ(found, addresses);
}

}  // namespace
