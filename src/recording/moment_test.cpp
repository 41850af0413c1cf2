// SPDX-License-Identifier: Apache-2.0
#include "recording/moment.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "recording/marks.hpp"
#include "recording/recording_writer.hpp"
#include "segment/clock.hpp"
#include "tests/support/own_segment.hpp"
#include "tests/support/workload.hpp"
#include "ttmem/ttmem.h"

namespace ttmem::recording {

namespace {

using testing::HasSubstr;

class Moments : public testing::Test {
protected:
    Moments() {
        setenv("TT_ALLOC_TRACKING_ENABLED", "1", 1);
        setenv("TZ", "UTC", 1);
        std::string name = testing::TempDir() + "ttmem-moment-XXXXXX";
        folder_ = mkdtemp(name.data());
        record();
    }
    ~Moments() override { std::filesystem::remove_all(folder_); }
    Moments(const Moments&) = delete;
    Moments& operator=(const Moments&) = delete;

    // 3 x 1024 bytes are the peak, between the marks "warm" and "cold".
    void record() {
        const ttmem_set set = test::make_set(0);
        auto recorder = RecordingWriter::create({folder_ + "/file"});
        ASSERT_TRUE(recorder.has_value());
        ASSERT_TRUE(recorder->set_host({.host = "there", .program = "test"}));
        census::Identity who;
        who.pid = static_cast<uint32_t>(getpid());
        ASSERT_TRUE(recorder->add({who, census::ProcessState::live, test::own_reader()},
                                  ProcessRecorder::StartState::present));
        const auto allocate = [&](uint64_t address) {
            return ttmem_allocate(set, TTMEM_DRAM, address, 1024, 1024, 1);
        };
        const ttmem_handle first = allocate(0x100000);
        ASSERT_TRUE(recorder->follow());
        // Without an event after it.
        before_mark_ns_ = segment::monotonic_now();
        ttmem_mark("warm");
        ASSERT_TRUE(recorder->follow());
        after_mark_ns_ = segment::monotonic_now();
        const ttmem_handle second = allocate(0x200000);
        const ttmem_handle third = allocate(0x300000);
        after_peak_ns_ = segment::monotonic_now();
        ASSERT_TRUE(recorder->follow());
        ttmem_free(second);
        ttmem_mark("cold");
        ttmem_mark("warm");
        ttmem_free(third);
        ttmem_free(first);
        ASSERT_TRUE(recorder->finish());
        ttmem_close_set(set);
        auto opened = Recording::open(folder_ + "/file");
        ASSERT_TRUE(opened.has_value());
        recording_ = *opened;
    }

    uint64_t at(const std::string& text) const {
        const auto moment = find_moment(recording_, text);
        EXPECT_TRUE(moment.has_value()) << moment.error().text;
        return moment.value_or(0);
    }

    std::string refusal(const std::string& text) const {
        const auto moment = find_moment(recording_, text);
        EXPECT_FALSE(moment.has_value());
        return moment ? "" : moment.error().text;
    }

    std::string folder_;
    std::shared_ptr<const Recording> recording_;
    uint64_t before_mark_ns_ = 0;
    uint64_t after_mark_ns_ = 0;
    uint64_t after_peak_ns_ = 0;
};

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

TEST_F(Moments, AFailureHasANumberFromOne) {
    EXPECT_THAT(refusal("failure:1"), HasSubstr("the recording has 0 failures"));
    EXPECT_THAT(refusal("failure:0"), HasSubstr("N is 1 for the first failure"));
    EXPECT_THAT(refusal("failure:x"), HasSubstr("N is 1 for the first failure"));
}

}  // namespace

}  // namespace ttmem::recording
