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
    EXPECT_THAT(samples.keys(), ElementsAre(Samples::Key{3, Kind::dram}));
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
    EXPECT_EQ(samples.keys().size(), Samples::kMostSeries);
}

TEST(SeenPeaks, RaiseALowerBoundToTheHighestThatWasSeen) {
    SeenPeaks peaks;
    peaks.see(figures(3, 100));
    peaks.see(figures(3, 40));
    census::Figures now = figures(3, 40);
    peaks.raise(now);
    EXPECT_EQ(dram_peak(now), 100u);
}

TEST(SeenPeaks, LeaveWhatIsExactAlone) {
    SeenPeaks peaks;
    peaks.see(figures(3, 100));
    census::Figures now = figures(3, 40, true, true);
    peaks.raise(now);
    EXPECT_EQ(dram_peak(now), 1u);
}

TEST(SeenPeaks, StartAgainWhenNobodyHeldTheDevice) {
    SeenPeaks peaks;
    peaks.see(figures(3, 100));
    peaks.see(figures(3, 0, false));
    peaks.see(figures(3, 40));
    census::Figures now = figures(3, 40);
    peaks.raise(now);
    EXPECT_EQ(dram_peak(now), 40u);
}

}  // namespace
}  // namespace ttmem::history
