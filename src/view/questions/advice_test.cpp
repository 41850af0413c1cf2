// SPDX-License-Identifier: Apache-2.0
#include "view/questions/advice.hpp"

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

census::Figures two_chips() {
    census::Figures figures;
    for (uint32_t id = 0; id < 2; ++id) {
        census::DeviceFigures device;
        device.id = id;
        device.board = "n300";
        device.memory[index_of(Kind::dram)].capacity = 1 << 30;
        device.memory[index_of(Kind::dram)].peak = 1 << 20;
        figures.devices.push_back(device);
    }
    return figures;
}

TEST(Advice, ThereIsNoneWhereNothingIsToBeChanged) {
    census::Figures figures = two_chips();
    EXPECT_THAT(advise_on(figures, {}, {}), IsEmpty());
    auto& small = figures.devices[0].memory[index_of(Kind::l1_small)];
    small.capacity = 64 * 32768;
    small.peak = 64 * 20000;
    EXPECT_THAT(advise_on(figures, {}, {{0, 64}}), IsEmpty()) << "neither nearly full nor much too large";
}

TEST(Advice, ARegionThatIsMuchTooLargeOrNearlyFullGetsAValueWithAMargin) {
    census::Figures figures = two_chips();
    auto& small = figures.devices[1].memory[index_of(Kind::l1_small)];
    small.capacity = 64 * 32768;
    small.peak = 64 * 3200;
    const auto items = advise_on(figures, {}, {{0, 64}, {1, 64}});
    ASSERT_THAT(items, SizeIs(1));
    EXPECT_EQ(items[0].topic, AdviceTopic::l1_small_size);
    EXPECT_EQ(items[0].devices, std::vector<uint32_t>{1});
    EXPECT_EQ(items[0].value, 3520u);
    EXPECT_THAT(items[0].text, HasSubstr("l1_small_size 3520 would have sufficed with a margin of 320 B"));
    small.peak = *small.capacity;
    EXPECT_EQ(advise_on(figures, {}, {{1, 64}}).at(0).value, 36064u)
        << "a tenth more than 32768, in units of 32";
    EXPECT_THAT(advise_on(figures, {}, {}), IsEmpty()) << "without the number of banks the unit is unknown";
}

TEST(Advice, ATraceRegionHasBothModes) {
    census::Figures figures = two_chips();
    auto& trace = figures.devices[0].memory[index_of(Kind::trace)];
    trace.capacity = 50'000'000;
    trace.peak = 49'000'000;
    const AdviceItem nearly_full = advise_on(figures, {}, {}).at(0);
    EXPECT_EQ(nearly_full.value, 53'903'360u) << "a tenth more, in pages of a trace";
    EXPECT_THAT(nearly_full.text,
                HasSubstr("or 0: traces are then allocated in DRAM, where 1.0 GiB were never used"));
    trace.peak = 0;
    const AdviceItem unused = advise_on(figures, {}, {}).at(0);
    EXPECT_EQ(unused.value, 0u);
    EXPECT_THAT(unused.text, HasSubstr("no trace was captured"));
}

TEST(Advice, ARefusedRequestDecidesTheSizeOfItsRegion) {
    census::FailureFigures failure;
    failure.pid = 7;
    failure.kind = Kind::l1_small;
    failure.devices = {0};
    failure.card.emplace();
    failure.card->fix.emplace();
    failure.card->fix->region_size = 33792;
    census::Figures figures = two_chips();
    const auto items = advise_on(figures, {failure}, {{0, 64}});
    ASSERT_THAT(items, SizeIs(1));
    EXPECT_EQ(items[0].value, 37184u);
    EXPECT_THAT(items[0].text,
                HasSubstr("l1_small_size 33792 would have sufficed for the request that failed"));
}

TEST(Advice, ChipsOfOneBoardThatDifferMuchAreNamed) {
    census::Figures figures = two_chips();
    figures.devices[1].memory[index_of(Kind::dram)].peak = 512 << 20;
    const auto items = advise_on(figures, {}, {});
    ASSERT_THAT(items, SizeIs(1));
    EXPECT_EQ(items[0].topic, AdviceTopic::imbalance);
    EXPECT_EQ(items[0].devices, (std::vector<uint32_t>{1, 0}));
    figures.devices[1].board = "p150";
    EXPECT_THAT(advise_on(figures, {}, {}), IsEmpty()) << "other boards have other models";
}

