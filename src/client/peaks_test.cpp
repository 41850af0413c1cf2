// SPDX-License-Identifier: Apache-2.0

// The peak of a device over all sets that it is in, the process's own totals, and marks.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
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

constexpr uint32_t kChips = 4;

ttmem_usage usage_of(uint32_t chip, uint32_t kind) {
    ttmem_usage usage{};
    EXPECT_EQ(ttmem_own_usage(static_cast<int32_t>(chip), kind, &usage), 1);
    return usage;
}

uint64_t reported_peak(const segment::Reader& reader, uint32_t chip, uint32_t kind) {
    const auto chips = reader.totals().chips;
    EXPECT_TRUE(chips.at(chip).has_value());
    return (*chips.at(chip))[segment::chip_kind(kind)];
}

// What the devices hold, counted event by event.
class TruePeaks {
public:
    TruePeaks() {
        for (uint32_t i = 0; i < kChips; ++i) {
            devices_.push_back(make_device(i));
        }
    }

    ttmem_set open(uint64_t members) {
        std::vector<ttmem_device> chosen;
        for (uint32_t i = 0; i < kChips; ++i) {
            if ((members >> i & 1) != 0) {
                chosen.push_back(devices_[i]);
            }
        }
        return ttmem_open_set(chosen.data(), static_cast<uint32_t>(chosen.size()), nullptr);
    }

    void add(uint64_t members, uint32_t kind, int64_t bytes) {
        for (uint32_t chip = 0; chip < kChips; ++chip) {
            if ((members >> chip & 1) != 0) {
                Truth& truth = truth_[chip][segment::chip_kind(kind)];
                truth.used += static_cast<uint64_t>(bytes);
                truth.peak = std::max(truth.peak, truth.used);
                truth.since_reset = std::max(truth.since_reset, truth.used);
            }
        }
    }

    void reset(uint32_t chip) {
        for (Truth& truth : truth_[chip]) {
            truth.since_reset = truth.used;
        }
    }

    void expect_equal(const segment::Reader& reader) const {
        for (uint32_t chip = 0; chip < kChips; ++chip) {
            for (uint32_t kind = 0; kind < segment::kChipKinds; ++kind) {
                const Truth& truth = truth_[chip][kind];
                const ttmem_usage usage = usage_of(chip, kind);
                ASSERT_EQ(usage.peak, truth.peak) << "chip " << chip << ", kind " << kind;
                ASSERT_EQ(usage.peak_since_reset, truth.since_reset) << "chip " << chip << ", kind " << kind;
            }
        }
        for (uint32_t chip = 0; chip < kChips; ++chip) {
            ASSERT_EQ(reported_peak(reader, chip, TTMEM_DRAM), truth_[chip][TTMEM_DRAM].peak);
        }
    }

private:
    struct Truth {
        uint64_t used = 0, peak = 0, since_reset = 0;
    };
    std::vector<ttmem_device> devices_;
    std::array<std::array<Truth, segment::kChipKinds>, kChips> truth_{};
};

// Meshes that overlap, and sets of one chip.
constexpr std::array<uint64_t, 7> kMembers = {0b1111, 0b0011, 0b0110, 0b0001, 0b0010, 0b0100, 0b1000};

TEST(ChipPeak, EqualsTheTruthAfterEveryEventOfSetsThatShareChips) {
    for (const uint32_t seed : {1u, 2u, 3u, 4u}) {
        expect_passes_in_child([=] {
            std::mt19937 random(seed);
            TruePeaks truth;
            std::array<ttmem_set, kMembers.size()> sets{};
            for (size_t i = 0; i < sets.size(); ++i) {
                sets[i] = truth.open(kMembers[i]);
            }
            struct Held {
                ttmem_handle handle;
                size_t set;
                uint32_t kind;
                int64_t bytes;
            };
            std::vector<Held> held;
            const auto give_back = [&](size_t i) {
                ttmem_free(held[i].handle);
                truth.add(kMembers[held[i].set], held[i].kind, -held[i].bytes);
                held.erase(held.begin() + static_cast<ptrdiff_t>(i));
            };
            const segment::Reader reader = own_reader();
            size_t set = 0;
            for (int i = 0; i < 4000 && !testing::Test::HasFatalFailure(); ++i) {
                // A set allocates for a while, as one does that is busy.
                set = random() % 4 == 0 ? random() % sets.size() : set;
                const auto what = random() % 100;
                if (what < 55) {
                    const uint32_t kind = std::array{TTMEM_DRAM, TTMEM_L1, TTMEM_TRACE}[random() % 3];
                    const auto bytes = static_cast<int64_t>(random() % 1000);
                    held.push_back({ttmem_allocate(sets[set], kind, 0, 1, static_cast<uint64_t>(bytes), 0),
                                    set, kind, bytes});
                    truth.add(kMembers[set], kind, bytes);
                } else if (what < 96 && !held.empty()) {
                    give_back(random() % held.size());
                } else if (what == 96) {
                    const auto chip = static_cast<uint32_t>(random() % kChips);
                    EXPECT_EQ(ttmem_reset_peak(static_cast<int32_t>(chip)), 1);
                    truth.reset(chip);
                } else if (what == 97) {
                    ttmem_close_set(sets[set]);
                    for (size_t j = held.size(); j-- > 0;) {
                        if (held[j].set == set) {
                            truth.add(kMembers[set], held[j].kind, -held[j].bytes);
                            held.erase(held.begin() + static_cast<ptrdiff_t>(j));
                        }
                    }
                    sets[set] = truth.open(kMembers[set]);
                }
                truth.expect_equal(reader);
            }
        });
    }
}

