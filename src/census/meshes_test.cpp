// SPDX-License-Identifier: Apache-2.0
#include "census/meshes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "census/segment_test_support.hpp"

namespace ttmem::census {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr uint32_t kChips = 4;

// A process with four chips, whose ids are 0 to 3 in this order.
struct Meshes : testing::Test {
    Meshes() {
        for (uint32_t chip = 0; chip < kChips; ++chip) {
            segment.add_device(small_chip(0x10 + chip, chip));
        }
    }

    segment::DeviceSet mesh(uint32_t rows, uint32_t columns, const std::vector<uint8_t>& entries) {
        segment::DeviceSet set;
        set.opened_ticks = 1;
        set.rows = rows;
        set.columns = columns;
        for (size_t i = 0; i < entries.size(); ++i) {
            set.members |= uint64_t{1} << (entries[i] % 64);
            set.member[i] = entries[i];
        }
        return set;
    }

    std::vector<MeshFigures> described() { return compute_figures(census_of(segment.process(7))).meshes; }

    TestSegment segment;
};

TEST_F(Meshes, HaveTheDevicesInTheOrderOfTheProcess) {
    segment.add_set(mesh(2, 2, {0, 3, 1, 2}));
    EXPECT_THAT(described(), ElementsAre(MeshFigures{2, 2, {0, 3, 1, 2}}));
}

TEST_F(Meshes, AreListedOnceTheLargestFirst) {
    segment.add_set(mesh(1, 2, {0, 1}));
    segment.add_set(mesh(2, 2, {0, 1, 2, 3}));
    segment.add_set(mesh(1, 2, {0, 1}));
    EXPECT_THAT(described(), ElementsAre(MeshFigures{2, 2, {0, 1, 2, 3}}, MeshFigures{1, 2, {0, 1}}));
}

TEST_F(Meshes, OfClosedSetsAndEndedProcessesAreNotListed) {
    segment::DeviceSet closed = mesh(1, 2, {0, 1});
    closed.closed_ticks = 2;
    segment.add_set(closed);
    EXPECT_THAT(described(), IsEmpty());
    segment.add_set(mesh(1, 2, {0, 1}));
    Process ended = segment.process(7);
    ended.lifetime.ended = true;
    EXPECT_THAT(compute_figures(census_of(std::move(ended))).meshes, IsEmpty());
}

TEST_F(Meshes, WithAShapeThatDoesNotFitTheirDevicesAreNotListed) {
    segment.add_set(mesh(0, 0, {0, 1}));         // not described
    segment.add_set(mesh(2, 2, {0, 1}));         // too few members
    segment.add_set(mesh(1u << 31, 2, {0, 1}));  // a product of 2^32
    segment.add_set(mesh(1, 2, {0, 40}));        // no such entry of the device table
    segment::DeviceSet twice = mesh(1, 2, {0, 1});
    twice.member[1] = 0;
    segment.add_set(twice);
    segment::DeviceSet beyond = mesh(1, 2, {0, 1});
    beyond.member[1] = 255;
    segment.add_set(beyond);
    EXPECT_THAT(described(), IsEmpty());
}

}  // namespace
}  // namespace ttmem::census
