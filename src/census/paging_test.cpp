// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <random>

#include "census/allocations.hpp"
#include "census/segment_test_support.hpp"

namespace ttmem::census {
namespace {

using testing::HasSubstr;

constexpr Sort kAllSorts[] = {Sort::used, Sort::requested, Sort::age, Sort::address, Sort::name};

// Two processes whose allocations have many ties. The owner identifies each allocation.
class Paging : public testing::Test {
protected:
    void SetUp() override {
        for (TestSegment* segment : {&one_, &two_}) {
            segment->add_device(small_chip(0x10, 0));
            segment->add_set(1);
            for (const char* name : {"decoder.0", "decoder.1", "embedding", "漢字"}) {
                segment->add_name(name);
            }
        }
        census_ = census_of(one_.process(7), two_.process(8));
    }

    segment::Allocation any() {
        const auto below = [this](uint64_t end) { return random_() % end; };
        constexpr segment::AllocationKind kKinds[] = {
            segment::AllocationKind::dram, segment::AllocationKind::l1, segment::AllocationKind::cb,
            segment::AllocationKind::kernel_application};
        segment::Allocation a =
            allocation(0, kKinds[below(4)], below(6), below(5), below(5),
                       below(8) == 0 ? segment::AllocationFlag::planned : segment::AllocationFlag::none);
        a.ticks = below(9);
        a.name = static_cast<uint32_t>(below(6));  // name 5 does not exist
        a.owner = ++owner_;
        return a;
    }

    void fill(int count) {
        for (int i = 0; i < count; ++i) {
            one_.add_to_ledger(any());
            two_.add_to_ledger(any());
        }
    }

    static void free(TestSegment& segment, uint32_t slot) {
        auto& place = segment.entry<segment::LedgerSlot>(segment::RegionId::ledger, slot);
        place.retire(place.generation());
    }

    // Writes a new allocation into a free slot.
    void reuse(TestSegment& segment, uint32_t slot, const segment::Allocation& a) {
        auto& place = segment.entry<segment::LedgerSlot>(segment::RegionId::ledger, slot);
        const uint64_t generation = segment::next_generation(place.generation());
        uint64_t payload[segment::LedgerSlot::kPayloadWords];
        segment::encode(a, generation, payload);
        place.publish(payload, generation);
    }

    static std::vector<uint64_t> owners(const AllocationPage& page) {
        std::vector<uint64_t> result;
        for (const LiveAllocation& live : page.allocations) {
            result.push_back(live.owner);
        }
        return result;
    }

    std::vector<uint64_t> all_pages(
        AllocationQuery query, const std::function<void()>& between = [] {}) {
        std::vector<uint64_t> result;
        while (true) {
            const auto page = list_allocations(census_, query);
            EXPECT_TRUE(page.has_value());
            const std::vector<uint64_t> found = owners(*page);
            result.insert(result.end(), found.begin(), found.end());
            EXPECT_EQ(page->left_out == 0, !page->next);
            if (!page->next) {
                return result;
            }
            EXPECT_EQ(found.size(), query.limit);
            query.cursor = page->next;
            between();
        }
    }

