// SPDX-License-Identifier: Apache-2.0
#include "sources/stock_region/cleared_slots.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "sources/stock_region/region_writer_test_support.hpp"

namespace ttmem::sources::stock_region {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const std::string kNote =
    "stock region of ASIC 9: another program cleared the slot of process 11, its figures are too low";

class ClearedSlotsTest : public MadeUpHost {
protected:
    void SetUp() override {
        MadeUpHost::SetUp();
        write_process(11);
        map_regions("7f00-7f01 rw-s 00000000 00:19 3 /dev/shm/tt_device_9_memory\n");
        reader_.emplace(proc());
        cleared_.emplace(*reader_);
    }

    void map_regions(const std::string& lines) const {
        write_text("11/maps", "5500-5501 r-xp 00000000 fe:00 7 /usr/bin/python3.11\n" + lines);
    }
    void write_slot(uint64_t dram, uint64_t seconds = 20) const {
        RegionWriter writer(9);
        writer.add(11, at(seconds), {dram, 0, 0, 0, 0});
        write_region(writer);
    }
    void clear_slot() const { write_region(RegionWriter(9)); }

    std::vector<std::string> notes() {
        std::vector<std::string> result;
        for (const Problem& note : cleared_->compare(discover(*reader_, shm()))) {
            result.push_back(note.text);
        }
        return result;
    }

private:
    std::optional<Proc> reader_;  // of the folder that SetUp() makes
    std::optional<ClearedSlots> cleared_;
};

TEST_F(ClearedSlotsTest, ASlotThatIsGoneWhileItsRegionIsOpenIsNoted) {
    write_slot(100);
    EXPECT_THAT(notes(), IsEmpty());
    EXPECT_THAT(notes(), IsEmpty());
    clear_slot();
    EXPECT_THAT(notes(), ElementsAre(kNote));
}

TEST_F(ClearedSlotsTest, ItIsNotedUntilTheProcessClosesTheRegion) {
    write_slot(100);
    notes();
    clear_slot();
    EXPECT_THAT(notes(), ElementsAre(kNote));
    write_slot(5);  // the process allocated again, from 0
    EXPECT_THAT(notes(), ElementsAre(kNote));
    clear_slot();
    map_regions("");
    EXPECT_THAT(notes(), IsEmpty());
    write_slot(5);
    EXPECT_THAT(notes(), IsEmpty());
}

TEST_F(ClearedSlotsTest, ARegionThatWasRemovedIsStillOpen) {
    write_slot(100);
    notes();
    std::filesystem::remove(region_path(9));
    map_regions("7f00-7f01 rw-s 00000000 00:19 3 /dev/shm/tt_device_9_memory (deleted)\n");
    EXPECT_THAT(notes(), ElementsAre(kNote));
}

TEST_F(ClearedSlotsTest, AClosedDeviceIsNoClearedSlot) {
    write_slot(100);
    notes();
    clear_slot();
    map_regions("7f00-7f01 rw-s 00000000 00:19 3 /dev/shm/tt_device_10_memory\n");
    EXPECT_THAT(notes(), IsEmpty());
}

TEST_F(ClearedSlotsTest, AnEndedProcessIsNoClearedSlot) {
    write_slot(100);
    notes();
    clear_slot();
    std::filesystem::remove_all(std::filesystem::path(proc()) / "11");
    EXPECT_THAT(notes(), IsEmpty());
}

TEST_F(ClearedSlotsTest, AnotherProcessWithThePidIsAnother) {
    write_slot(100);
    notes();
    write_process(11, {.start_seconds = 30});
    clear_slot();
    EXPECT_THAT(notes(), IsEmpty());
    write_slot(7, 40);
    EXPECT_THAT(notes(), IsEmpty());
    clear_slot();
    EXPECT_THAT(notes(), ElementsAre(kNote));
}

TEST_F(ClearedSlotsTest, OtherSlotsOfTheProcessAreNotNoted) {
    write_slot(100);
    RegionWriter other(10);
    other.add(11, at(20), {1, 0, 0, 0, 0});
    write_region(other);
    map_regions(
        "7f00-7f01 rw-s 00000000 00:19 3 /dev/shm/tt_device_9_memory\n"
        "7f01-7f02 rw-s 00000000 00:19 4 /dev/shm/tt_device_10_memory\n");
    notes();
    clear_slot();
    EXPECT_THAT(notes(), ElementsAre(kNote));
}

}  // namespace
}  // namespace ttmem::sources::stock_region
