// SPDX-License-Identifier: Apache-2.0
#include "history/samples.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ttmem::history {
namespace {

using census::Kind;
using testing::ElementsAre;
using testing::IsEmpty;

census::Figures figures(uint32_t device, uint64_t dram, bool is_held = true, bool peak_exact = false) {
    census::Figures result;
    census::DeviceFigures& one = result.devices.emplace_back();
    one.id = device;
    one.memory[census::index_of(Kind::dram)].used = dram;
    one.memory[census::index_of(Kind::dram)].peak = 1;
    one.memory[census::index_of(Kind::dram)].peak_exact = peak_exact;
    if (is_held) {
        result.processes.emplace_back().devices.emplace_back().id = device;
    }
    return result;
}

uint64_t dram_peak(const census::Figures& of) {
    return of.devices[0].memory[census::index_of(Kind::dram)].peak;
}

TEST(Samples, OfAKindThatNeverHeldAnythingThereAreNone) {
    Samples samples;
    samples.add(1, figures(3, 0));
    EXPECT_THAT(samples.keys(), IsEmpty());
    samples.add(2, figures(3, 10));
    EXPECT_THAT(samples.keys(), ElementsAre(Samples::SeriesKey{3, Kind::dram}));
    EXPECT_THAT(samples.since({3, Kind::dram}, 0), ElementsAre(Sample{2, 10}));
    EXPECT_THAT(samples.since({3, Kind::l1}, 0), IsEmpty());
}

TEST(Samples, ADeviceThatIsGoneIsZeroFromThenOn) {
    Samples samples;
    samples.add(1, figures(3, 10));
    samples.add(2, {});
    EXPECT_THAT(samples.since({3, Kind::dram}, 0), ElementsAre(Sample{1, 10}, Sample{2, 0}));
}

TEST(Samples, AreBoundedHoweverManyDevicesAreNamed) {
    Samples samples;
    for (uint32_t device = 0; device < 10'000; ++device) {
        samples.add(device, figures(device, 1));
    }
    EXPECT_EQ(samples.keys().size(), Samples::kMostPerUser);
    EXPECT_EQ(samples.keys().back().first, 9'999u) << "devices that left first are removed first";
    EXPECT_EQ(samples.dropped(), 10'000 - Samples::kMostPerUser);
}

// Devices that exist at the same time, each held by one process of the user.
void add_devices(census::Figures& to, uint32_t first, uint32_t count, uint32_t uid,
                 bool is_of_driver = false) {
    census::ProcessFigures& process = to.processes.emplace_back();
    process.uid = uid;
    for (uint32_t id = first; id < first + count; ++id) {
        census::DeviceFigures& device = to.devices.emplace_back();
        device.id = id;
        device.asic_id = 1'000 + id;
        device.memory[census::index_of(Kind::dram)].used = 1;
        if (is_of_driver) {
            device.driver.emplace();
        }
        process.devices.emplace_back().id = id;
    }
}

bool has_series(const Samples& samples, uint32_t device) {
    return !samples.since({device, Kind::dram}, 0).empty();
}

constexpr auto kShare = static_cast<uint32_t>(Samples::kMostPerUser);

TEST(Samples, BeyondTheShareOfAUserThereAreNoneAndThatIsCounted) {
    Samples samples;
    census::Figures all;
    add_devices(all, 0, kShare + 5, 1000);
    samples.add(1, all);
    samples.add(2, all);
    EXPECT_EQ(samples.keys().size(), Samples::kMostPerUser);
    EXPECT_EQ(samples.dropped(), 5u) << "not once per sample";
    census::Figures fewer;
    add_devices(fewer, 0, 1, 1000);
    samples.add(3, fewer);
    EXPECT_EQ(samples.dropped(), 0u);
}

TEST(Samples, OfARealDeviceFindRoomInAFullTable) {
    Samples samples;
    census::Figures all;
    add_devices(all, 0, kShare, 1000);
    add_devices(all, 10'000, kShare, 1001);
    samples.add(1, all);
    EXPECT_EQ(samples.keys().size(), Samples::kMostSeries);
    EXPECT_EQ(samples.dropped(), 0u);
    add_devices(all, 20'000, 3, 1002);
    add_devices(all, 30'000, 2, 1000, true);
    samples.add(2, all);
    EXPECT_EQ(samples.keys().size(), Samples::kMostSeries);
    for (const uint32_t device : {20'000u, 20'001u, 20'002u, 30'000u, 30'001u}) {
        EXPECT_TRUE(has_series(samples, device)) << device;
    }
    samples.add(3, all);
    EXPECT_EQ(samples.dropped(), 10u) << "five were removed, and their devices find no room";
    EXPECT_TRUE(has_series(samples, 0)) << "a user's first devices stay";
}

TEST(Samples, OfDevicesThatLeftFirstAreRemovedFirst) {
    Samples samples;
    census::Figures first;
    add_devices(first, 0, kShare, 1000);
    samples.add(1, first);
    census::Figures second;
    add_devices(second, 10'000, kShare, 1001);
    samples.add(2, second);
    add_devices(second, 20'000, 1, 1002);
    samples.add(3, second);
    EXPECT_EQ(samples.keys().size(), Samples::kMostSeries);
    EXPECT_FALSE(has_series(samples, 0));
    EXPECT_TRUE(has_series(samples, 1));
    EXPECT_EQ(samples.dropped(), 1u);
}

TEST(Samples, OfADeviceOfTwoUsersCountAgainstTheOneWithFewer) {
    Samples samples;
    census::Figures all;
    add_devices(all, 0, kShare, 1000);
    samples.add(1, all);
    census::ProcessFigures& other = all.processes.emplace_back();
    other.uid = 1001;
    other.devices.emplace_back().id = 7;
    add_devices(all, 10'000, 1, 1000);
    samples.add(2, all);
    EXPECT_TRUE(has_series(samples, 7));
    EXPECT_TRUE(has_series(samples, 10'000)) << "the share has room again";
    EXPECT_EQ(samples.dropped(), 0u);
}

TEST(Samples, ANumberThatAnotherDeviceGetsStartsAgain) {
    Samples samples;
    census::Figures now = figures(3, 10);
    now.devices[0].asic_id = 1;
    samples.add(1, now);
    now.devices[0].asic_id = 2;
    samples.add(2, now);
    EXPECT_THAT(samples.since({3, Kind::dram}, 0), ElementsAre(Sample{2, 10}));
    EXPECT_EQ(samples.dropped(), 1u);
}

TEST(SeenPeaks, RaiseALowerBoundToTheHighestThatWasSeen) {
    SeenPeaks peaks;
    peaks.add(figures(3, 100));
    peaks.add(figures(3, 40));
    census::Figures now = figures(3, 40);
    peaks.raise(now);
    EXPECT_EQ(dram_peak(now), 100u);
}

TEST(SeenPeaks, LeaveExactPeaksUnchanged) {
    SeenPeaks peaks;
    peaks.add(figures(3, 100));
    census::Figures now = figures(3, 40, true, true);
    peaks.raise(now);
    EXPECT_EQ(dram_peak(now), 1u);
}

TEST(SeenPeaks, RestartWhenNoProcessHoldsTheDevice) {
    SeenPeaks peaks;
    peaks.add(figures(3, 100));
    peaks.add(figures(3, 0, false));
    peaks.add(figures(3, 40));
    census::Figures now = figures(3, 40);
    peaks.raise(now);
    EXPECT_EQ(dram_peak(now), 40u);
}

}  // namespace
}  // namespace ttmem::history
