// SPDX-License-Identifier: Apache-2.0
#include "recording/moment.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "recording/event_times.hpp"
#include "recording/marks.hpp"
#include "recording/moments_test_support.hpp"
#include "recording/replay.hpp"

namespace ttmem::recording {

namespace {

using testing::HasSubstr;

TEST_F(Moments, TimesAfterTheBeginningHaveUnits) {
    const uint64_t first_ns = recording_->first_ns();
    EXPECT_EQ(at("+0s"), first_ns);
    EXPECT_EQ(at("+0.0001ms"), first_ns + 100);
    EXPECT_EQ(at("+0.000001"), first_ns + 1000);
    EXPECT_THAT(refusal("+1h"), HasSubstr("outside the recording, which goes from"));
    EXPECT_THAT(refusal("-1s"), HasSubstr("must be +12.5s"));
    EXPECT_THAT(refusal("+s"), HasSubstr("must be +12.5s"));
    EXPECT_THAT(refusal(""), HasSubstr("must be +12.5s"));
}

TEST_F(Moments, ClockTimesAreThoseOfTheDayOfTheEnd) {
    const std::string text = clock_text(recording_->epoch_ns(recording_->last_ns()));
    const auto is_inside_or_early = [&](const std::string& time) {
        const auto moment = find_moment(recording_, time);
        return moment || moment.error().text.find("outside the recording") != std::string::npos;
    };
    EXPECT_TRUE(is_inside_or_early(text));
    EXPECT_TRUE(is_inside_or_early(text.substr(11)));
    EXPECT_THAT(refusal("2020-01-01 00:00:00"), HasSubstr("outside the recording"));
    EXPECT_THAT(refusal("25:99:99"), HasSubstr("must be"));
}

TEST_F(Moments, ThePeakIsTheMomentWithTheMostUsedBytes) {
    const uint64_t peak_ns = at("peak:dram");
    EXPECT_GE(peak_ns + 4 * kTimeUnitNs, after_mark_ns_);
    EXPECT_LE(peak_ns, after_peak_ns_);
    EXPECT_THAT(refusal("peak:gold"), HasSubstr("KIND is dram"));
}

TEST_F(Moments, AMarkIsTheFirstWithItsName) {
    const uint64_t warm_ns = at("mark:warm");
    // Times of a segment are computed from ticks.
    constexpr uint64_t kToleranceNs = 10'000;
    EXPECT_GE(warm_ns + kToleranceNs, before_mark_ns_);
    EXPECT_LE(warm_ns, after_mark_ns_ + kToleranceNs);
    EXPECT_GT(at("mark:cold"), warm_ns);
    EXPECT_EQ(find_marks(*recording_).size(), 3u);
    EXPECT_THAT(refusal("mark:hot"), HasSubstr("no mark with this name; it has warm, cold"));
}

TEST_F(Moments, AKindThatNothingUsedHasNoPeak) {
    EXPECT_THAT(refusal("peak:trace"), HasSubstr("the recording has no memory of this kind; it has dram"));
}

TEST_F(Moments, AFailureHasANumberFromOne) {
    EXPECT_THAT(refusal("failure:1"), HasSubstr("the recording has 0 failures"));
    EXPECT_THAT(refusal("failure:0"), HasSubstr("N is 1 for the first failure"));
    EXPECT_THAT(refusal("failure:x"), HasSubstr("N is 1 for the first failure"));
}

TEST_F(Moments, StepsVisitEveryEventInBothDirections) {
    std::vector<uint64_t> times;
    Replay replay(recording_);
    while (const auto step = replay.step()) {
        if (times.empty() || times.back() != step->time_ns) {
            times.push_back(step->time_ns);
        }
    }
    ASSERT_GE(times.size(), 2u);
    std::vector<uint64_t> forward;
    for (auto at = next_event_ns(*recording_, 0); at; at = next_event_ns(*recording_, *at)) {
        forward.push_back(*at);
    }
    EXPECT_EQ(forward, times);
    std::vector<uint64_t> back;
    for (auto at = previous_event_ns(*recording_, UINT64_MAX); at; at = previous_event_ns(*recording_, *at)) {
        back.insert(back.begin(), *at);
    }
    EXPECT_EQ(back, times);
}

}  // namespace

}  // namespace ttmem::recording