    TestSegment one_, two_;
    Census census_;
    std::mt19937 random_{1};
    uint64_t owner_ = 0;
};

TEST_F(Paging, AllPagesTogetherAreTheWholeListInEveryOrder) {
    fill(100);
    for (const Sort sort : kAllSorts) {
        const std::vector<uint64_t> whole = owners(*list_allocations(census_, {.sort = sort}));
        ASSERT_EQ(whole.size(), 200u);
        for (const uint64_t limit : {1u, 2u, 7u, 50u, 199u, 200u, 201u}) {
            EXPECT_EQ(all_pages({.sort = sort, .limit = limit}), whole) << name_of(sort) << " by " << limit;
        }
    }
}

TEST_F(Paging, AListAndItsPagesCanBeReversed) {
    fill(100);
    for (const Sort sort : kAllSorts) {
        std::vector<uint64_t> whole = owners(*list_allocations(census_, {.sort = sort}));
        std::reverse(whole.begin(), whole.end());
        for (const uint64_t limit : {0u, 1u, 7u, 199u}) {
            EXPECT_EQ(all_pages({.sort = sort, .reverse = true, .limit = limit}), whole)
                << name_of(sort) << " by " << limit;
        }
    }
    const auto first = list_allocations(census_, {.limit = 3});
    EXPECT_FALSE(list_allocations(census_, {.reverse = true, .limit = 3, .cursor = first->next}));
}

TEST_F(Paging, FiltersHoldOnEveryPage) {
    fill(100);
    for (const Sort sort : kAllSorts) {
        const AllocationQuery query{
            .device = "0", .pid = 8, .kind = census::Kind::l1, .name = "decoder", .sort = sort, .limit = 2};
        AllocationQuery everything = query;
        everything.limit = 0;
        const std::vector<uint64_t> whole = owners(*list_allocations(census_, everything));
        EXPECT_GT(whole.size(), 2u);
        EXPECT_EQ(all_pages(query), whole) << name_of(sort);
    }
}

TEST_F(Paging, AnAllocationThatStaysLiveIsListedOnceDuringChanges) {
    for (const Sort sort : kAllSorts) {
        fill(40);
        const std::vector<uint64_t> stay = owners(*list_allocations(census_, {.pid = 8}));
        const std::vector<uint64_t> listed = all_pages({.sort = sort, .limit = 3}, [this] {
            for (int i = 0; i < 10; ++i) {
                const auto slot = static_cast<uint32_t>(random_() % one_.header().slots_used.load());
                const auto& place = one_.entry<segment::LedgerSlot>(segment::RegionId::ledger, slot);
                segment::is_live(place.generation()) ? free(one_, slot) : reuse(one_, slot, any());
            }
        });
        std::map<uint64_t, int> times;
        for (const uint64_t owner : listed) {
            EXPECT_EQ(++times[owner], 1) << name_of(sort);
        }
        for (const uint64_t owner : stay) {
            EXPECT_EQ(times[owner], 1) << name_of(sort);
        }
        one_.header().slots_used = two_.header().slots_used = 0;
    }
}

TEST_F(Paging, ANewAllocationInTheSlotWhereAPageEndedIsNotLost) {
    segment::Allocation a = allocation(0, segment::AllocationKind::dram, 1, 1, 1);
    a.owner = 1;
    const uint32_t slot = one_.add_to_ledger(a);
    two_.add_to_ledger(a);
    AllocationQuery query{.limit = 1};
    query.cursor = list_allocations(census_, query)->next;
    free(one_, slot);
    a.owner = 2;
    reuse(one_, slot, a);
    EXPECT_THAT(owners(*list_allocations(census_, query)), testing::ElementsAre(2));
}

TEST_F(Paging, TheOrdersMatchTheirNames) {
    fill(60);
    // One process only: the ages of two processes are computed at different times.
    const auto list = [&](Sort sort) {
        return list_allocations(census_, {.pid = 7, .sort = sort})->allocations;
    };
    const auto is_sorted = [](const std::vector<LiveAllocation>& page, auto key) {
        return std::is_sorted(page.begin(), page.end(),
                              [&](const auto& a, const auto& b) { return key(a) < key(b); });
    };
    EXPECT_TRUE(is_sorted(list(Sort::used), [](const auto& live) { return ~live.used; }));
    EXPECT_TRUE(is_sorted(list(Sort::requested), [](const auto& live) { return ~live.requested; }));
    EXPECT_TRUE(is_sorted(list(Sort::age), [](const auto& live) { return ~live.age_ns; }));
    EXPECT_TRUE(is_sorted(list(Sort::name), [](const auto& live) { return live.name; }));
    EXPECT_TRUE(is_sorted(list(Sort::address), [](const auto& live) {
        return std::pair(!live.address.has_value(), live.address.value_or(0));
    })) << "what has no address comes last";
}

TEST_F(Paging, ACursorOfAnotherListIsRefused) {
    fill(10);
    const std::string cursor = *list_allocations(census_, {.limit = 3})->next;
    EXPECT_TRUE(list_allocations(census_, {.limit = 5, .cursor = cursor}).has_value());
    for (const AllocationQuery& query :
         {AllocationQuery{.sort = Sort::age, .cursor = cursor}, AllocationQuery{.pid = 7, .cursor = cursor},
          AllocationQuery{.device = "0", .cursor = cursor},
          AllocationQuery{.kind = census::Kind::l1, .cursor = cursor},
          AllocationQuery{.name = "decoder", .cursor = cursor}}) {
        const auto page = list_allocations(census_, query);
        ASSERT_FALSE(page.has_value());
        EXPECT_THAT(page.error().text, HasSubstr("cursor does not belong to this list"));
    }
}

TEST_F(Paging, ACursorIsAWordThatNeedsNoQuoting) {
    fill(10);
    for (const Sort sort : kAllSorts) {
        const std::string cursor = *list_allocations(census_, {.sort = sort, .limit = 15})->next;
        EXPECT_EQ(cursor.find_first_not_of("0123456789abcdef-"), std::string::npos) << cursor;
        EXPECT_NE(cursor.front(), '-');
    }
}

TEST_F(Paging, AnyOtherTextAsACursorIsRefusedOrHarmless) {
    fill(10);
    for (const Sort sort : kAllSorts) {
        const std::string good = *list_allocations(census_, {.sort = sort, .limit = 15})->next;
        for (const std::string& text : {std::string(), std::string("x"), good + "zz", "-" + good,
                                        good.substr(0, good.size() / 2), std::string(100'000, 'f')}) {
            EXPECT_FALSE(list_allocations(census_, {.sort = sort, .cursor = text}).has_value()) << text;
        }
        for (int i = 0; i < 2000; ++i) {
            std::string text = good;
            text[random_() % text.size()] = static_cast<char>(random_());
            if (const auto page = list_allocations(census_, {.sort = sort, .cursor = text})) {
                EXPECT_LE(page->allocations.size(), 20u);
            }
        }
    }
}

TEST_F(Paging, NamesBeyondTheLongestKeyAreStillListedOnce) {
    uint32_t name = 0;
    for (int depth = 0; depth < 10; ++depth) {
        name = one_.add_name(std::string(99, 'x'), name);
    }
    for (uint64_t owner = 1; owner <= 5; ++owner) {
        segment::Allocation a = any();
        a.name = owner % 2 == 0 ? name : one_.add_name(std::to_string(owner), name);
        one_.add_to_ledger(a);
    }
    EXPECT_EQ(all_pages({.sort = Sort::name, .limit = 1}),
              owners(*list_allocations(census_, {.sort = Sort::name})));
}

TEST_F(Paging, OrdersAndGroupsAreFoundByTheirNames) {
    for (const Sort sort : kAllSorts) {
        EXPECT_EQ(base::by_name<Sort>(name_of(sort)), sort);
    }
    for (const char* name : {"name", "kind", "pid", "device", "set", "scope", "thread", "owner"}) {
        EXPECT_EQ(name_of(*base::by_name<GroupBy>(name)), name);
    }
    EXPECT_EQ(base::by_name<Sort>("size"), std::nullopt);
    EXPECT_EQ(base::by_name<GroupBy>(""), std::nullopt);
}

TEST_F(Paging, NamesAreFoundByAnyPartOfTheirPath) {
    segment::Allocation a = any();
    a.name = one_.add_name("ttnn::matmul", one_.add_name("attention", one_.add_name("layer.7")));
    one_.add_to_ledger(a);
    a.name = 4'000'000'000;  // does not exist
    one_.add_to_ledger(a);
    const auto total = [&](const char* part) { return list_allocations(census_, {.name = part})->total; };
    EXPECT_EQ(total("7/att"), 1u);
    EXPECT_EQ(total("matmul"), 1u);
    EXPECT_EQ(total("Matmul"), 0u);
    EXPECT_EQ(total(""), 2u);
}

}  // namespace
}  // namespace ttmem::census
