// SPDX-License-Identifier: Apache-2.0
#include "census/peak_contents.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "census/segment_test_support.hpp"
#include "segment/writer.hpp"

namespace ttmem::census {
namespace {

using segment::AllocationFlag;
using segment::AllocationKind;
using segment::RegionId;
using segment::SlotRef;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr uint64_t kNow = 1'000'000'000'000'000'000;  // since the epoch
constexpr uint64_t kTick = 16;                        // records have no finer time
constexpr uint64_t kKept = 15;                        // records of a ring of 16

// A process with two threads. Its clock is that of the host, so ticks are nanoseconds; tests use the first ones.
class PeakContents : public testing::Test {
protected:
    PeakContents() {
        segment_.add_device(small_chip(0x10, 0));
        segment_.add_device(small_chip(0x20, 1));
        mesh_ = segment_.add_set(3);
        second_ = segment_.add_set(2);
        for (const char* name : {"weights", "activations", "kv_cache"}) {
            names_.push_back(segment_.add_name(name));
        }
        segment_.header().writers_used.store(2);
    }

    // The writer of one thread.
    segment::BasicEventWriter<segment::OneWriterTraits> thread(uint32_t line) {
        return {&segment_.entry<segment::WriterLine>(RegionId::writers, line),
                &segment_.entry<segment::RingRecord>(RegionId::rings, line),
                15,
                &segment_.entry<segment::LedgerSlot>(RegionId::ledger, 0),
                &segment_.entry<segment::Pool>(RegionId::pools, 0),
                &segment_.entry<segment::Tally>(RegionId::tallies, line)};
    }

    SlotRef allocate(uint32_t slot, uint64_t time, uint64_t bytes, uint32_t name, uint32_t line = 0,
                     segment::Allocation a = {}) {
        a.requested = bytes;
        a.reserved = bytes + 1;
        a.ticks = time * kTick;
        a.name = name;
        segment_.header().slots_used.store(std::max<uint64_t>(segment_.header().slots_used.load(), slot + 1));
        return thread(line).allocate(slot, a);
    }
    void free(SlotRef slot, uint64_t time, uint32_t line = 0) {
        uint64_t what = 0;
        EXPECT_TRUE(thread(line).free(slot, time * kTick, what));
    }
    // Fills a ring with events that do not count.
    void write_others(uint64_t count, uint64_t time, uint32_t line = 0) {
        for (uint64_t i = 0; i < count; ++i) {
            segment::Event event;
            event.type = segment::EventType::failure;
            event.ticks = time * kTick;
            thread(line).append(event);
        }
    }