TRACKED_TEST(ChipPeak, OfKernelsIsThatOfTheirSum) {
    const ttmem_device device = make_device(0);
    const ttmem_set set = ttmem_open_set(&device, 1, nullptr);
    ttmem_load_kernel(set, 1, TTMEM_KERNEL_APPLICATION, 100);
    ttmem_load_kernel(set, 2, TTMEM_KERNEL_FABRIC, 50);
    ttmem_program_gone(1);
    ttmem_load_kernel(set, 3, TTMEM_KERNEL_DISPATCH, 60);
    EXPECT_EQ(usage_of(0, TTMEM_KERNEL_FABRIC).used, 50u);
    EXPECT_EQ(usage_of(0, TTMEM_KERNEL_FABRIC).peak, 150u);
    EXPECT_EQ(reported_peak(own_reader(), 0, TTMEM_KERNEL_DISPATCH), 150u);
}

// More sets than there are places: the peaks of those that were there before stay.
TRACKED_TEST(ChipPeak, OutlivesTheSets) {
    const ttmem_device device = make_device(0);
    for (uint32_t i = 0; i < 3 * segment::kMaxSets; ++i) {
        const ttmem_set set = ttmem_open_set(&device, 1, nullptr);
        ttmem_allocate(set, TTMEM_DRAM, 0, 1, i == 5 ? 777 : 32, 0);
        ttmem_close_set(set);
    }
    EXPECT_EQ(usage_of(0, TTMEM_DRAM).peak, 777u);
    EXPECT_EQ(usage_of(0, TTMEM_DRAM).used, 0u);
}

