// SPDX-License-Identifier: Apache-2.0
#include "access/timeline.hpp"

#include <gmock/gmock.h>

#include "recording/moments_test_support.hpp"

namespace ttmem::access {
namespace {

using census::Kind;
using testing::ElementsAre;

struct Timelines : recording::Moments {
    Timeline read(size_t parts) const {
        const auto timeline = read_timeline(recording_, parts, [](const Timeline&) { return true; });
        EXPECT_TRUE(timeline.has_value());
        return timeline.value_or(Timeline());
    }
};

TEST_F(Timelines, ThePeaksAreThoseOfMomentTexts) {
    const Timeline timeline = read(10);
    EXPECT_EQ(timeline.peaks[index_of(Kind::dram)].used, 3 * 1024u);
    EXPECT_EQ(timeline.peaks[index_of(Kind::dram)].time_ns, at("peak:dram"));
    EXPECT_EQ(timeline.peaks[index_of(Kind::l1)].used, 0u);
}

TEST_F(Timelines, MarksAndProcessesAreInTheOrderOfTime) {
    std::vector<std::pair<TimelinePoint::PointType, std::string>> points;
    for (const TimelinePoint& point : read(3).points) {
        points.emplace_back(point.type, point.name);
    }

    EXPECT_THAT(points, ElementsAre(std::pair(TimelinePoint::PointType::start, ""),
                                    std::pair(TimelinePoint::PointType::mark, "warm"),
                                    std::pair(TimelinePoint::PointType::mark, "cold"),
                                    std::pair(TimelinePoint::PointType::mark, "warm")));
}

TEST_F(Timelines, EveryPartHasItsHighestSum) {
    for (const size_t parts : {size_t{1}, size_t{7}, size_t{500}}) {
        const Timeline timeline = read(parts);
        EXPECT_TRUE(timeline.is_complete());
        uint64_t highest = 0;
        for (const TimelinePart& part : timeline.parts) {
            highest = std::max(highest, part.used_dram);
        }
        EXPECT_EQ(highest, 3 * 1024u) << parts;
        EXPECT_EQ(timeline.parts.back().devices.at(0).used_dram, 0u);
        EXPECT_EQ(timeline.end_of(parts - 1), recording_->last_ns());
    }
}

TEST_F(Timelines, AReaderMayStopIt) {
    const auto timeline =
        read_timeline(recording_, 10, [](const Timeline& part) { return part.parts.size() < 4; });
    ASSERT_TRUE(timeline.has_value());
    EXPECT_EQ(timeline->parts.size(), 4u);
    EXPECT_FALSE(timeline->is_complete());
}

}  // namespace
}  // namespace ttmem::access
