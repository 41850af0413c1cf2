// SPDX-License-Identifier: Apache-2.0
#include "view/questions/leaks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "census/segment_test_support.hpp"
#include "view/text/screens.hpp"

namespace ttmem::view {
namespace {

using census::Kind;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// A process that holds memory under a few names, mark by mark.
class MarkedHost : public view::Host {
public:
    explicit MarkedHost(uint64_t spacing = 1000) : spacing_(spacing) {
        segment_.add_device(census::small_chip(0x10, 0));
        set_ = segment_.add_set(1);
        for (const char* text : {"step", "leaky", "cache", "steady", "up and down"}) {
            segment_.add_name(text);
        }
        census_.processes.push_back(segment_.process(7));
    }

    // Bytes of leaky, cache, steady, "up and down", and of circular buffers of leaky.
    void mark(std::array<uint64_t, 5> used) {
        std::vector<segment::MarkTotal> totals;
        for (uint32_t i = 0; i < used.size(); ++i) {
            const bool is_cb = i == 4;
            const auto kind = is_cb ? segment::AllocationKind::cb : segment::AllocationKind::dram;
            totals.push_back({is_cb ? 2 : 2 + i, static_cast<uint8_t>(kind), set_, 0, 1, used[i]});
        }
        segment_.add_mark(1, spacing_ * ++marks_, totals);
    }

    Origin origin() const override { return {"host", 1, OriginSource::direct}; }
    census::Census census() const override { return census_; }

private:
    census::TestSegment segment_;
    uint8_t set_ = 0;
    uint64_t spacing_;  // ticks, which are nanoseconds
    uint64_t marks_ = 0;
    census::Census census_;
};

TEST(LeaksAnswer, TellsWhatGrowsAtEachMarkFromPlateausAndPrograms) {
    MarkedHost host;
    host.mark({100, 10, 5, 1, 10});
    host.mark({200, 20, 5, 2, 20});
    host.mark({300, 20, 5, 1, 30});
    host.mark({400, 20, 5, 2, 40});
    const auto view = Leaks::answer(host, {});
    ASSERT_TRUE(view) << view.error().text;
    EXPECT_EQ(view->marked, 1u);
    ASSERT_THAT(view->leaks, SizeIs(3));
    const NameLeak& leak = view->leaks[0];
    EXPECT_EQ(leak.name, "leaky");
    EXPECT_EQ(leak.verdict, LeakVerdict::growing);
    EXPECT_EQ(leak.marks, 4u);
    EXPECT_EQ(leak.grown(), 300u);
    EXPECT_EQ(leak.per_mark(), 100u);
    EXPECT_EQ(leak.full_after_marks, 40u);  // nothing is in use, and 4,000 bytes fit
    EXPECT_EQ(leak.full_in_ns, 40'000u);
    EXPECT_EQ(view->leaks[1].kind, Kind::cb);
    EXPECT_EQ(view->leaks[1].verdict, LeakVerdict::program_cache);
    EXPECT_EQ(view->leaks[2].name, "cache");
    EXPECT_EQ(view->leaks[2].verdict, LeakVerdict::plateau);
    EXPECT_TRUE(view->is_growing());
    EXPECT_THAT(render_plain(leaks_text(*view, {})), HasSubstr("1 name grows from mark to mark"));
}

TEST(LeaksAnswer, SaysForHowLongANameHasGrown) {
    constexpr uint64_t kSpacing = 100'000'000;  // more than an answer takes
    MarkedHost host(kSpacing);
    host.mark({900, 1, 1, 1, 1});
    host.mark({100, 1, 1, 1, 1});
    host.mark({200, 1, 1, 1, 1});
    host.mark({300, 1, 1, 1, 1});
    const uint64_t before = segment::monotonic_now();
    const auto view = Leaks::answer(host, {});
    const uint64_t after = segment::monotonic_now();
    ASSERT_TRUE(view) << view.error().text;
    ASSERT_THAT(view->leaks, SizeIs(1));
    EXPECT_EQ(view->leaks[0].marks, 3u);
    EXPECT_GE(view->leaks[0].since_age_ns, before - 2 * kSpacing) << "it grows since the second mark";
    EXPECT_LE(view->leaks[0].since_age_ns, after - 2 * kSpacing);
}

TEST(LeaksAnswer, NeedsEnoughMarksOfThatName) {
    MarkedHost host;
    host.mark({100, 1, 1, 1, 1});
    host.mark({200, 1, 1, 1, 1});
    EXPECT_EQ(Leaks::answer(host, {})->unmarked, 1u);
    host.mark({300, 1, 1, 1, 1});
    EXPECT_THAT(Leaks::answer(host, {})->leaks, SizeIs(1));
    EXPECT_THAT(Leaks::answer(host, {.mark_name = "step"})->leaks, SizeIs(1));
    EXPECT_EQ(Leaks::answer(host, {.mark_name = "other"})->unmarked, 1u);
    EXPECT_EQ(Leaks::answer(host, {.marks = 4})->unmarked, 1u);
    EXPECT_THAT(Leaks::answer(host, {.kind = Kind::l1})->leaks, IsEmpty());
    EXPECT_FALSE(Leaks::answer(host, {.marks = 2}));
}

TEST(LeaksAnswer, SaysHowToMark) {
    const MarkedHost host;
    EXPECT_THAT(render_plain(leaks_text(*Leaks::answer(host, {}), {})), HasSubstr("ttmem_mark("));
}

// What two processes held when the host was marked; the second started later.
InventoryView host_mark(uint64_t time_ns, uint64_t leaky, uint64_t steady, uint64_t young) {
    InventoryView view;
    view.origin.time_ns = time_ns;
    view.processes = 2;
    view.sums = {{7, 100, "leaky", Kind::dram, {0}, leaky}, {7, 100, "steady", Kind::dram, {0}, steady}};
    if (young != 0) {
        view.sums.push_back({8, 2500, "leaky", Kind::l1, {0}, young});
    }
    return view;
}

TEST(Leaks, MarksOfTheHostCountForProcessesThatLivedAtEnoughOfThem) {
    const std::vector<InventoryView> marks = {host_mark(1000, 10, 5, 0), host_mark(2000, 20, 5, 0),
                                              host_mark(3000, 30, 5, 1), host_mark(4000, 40, 5, 2)};
    Origin now;
    now.time_ns = 5000;
    const auto view = leaks_between(marks, {}, now);
    ASSERT_TRUE(view);
    ASSERT_THAT(view->leaks, SizeIs(1));
    const NameLeak& leak = view->leaks[0];
    EXPECT_EQ(std::tuple(leak.pid, leak.name, leak.marks, leak.per_mark(), leak.since_age_ns),
              std::tuple(7u, "leaky", 4u, 10u, 4000u));
    EXPECT_EQ(std::tuple(view->marked, view->unmarked), std::tuple(1u, 1u)) << "process 8 has two marks";
    EXPECT_THAT(leaks_between(marks, {.kind = census::KindSet(Kind::l1)}, now)->leaks, IsEmpty());
    EXPECT_THAT(leaks_between(marks, {.name = "steady"}, now)->leaks, IsEmpty());
    EXPECT_FALSE(leaks_between(marks, {.marks = 2}, now));
}

}  // namespace
}  // namespace ttmem::view