// Events that overlap in time may count in either order, so the peak is between the highest sum that one thread saw and the
// sum of the peaks of the pools. When all is quiet again, what follows is exact.
TRACKED_TEST(ChipPeak, StaysWithinItsBoundsWhenThreadsShareChips) {
    const ttmem_device devices[] = {make_device(0), make_device(1)};
    const ttmem_set mesh = ttmem_open_set(devices, 2, nullptr);
    const ttmem_set single = ttmem_open_set(devices, 1, nullptr);
    const auto work = [&](ttmem_set set) {
        for (int i = 0; i < 5000; ++i) {
            const ttmem_handle a =
                ttmem_allocate(set, TTMEM_DRAM, 0, 1, 64 + static_cast<uint64_t>(i % 7), 0);
            const ttmem_handle b = ttmem_allocate(set, TTMEM_DRAM, 0, 1, 32, 0);
            ttmem_free(a);
            ttmem_free(b);
        }
    };
    std::vector<std::thread> threads;
    for (const ttmem_set set : {mesh, single, mesh, single}) {
        threads.emplace_back(work, set);
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    const segment::Reader reader = own_reader();
    const uint64_t of_mesh = pool(reader, mesh, segment::AllocationKind::dram).peak;
    const uint64_t of_single = pool(reader, single, segment::AllocationKind::dram).peak;
    EXPECT_LE(reported_peak(reader, 0, TTMEM_DRAM), of_mesh + of_single);
    EXPECT_GE(reported_peak(reader, 0, TTMEM_DRAM), std::max(of_mesh, of_single));
    EXPECT_EQ(reported_peak(reader, 1, TTMEM_DRAM), of_mesh);

    EXPECT_EQ(ttmem_reset_peak(-1), 1);
    const ttmem_handle one = ttmem_allocate(mesh, TTMEM_DRAM, 0, 1, 100, 0);
    const ttmem_handle two = ttmem_allocate(single, TTMEM_DRAM, 0, 1, 10, 0);
    ttmem_free(one);
    ttmem_free(two);
    EXPECT_EQ(usage_of(0, TTMEM_DRAM).peak_since_reset, 110u);
    EXPECT_EQ(usage_of(1, TTMEM_DRAM).peak_since_reset, 100u);
}

TRACKED_TEST(OwnUsage, IsThatOfAllSetsAndThreads) {
    const ttmem_device devices[] = {make_device(0), make_device(1)};
    const ttmem_set mesh = ttmem_open_set(devices, 2, nullptr);
    const ttmem_set single = ttmem_open_set(devices, 1, nullptr);
    std::thread([&] { ttmem_allocate(mesh, TTMEM_L1, 0, 10, 32, 0); }).join();
    ttmem_allocate(single, TTMEM_L1, 0, 5, 64, 0);
    const ttmem_usage usage = usage_of(0, TTMEM_L1);
    EXPECT_EQ(usage.used, 96u);
    EXPECT_EQ(usage.requested, 15u);
    EXPECT_EQ(usage.count, 2u);
    EXPECT_EQ(usage_of(1, TTMEM_L1).used, 32u);
}

TRACKED_TEST(OwnUsage, OfAnUnknownDeviceOrKindIsRefusedAndZero) {
    make_device(0);
    ttmem_usage usage;
    for (const auto& [device, kind] : {std::pair(1, 0u), std::pair(-1, 0u), std::pair(0, 9u)}) {
        usage.used = 7;
        EXPECT_EQ(ttmem_own_usage(device, kind, &usage), 0);
        EXPECT_EQ(usage.used, 0u);
    }
    EXPECT_EQ(ttmem_own_usage(0, TTMEM_DRAM, nullptr), 0);
    EXPECT_EQ(ttmem_reset_peak(1), 0);
    EXPECT_EQ(ttmem_reset_peak(-2), 0);
}

TRACKED_TEST(OwnUsage, MakesNoSegment) {
    ttmem_usage usage;
    EXPECT_EQ(ttmem_own_usage(0, TTMEM_DRAM, &usage), 0);
    EXPECT_EQ(ttmem_reset_peak(-1), 0);
    EXPECT_EQ(ttmem_mark("step"), 0);
    EXPECT_FALSE(own_mapping().has_value());
}

TRACKED_TEST(ClientMark, KeepsWhatEachNameHeld) {
    const ttmem_device device = make_device(0);
    const ttmem_set set = ttmem_open_set(&device, 1, nullptr);
    ttmem_scope_push("decoder");
    ttmem_allocate(set, TTMEM_DRAM, 0, 1, 64, 0);
    ttmem_allocate(set, TTMEM_DRAM, 0, 1, 32, 0);
    ttmem_allocate(set, TTMEM_L1 | TTMEM_VIEW, 0, 1, 32, 0);
    ttmem_scope_pop();
    EXPECT_EQ(ttmem_mark("step"), 1);
    ttmem_allocate(set, TTMEM_L1, 0, 1, 16, 0);
    EXPECT_EQ(ttmem_mark("step"), 1);

    const segment::Reader reader = own_reader();
    const auto marks = reader.marks();
    ASSERT_EQ(marks.size(), 2u);
    EXPECT_EQ(reader.name(marks[0].head.name), "step");
    EXPECT_EQ(marks[0].head.name, marks[1].head.name);
    EXPECT_LE(marks[0].head.ticks, marks[1].head.ticks);
    ASSERT_EQ(marks[0].totals.size(), 1u);
    EXPECT_EQ(reader.name(marks[0].totals[0].name), "decoder");
    EXPECT_EQ(marks[0].totals[0].used, 96u);
    EXPECT_EQ(marks[0].totals[0].count, 2u);
    EXPECT_EQ(marks[0].head.live, 2u);
    EXPECT_EQ(marks[1].totals.size(), 2u);
}

TRACKED_TEST(ClientMark, KeepsTheFirstAndTheLast) {
    make_device(0);
    constexpr uint64_t kMade = 3 * segment::kMarks;
    for (uint64_t i = 0; i < kMade; ++i) {
        EXPECT_EQ(ttmem_mark("step"), 1);
    }
    const auto marks = own_reader().marks();
    ASSERT_EQ(marks.size(), segment::kMarks);
    EXPECT_EQ(marks[segment::kFirstMarks - 1].head.number, segment::kFirstMarks);
    EXPECT_EQ(marks[segment::kFirstMarks].head.number, kMade - segment::kLastMarks + 1);
    EXPECT_EQ(marks.back().head.number, kMade);
    EXPECT_EQ(own_reader().mark_count(), kMade);
}

TRACKED_TEST(ClientMark, SumsWhatItHasNoRoomFor) {
    const ttmem_device device = make_device(0);
    const ttmem_set set = ttmem_open_set(&device, 1, nullptr);
    for (uint32_t i = 0; i < segment::kMarkTotals + 10; ++i) {
        ttmem_scope_push(("name" + std::to_string(i)).c_str());
        ttmem_allocate(set, TTMEM_DRAM, 0, 1, 16, 0);
        ttmem_scope_pop();
    }
    EXPECT_EQ(ttmem_mark("full"), 1);
    const auto marks = own_reader().marks();
    ASSERT_EQ(marks.size(), 1u);
    EXPECT_EQ(marks[0].totals.size(), segment::kMarkTotals);
    EXPECT_EQ(marks[0].head.other_count, 10u);
    EXPECT_EQ(marks[0].head.other_used, 160u);
}

}  // namespace
