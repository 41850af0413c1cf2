// SPDX-License-Identifier: Apache-2.0
//
// Regions that the real runtime wrote on a mocked T3000, copied while process 7150 held one buffer of each of two
// kinds.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <iterator>

#include "sources/stock_region/region.hpp"
#include "sources/stock_region/region_writer_test_support.hpp"
#include "sources/stock_region/regions.hpp"

namespace ttmem::sources::stock_region {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr auto kFolder = TTMEM_TEST_DATA "/stock_region";
constexpr uint64_t kAsicIds[] = {10226774059, 10226774169, 10226774183, 10226774186,
                                 14521741355, 14521741465, 14521741479, 14521741482};
constexpr uint32_t kPid = 7150;

class RecordedRegion : public testing::TestWithParam<uint64_t> {};

TEST_P(RecordedRegion, HasTheHoldingsOfTheProcess) {
    const std::string path = std::string(kFolder) + "/tt_device_" + std::to_string(GetParam()) + "_memory";
    std::ifstream file(path, std::ios::binary);
    ASSERT_TRUE(file) << "cannot read " << path;
    const std::vector<char> text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    const auto region = parse(std::vector<unsigned char>(text.begin(), text.end()));
    ASSERT_TRUE(region) << region.error().text;
    EXPECT_EQ(region->version, 3u);
    EXPECT_EQ(region->asic_id, GetParam());
    EXPECT_EQ(region->implausible, 0u);
    ASSERT_EQ(region->slots.size(), 1u);
    EXPECT_EQ(region->slots[0].pid, kPid);
    EXPECT_EQ(region->slots[0].name, "probe4");
    EXPECT_THAT(region->slots[0].requested, ElementsAre(65536, 32768, 0, 0));
}

INSTANTIATE_TEST_SUITE_P(OfEachChip, RecordedRegion, testing::ValuesIn(kAsicIds));

class RecordedRegions : public MadeUpHost {
protected:
    void SetUp() override {
        ASSERT_TRUE(std::filesystem::is_directory(kFolder)) << kFolder << " is missing";
        MadeUpHost::SetUp();
    }
};

TEST_F(RecordedRegions, AreOneProcessOnEightDevices) {
    struct stat info {};
    ASSERT_EQ(
        stat((std::string(kFolder) + "/tt_device_" + std::to_string(kAsicIds[0]) + "_memory").c_str(), &info),
        0);
    write_process(kPid, {.uid = info.st_uid});
    const FoundTotals found = discover(Proc(proc()), kFolder);
    EXPECT_THAT(found.problems, IsEmpty());
    ASSERT_EQ(found.processes.size(), 1u);
    const census::TotalsOnly& process = found.processes[0];
    EXPECT_EQ(process.identity.pid, kPid);
    EXPECT_EQ(process.identity.comm, "py");
    EXPECT_EQ(process.source, census::ProcessSource::stock);
    ASSERT_EQ(process.devices.size(), 8u);
    std::vector<uint32_t> logical_ids;
    for (size_t i = 0; i < 8; ++i) {
        EXPECT_EQ(process.devices[i].asic_id, kAsicIds[i]);
        EXPECT_THAT(process.devices[i].requested,
                    ElementsAre(65536, 32768, 0, 0, std::nullopt, std::nullopt));
        logical_ids.push_back(process.devices[i].logical_id);
    }
    EXPECT_THAT(logical_ids, testing::UnorderedElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
}

TEST_F(RecordedRegions, AreIgnoredOnceTheProcessWasKilled) {
    const FoundTotals found = discover(Proc(proc()), kFolder);
    EXPECT_THAT(found.processes, IsEmpty());
    EXPECT_THAT(found.problems, IsEmpty());
    EXPECT_EQ(found.left_over_slots, 8u);
}

}  // namespace
}  // namespace ttmem::sources::stock_region