    PeakPage page(const PeakQuery& query = {}, uint64_t most_records = kMostPeakRecords) {
        const Census census = census_of(segment_.process(7));
        auto page = find_peaks(census, query, kNow, UINT64_MAX, most_records);
        EXPECT_TRUE(page) << page.error().text;
        return *page;
    }
    ProcessPeak peak(const PeakQuery& query = {}) {
        const PeakPage found = page(query);
        EXPECT_THAT(found.processes, SizeIs(1));
        EXPECT_THAT(found.inexact, IsEmpty());
        return found.processes.at(0);
    }
    TestSegment segment_;
    uint8_t mesh_ = 0;
    uint8_t second_ = 0;
    std::vector<uint32_t> names_;
};

TEST_F(PeakContents, IsTheMomentWithTheMostBytesWithWhatWasLiveThen) {
    allocate(0, 10, 100, names_[0]);
    const SlotRef one = allocate(1, 20, 30, names_[1]);
    const SlotRef two = allocate(2, 30, 40, names_[1]);
    free(one, 40);
    free(two, 50);
    allocate(1, 60, 5, names_[2]);
    const ProcessPeak found = peak();
    EXPECT_EQ(found.pid, 7u);
    EXPECT_EQ(found.comm, "model");
    EXPECT_EQ(found.requested, 170u);
    EXPECT_EQ(found.count, 3u);
    EXPECT_EQ(found.requested_now, 105u);
    EXPECT_EQ(found.used_peak, 173u) << "reserved bytes, from the counters";
    EXPECT_THAT(found.names, ElementsAre(PeakName{"weights", 100, 1}, PeakName{"activations", 70, 2}));
    EXPECT_EQ(found.total, 2u);
    EXPECT_EQ(found.since_ns, std::nullopt) << "nothing is lost";
    EXPECT_EQ(found.missing_records, 0u);
}

TEST_F(PeakContents, TheFirstOfEqualMomentsCounts) {
    free(allocate(0, 10, 50, names_[0]), 20);
    free(allocate(0, 30, 50, names_[1]), 40);
    EXPECT_THAT(peak().names, ElementsAre(PeakName{"weights", 50, 1}));
}

TEST_F(PeakContents, TheTimeOfTheMomentIsThatOfItsLastAllocation) {
    const uint64_t now = segment::monotonic_now();
    const uint64_t then = (now - 5'000'000'000) / kTick;
    const SlotRef one = allocate(0, then - 1, 1, 0);
    const SlotRef two = allocate(1, then, 1, 0);
    free(one, then + 1);
    free(two, then + 2);
    const uint64_t age = kNow - peak().time_ns;
    EXPECT_GE(age, 5'000'000'000u);
    EXPECT_LT(age, 5'000'000'000u + (segment::monotonic_now() - now) + 2 * kTick);
}

TEST_F(PeakContents, OnlyTheAskedKindAndWhatAddsBytesCounts) {
    segment::Allocation other;
    other.kind = AllocationKind::l1;
    allocate(0, 10, 1'000, names_[0], 0, other);
    other = {};
    other.flags = AllocationFlag::view;
    allocate(1, 20, 1'000, names_[0], 0, other);
    other.flags = AllocationFlag::planned;
    allocate(2, 30, 1'000, names_[0], 0, other);
    allocate(3, 40, 7, names_[1]);
    EXPECT_THAT(peak().names, ElementsAre(PeakName{"activations", 7, 1}));
    EXPECT_THAT(peak({.kind = Kind::l1}).names, ElementsAre(PeakName{"weights", 1'000, 1}));
    EXPECT_THAT(page({.kind = Kind::trace}).processes, IsEmpty());
}

TEST_F(PeakContents, ADeviceHasTheSetsThatContainIt) {
    segment::Allocation on_second;
    on_second.set = second_;
    allocate(0, 10, 100, names_[0]);
    free(allocate(1, 20, 10, names_[1], 0, on_second), 30);
    EXPECT_EQ(peak({.device = "0"}).requested, 100u);
    EXPECT_EQ(peak({.device = "1"}).requested, 110u);
    EXPECT_EQ(peak().requested, 110u) << "an allocation on the mesh counts once";
    EXPECT_EQ(peak({.device = "0"}).used_peak, 101u);
    EXPECT_EQ(peak({.device = "1"}).used_peak, std::nullopt) << "two sets";
    EXPECT_EQ(find_peaks(census_of(segment_.process(7)), {.device = "0,1"}, kNow).error().code,
              base::Error::Code::refused);
}

TEST_F(PeakContents, TheDevicesOfAnEarlierSetAreNotKnown) {
    segment_.entry<segment::SetSlot>(RegionId::sets, mesh_).word[2] = 100 * kTick;  // opened again
    segment_.entry<segment::SetSlot>(RegionId::sets, mesh_).word[0] = 3;
    free(allocate(0, 10, 1'000, names_[0]), 20);
    allocate(0, 110, 10, names_[1]);
    const PeakPage on_one = page({.device = "0"});
    EXPECT_EQ(on_one.processes.at(0).requested, 10u);
    EXPECT_EQ(on_one.processes.at(0).used_peak, std::nullopt);
    EXPECT_THAT(on_one.inexact, ElementsAre(Inexactness{7, Reason::sets_not_kept, 2}));
    EXPECT_EQ(peak().requested, 1'000u) << "without a device they need not be known";
}

TEST_F(PeakContents, AnAllocationHasTheLastNameThatItHad) {
    const SlotRef live = allocate(0, 10, 10, names_[0]);
    const SlotRef freed = allocate(1, 20, 20, names_[0]);
    for (const SlotRef& slot : {live, freed}) {
        auto& entry = segment_.entry<segment::LedgerSlot>(RegionId::ledger, slot.slot);
        segment::tag_slot(entry.word[0], entry.word[segment::kNamingWord], slot.generation,
                          [&](uint32_t) { return names_[slot.slot + 1]; });
    }
    free(freed, 30);
    EXPECT_THAT(peak().names, ElementsAre(PeakName{"kv_cache", 20, 1}, PeakName{"activations", 10, 1}));
}

TEST_F(PeakContents, AfterALossItIsTheHighestSinceThen) {
    const uint64_t start = segment::monotonic_now() / kTick - 1'000'000;
    free(allocate(0, start, 1'000, names_[0]), start + 1);
    allocate(0, start + 2, 100, names_[0]);
    const SlotRef before = allocate(1, start + 3, 10, names_[1]);
    write_others(kKept - 2, start + 10);
    free(before, start + 20);
    allocate(1, start + 30, 3, names_[2]);
    const PeakPage found = page();
    const ProcessPeak& highest = found.processes.at(0);
    EXPECT_EQ(highest.requested, 110u);
    EXPECT_EQ(highest.requested_now, 103u);
    EXPECT_EQ(highest.used_peak, 1'001u) << "the counters know it";
    EXPECT_THAT(highest.names, ElementsAre(PeakName{"weights", 100, 1}, PeakName{"activations", 10, 1}));
    ASSERT_TRUE(highest.since_ns);
    EXPECT_EQ(highest.time_ns, *highest.since_ns) << "it was so when the records begin";
    const uint64_t age = segment::monotonic_now() - (start + 10) * kTick;
    EXPECT_LE(kNow - *highest.since_ns, age);
    EXPECT_GT(kNow - *highest.since_ns, age / 2);
    EXPECT_EQ(highest.missing_records, 4u);
    EXPECT_THAT(found.inexact, ElementsAre(Inexactness{7, Reason::events_not_kept, 4}));
}

TEST_F(PeakContents, RecordsBeforeAnotherRingBeginsAreNotUsed) {
    const SlotRef kept = allocate(0, 10, 1'000, names_[0], 0);
    const SlotRef lost = allocate(1, 11, 50, names_[1], 1);
    free(lost, 12, 1);
    free(kept, 13, 0);
    write_others(kKept, 100, 1);
    allocate(0, 110, 5, names_[2], 0);
    const PeakPage found = page();
    EXPECT_EQ(found.processes.at(0).requested, 5u) << "what thread 1 did at time 10 is not known";
    EXPECT_EQ(found.processes.at(0).missing_records, 2u);
}

TEST_F(PeakContents, AtEqualTimesAllocationsComeBeforeFreesAndASlotKeepsItsOrder) {
    const SlotRef one = allocate(0, 10, 10, names_[0]);
    free(one, 20, 1);
    allocate(1, 20, 7, names_[1]);
    EXPECT_EQ(peak().requested, 17u);
    free(allocate(0, 20, 100, names_[2], 1), 20, 1);
    EXPECT_EQ(peak().requested, 117u - 10u) << "the slot was free before it was used again";
}

TEST_F(PeakContents, ASlotKeepsItsOrderWhereClocksDoNot) {
    free(allocate(0, 30, 10, names_[0], 0), 29, 1);
    allocate(0, 28, 20, names_[1], 0);
    EXPECT_EQ(peak().requested, 20u);
    EXPECT_EQ(peak().requested_now, 20u);
}

TEST_F(PeakContents, RecordsThatContradictTheSlotAreCountedAndLeftOut) {
    free(allocate(0, 10, 100, names_[0]), 20);
    segment::Event event;
    event.ticks = 25 * kTick;
    event.requested = 1'000;
    for (const auto& [type, slot] : std::vector<std::pair<segment::EventType, SlotRef>>{
             {segment::EventType::free, {5, 2}},         // never allocated
             {segment::EventType::allocate, {6, 2}},     // an even generation
             {segment::EventType::allocate, {0, 1}},     // twice
             {segment::EventType::allocate, {7, 1}}}) {  // and never freed before ...
        event.type = type;
        event.slot = slot;
        thread(0).append(event);
    }
    event.slot = {7, 3};  // ... this
    event.requested = 1;
    thread(0).append(event);
    const PeakPage found = page();
    EXPECT_EQ(found.processes.at(0).requested, 100u);
    EXPECT_EQ(found.processes.at(0).requested_now, 1u);
    ASSERT_THAT(found.inexact, SizeIs(1));
    EXPECT_EQ(found.inexact[0].reason, Reason::records_contradict);
    EXPECT_GE(found.inexact[0].count, 4u);
}

TEST_F(PeakContents, AnEventInFlightIsSettling) {
    allocate(0, 10, 10, names_[0]);
    segment::Allocation a = allocation(mesh_, AllocationKind::dram, 0, 500, 500);
    a.ticks = 20 * kTick;
    segment_.add_to_ledger(a);
    const PeakPage found = page();
    EXPECT_EQ(found.processes.at(0).requested, 10u);
    EXPECT_THAT(found.inexact, ElementsAre(Inexactness{7, Reason::settling, 1}));
}

TEST_F(PeakContents, AFreeInFlightIsSettlingIfNoRecordHasTheAllocation) {
    const SlotRef old = allocate(0, 10, 10, names_[0]);
    allocate(1, 11, 10, names_[0]);
    write_others(kKept, 20);
    EXPECT_THAT(page().inexact, SizeIs(1)) << "the loss";
    auto& slot = segment_.entry<segment::LedgerSlot>(RegionId::ledger, old.slot);
    slot.retire(old.generation);
    segment_.entry<segment::WriterLine>(RegionId::writers, 0).intent = SlotRef{0, 2}.pack();
    EXPECT_THAT(page().inexact, testing::Contains(Inexactness{7, Reason::settling, 1}));
}

TEST_F(PeakContents, WhatWasAllocatedAfterThePresentIsLeftOut) {
    allocate(0, 10, 10, names_[0]);
    allocate(1, UINT64_MAX / kTick / 32, 500, names_[1]);
    EXPECT_EQ(peak().requested, 10u);
}

TEST_F(PeakContents, TheOldestRecordsAreLeftOutWhereThereAreTooMany) {
    free(allocate(0, 10, 1'000, names_[0]), 20);
    for (uint32_t i = 0; i < 4; ++i) {
        allocate(i, 30 + i, 1, names_[1]);
    }
    const PeakPage found = page({}, 8);  // 2 of each ring
    EXPECT_EQ(found.processes.at(0).requested, 4u);
    EXPECT_EQ(found.processes.at(0).missing_records, 4u);
    EXPECT_EQ(page({}, 12).processes.at(0).missing_records, 0u) << "all fit, if only one ring has them";
    const PeakPage none = page({}, 0);
    EXPECT_EQ(none.processes.at(0).requested, 4u) << "what is live now";
    EXPECT_EQ(none.processes.at(0).missing_records, 6u);
}

TEST_F(PeakContents, ProcessesOfAUserShareTheRecords) {
    free(allocate(0, 10, 1'000, names_[0]), 20);
    for (uint32_t i = 0; i < 4; ++i) {
        allocate(i, 30 + i, 1, names_[1]);
    }
    Census census = census_of(segment_.process(7), segment_.process(8));
    EXPECT_EQ(find_peaks(census, {}, kNow, UINT64_MAX, 20)->processes.at(0).missing_records, 4u);
    EXPECT_EQ(find_peaks(census, {.pid = 7}, kNow, UINT64_MAX, 20)->processes.at(0).missing_records, 0u);
    census.processes[1].identity.uid = kUser;
    EXPECT_EQ(find_peaks(census, {}, kNow, UINT64_MAX, 20)->processes.at(0).missing_records, 0u);
}

TEST_F(PeakContents, NamesAreLimitedPerProcessAndInAll) {
    for (uint32_t i = 0; i < 3; ++i) {
        allocate(i, 10 + i, 10 - i, names_[i]);
    }
    const Census census = census_of(segment_.process(7), segment_.process(8));
    const auto limited = find_peaks(census, {.limit = 2}, kNow, 3);
    EXPECT_THAT(limited->processes.at(0).names,
                ElementsAre(PeakName{"weights", 10, 1}, PeakName{"activations", 9, 1}));
    EXPECT_EQ(limited->processes.at(0).left_out(), 1u);
    EXPECT_THAT(limited->processes.at(1).names, SizeIs(1));
    EXPECT_EQ(limited->processes.at(1).total, 3u);
}

TEST_F(PeakContents, LedgersThatMayNotBeScannedAreLeftOut) {
    allocate(0, 10, 10, names_[0]);
    Census census = census_of(segment_.process(7));
    census.processes[0].is_beyond_share = true;
    EXPECT_THAT(find_peaks(census, {}, kNow)->processes, IsEmpty());
    census.processes[0].is_beyond_share = false;
    census.processes[0].is_hidden = true;
    EXPECT_THAT(find_peaks(census, {}, kNow)->processes, IsEmpty());
}

// A hostile segment can't make it crash or overflow.
TEST_F(PeakContents, AnyRecordsAndSlotsAreRead) {
    std::mt19937_64 random(7);
    for (int round = 0; round < 300; ++round) {
        for (uint32_t line = 0; line < 2; ++line) {
            for (uint32_t i = 0; i < 16; ++i) {
                auto& record = segment_.entry<segment::RingRecord>(RegionId::rings, line);
                (&record)[i].word[0] = random() % 64 << 8 | (random() % 2 << 3) | (1 + random() % 2);
                (&record)[i].word[1] = SlotRef{static_cast<uint32_t>(random() % 4), random() % 8}.pack();
                (&record)[i].word[3] = random();
            }
            segment_.entry<segment::WriterLine>(RegionId::writers, line).head = random() % 40;
            segment_.entry<segment::WriterLine>(RegionId::writers, line).intent = random() % 3;
        }
        for (uint32_t i = 0; i < 4; ++i) {
            auto& slot = segment_.entry<segment::LedgerSlot>(RegionId::ledger, i);
            slot.word[0] = random() % 8;
            slot.word[segment::kRequestedWord] = random();
            slot.word[segment::kTicksWord] = random() % 1024;
            slot.word[segment::kNamingWord] = random();
            slot.word[segment::kWhatWord] = random() % 2 << 8;
        }
        segment_.header().slots_used = 4;
        for (const ProcessPeak& found : page().processes) {
            EXPECT_GE(found.requested, found.requested_now);
        }
    }
}

// The same from a list of all events.
struct PeakModel {
    struct ModelEvent {
        uint64_t time = 0;
        uint32_t line = 0;
        uint32_t name = 0;
        int64_t bytes = 0;  // negative: freed
    };
    std::vector<ModelEvent> events;

    // Events up to this time are not usable, because a ring has lost some of them; 0: none is lost.
    uint64_t reach() const {
        uint64_t result = 0;
        for (uint32_t line = 0; line < 2; ++line) {
            std::vector<uint64_t> times;
            for (const ModelEvent& event : events) {
                if (event.line == line) {
                    times.push_back(event.time);
                }
            }
            if (times.size() > kKept) {
                result = std::max(result, times[times.size() - kKept]);
            }
        }
        return result;
    }

    struct Highest {
        uint64_t requested = 0;
        std::map<uint32_t, uint64_t> names = {};
    };
    Highest highest() const {
        Highest best;
        std::map<uint32_t, uint64_t> names;
        uint64_t sum = 0;
        bool has_best = false;
        const uint64_t first = reach();
        for (size_t i = 0; i < events.size(); ++i) {
            sum += static_cast<uint64_t>(events[i].bytes);
            names[events[i].name] += static_cast<uint64_t>(events[i].bytes);
            const bool is_usable = events[i].time >= first;
            if (is_usable && (!has_best || sum > best.requested)) {
                has_best = true;
                best = {sum, names};
            }
        }
        std::erase_if(best.names, [](const auto& entry) { return entry.second == 0; });
        return best;
    }
};

TEST(PeakContentsModel, RandomEventsOfTwoThreadsGiveWhatTheListOfAllEventsGives) {
    for (uint32_t seed = 0; seed < 200; ++seed) {
        class Random : public PeakContents {
        public:
            void TestBody() override {}
            void run(uint32_t seed) {
                std::mt19937 random(seed);
                PeakModel model;
                std::map<uint32_t, std::pair<SlotRef, PeakModel::ModelEvent>> live;
                const uint64_t events = 1 + random() % 60;
                for (uint64_t i = 0; i < events; ++i) {
                    const auto slot = static_cast<uint32_t>(random() % 6);
                    const auto line = static_cast<uint32_t>(random() % 2);
                    PeakModel::ModelEvent event{10 + i, line, 0, 0};
                    if (const auto found = live.find(slot); found != live.end()) {
                        free(found->second.first, event.time, line);
                        event.name = found->second.second.name;
                        event.bytes = -found->second.second.bytes;
                        live.erase(found);
                    } else {
                        event.name = names_[random() % names_.size()];
                        event.bytes = 1 + static_cast<int64_t>(random() % 1'000);
                        live[slot] = {
                            allocate(slot, event.time, static_cast<uint64_t>(event.bytes), event.name, line),
                            event};
                    }
                    model.events.push_back(event);
                }
                compare(model);
            }
            void compare(const PeakModel& model) {
                const PeakPage found = page();
                const PeakModel::Highest expected = model.highest();
                ASSERT_THAT(found.processes, SizeIs(1));
                const ProcessPeak& peak = found.processes[0];
                EXPECT_EQ(peak.requested, expected.requested);
                EXPECT_EQ(peak.since_ns.has_value(), model.reach() != 0);
                EXPECT_EQ(found.inexact.empty(), model.reach() == 0);
                std::map<std::string, uint64_t> names;
                for (const PeakName& name : peak.names) {
                    names[name.name] = name.requested;
                }
                std::map<std::string, uint64_t> expected_names;
                for (const auto& [name, bytes] : expected.names) {
                    expected_names[segment_.process(7).ledger->name(name)] = bytes;
                }
                EXPECT_EQ(names, expected_names);
            }
        } random;
        SCOPED_TRACE(seed);
        random.run(seed);
    }
}

}  // namespace
}  // namespace ttmem::census