// A process with a hole after each of its small buffers.
class FragmentedHost : public view::Host {
public:
    FragmentedHost() {
        segment_.add_device(census::small_chip(0x10, 0));
        const uint8_t set = segment_.add_set(1);
        const uint32_t name = segment_.add_name("holes");
        for (uint64_t i = 1; i < 5; ++i) {
            auto a = census::allocation(set, segment::AllocationKind::dram, 0x1000 + i * 180, 40, 40);
            a.name = name;
            segment_.add(a);
        }
        census_.processes.push_back(segment_.process(7));
    }
    Origin origin() const override { return read_here(); }
    census::Census census() const override { return census_; }

private:
    census::TestSegment segment_;
    census::Census census_;
};

// A process that has held half of DRAM under one name.
class HoldingHost : public view::Host {
public:
    HoldingHost(uint64_t life_ns, uint64_t held_ns, uint64_t bytes) : life_ns_(life_ns) {
        segment_.add_device(census::small_chip(0x10, 0));
        auto a = census::allocation(segment_.add_set(1), segment::AllocationKind::dram, 0x1000, bytes, bytes);
        a.name = segment_.add_name("weights");
        a.ticks = segment::monotonic_now() - held_ns;  // the clock of this segment
        segment_.add(a);
        census_.processes.push_back(segment_.process(7));
    }
    Origin origin() const override {
        Origin now = read_here();
        now.time_ns = census_.processes.front().identity.start_time_ns + life_ns_;
        return now;
    }
    census::Census census() const override { return census_; }

private:
    uint64_t life_ns_;
    census::TestSegment segment_;
    census::Census census_;
};

std::vector<AdviceItem> held_long(uint64_t life_seconds, uint64_t held_seconds, uint64_t bytes) {
    constexpr uint64_t kSecond = 1'000'000'000;
    const auto view = Advice::answer(HoldingHost(life_seconds * kSecond, held_seconds * kSecond, bytes), {});
    EXPECT_TRUE(view);
    std::vector<AdviceItem> items = view ? view->advice : std::vector<AdviceItem>();
    std::erase_if(items, [](const AdviceItem& item) { return item.topic != AdviceTopic::held_long; });
    return items;
}

TEST(Advice, WhatIsLargeAndHeldForAMinuteAndHalfOfALifeIsNamed) {
    const auto items = held_long(150, 80, 2000);
    ASSERT_THAT(items, SizeIs(1));
    EXPECT_EQ(items[0].name, "weights");
    EXPECT_EQ(items[0].pid, 7u);
    EXPECT_EQ(items[0].devices, std::vector<uint32_t>{0});
    EXPECT_THAT(items[0].text, HasSubstr("weights of process 7 holds 2.0 KiB of dram since 1m20s"));
    EXPECT_THAT(held_long(200, 80, 2000), IsEmpty()) << "less than half of its life";
    EXPECT_THAT(held_long(50, 50, 2000), IsEmpty()) << "its whole life is short";
    EXPECT_THAT(held_long(150, 80, 496), IsEmpty()) << "less than an eighth of the pool";
    EXPECT_THAT(held_long(150, 80, 500), SizeIs(1));
}

TEST(Advice, FragmentationNamesWhatLiesBetweenTheHoles) {
    const auto view = Advice::answer(FragmentedHost(), {});
    ASSERT_TRUE(view);
    ASSERT_THAT(view->advice, SizeIs(1));
    EXPECT_EQ(view->advice[0].topic, AdviceTopic::fragmentation);
    EXPECT_EQ(view->advice[0].name, "holes");
    EXPECT_THAT(view->advice[0].text, HasSubstr("holes of process 7 lies between 4 holes"));
    const std::string text = render_plain(advice_text(*view, {}));
    EXPECT_THAT(text, HasSubstr("* dram of device 0 is fragmented"));
    AdviceView nothing = *view;
    nothing.advice.clear();
    EXPECT_THAT(render_plain(advice_text(nothing, {})), HasSubstr("nothing to advise"));
}

}  // namespace
}  // namespace ttmem::view
