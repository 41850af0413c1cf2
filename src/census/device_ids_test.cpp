// SPDX-License-Identifier: Apache-2.0
#include "census/device_ids.hpp"

#include <gtest/gtest.h>

#include "census/segment_test_support.hpp"

namespace ttmem::census {
namespace {

TEST(DeviceIds, AreOrdinalsByAsicId) {
    DeviceIds ids;
    ids.assign({0x30, 0x10, 0x20, 0x10}, kUser);
    EXPECT_EQ(ids.id_of(0x10), 0u);
    EXPECT_EQ(ids.id_of(0x20), 1u);
    EXPECT_EQ(ids.id_of(0x30), 2u);
    EXPECT_EQ(ids.id_of(0x40), std::nullopt);
}

TEST(DeviceIds, AreOrdinalsWhoeverReportsTheDevices) {
    DeviceIds ids;
    const auto assigned = ids.assign({{0x30, kUser}, {0x10, kOtherUser}, {0x20, kUser}});
    EXPECT_EQ(assigned, (std::map<uint64_t, uint32_t>{{0x10, 0}, {0x20, 1}, {0x30, 2}}));
}

TEST(DeviceIds, ALaterDeviceRenumbersNoOther) {
    DeviceIds ids;
    ids.assign({0x30, 0x20}, kUser);
    ids.assign({0x10, 0x30, 0x05}, kUser);
    EXPECT_EQ(ids.id_of(0x20), 0u);
    EXPECT_EQ(ids.id_of(0x30), 1u);
    EXPECT_EQ(ids.id_of(0x05), 2u);
    EXPECT_EQ(ids.id_of(0x10), 3u);
}

TEST(DeviceIds, BeyondTheShareOfAUserThereAreNone) {
    DeviceIds ids;
    ids.assign({5}, kUser);
    EXPECT_EQ(ids.assign(invented_asic_ids(10'000, 1'000), kUser).size(), DeviceIds::kMostPerUser - 1);
    EXPECT_EQ(ids.id_of(5), 0u);
    EXPECT_EQ(ids.id_of(1'000), 1u);
    EXPECT_EQ(ids.id_of(10'999), std::nullopt);
}

TEST(DeviceIds, ARealDeviceFindsRoomBesideAUserThatInventsDevices) {
    DeviceIds ids;
    for (uint64_t first = 1'000; first < 100'000; first += 1'000) {
        ids.assign(invented_asic_ids(1'000, first), kUser);
    }
    ids.assign({7}, kOtherUser);
    EXPECT_EQ(ids.id_of(7), DeviceIds::kMostPerUser);
    ids.reserve_up_to(0);
    ids.add_driver_ids({{9, 300}});
    EXPECT_EQ(ids.id_of(9), 300u);
}

TEST(DeviceIds, ADeviceThatTwoUsersReportCountsAgainstTheOneWithFewer) {
    DeviceIds ids;
    ids.assign(invented_asic_ids(DeviceIds::kMostPerUser, 1'000), kUser);
    ids.assign({1'000, 1'001}, kOtherUser);
    ids.assign({1, 2, 3}, kUser);
    EXPECT_TRUE(ids.id_of(1));
    EXPECT_TRUE(ids.id_of(2));
    EXPECT_FALSE(ids.id_of(3)) << "two devices left the share";
}

TEST(DeviceIds, UsersThatReportEachOthersDevicesHaveNoMoreRoomThanTheirShares) {
    DeviceIds ids;
    for (uint64_t first = 1'000; first < 20'000; first += 100) {
        ids.assign(invented_asic_ids(100, first), kUser);
        ids.assign(invented_asic_ids(100, first), kOtherUser);
    }
    size_t known = 0;
    for (uint64_t asic_id = 1'000; asic_id < 20'000; ++asic_id) {
        known += ids.id_of(asic_id) ? 1u : 0u;
    }
    EXPECT_LE(known, 2 * DeviceIds::kMostPerUser);
    ids.assign({5}, kThirdUser);
    EXPECT_TRUE(ids.id_of(5));
}

TEST(DeviceIds, ADeviceOfTheDriverCountsAgainstNobody) {
    DeviceIds ids;
    ids.assign(invented_asic_ids(DeviceIds::kMostPerUser, 1'000), kUser);
    ids.add_driver_ids({{1'000, 0}});
    ids.assign({1}, kUser);
    EXPECT_TRUE(ids.id_of(1));
}

TEST(DeviceIds, GiveTheNumberBackWhenTheDeviceWasNotSeenForTenMinutes) {
    uint64_t now_ns = 1'000;
    DeviceIds ids([&] { return now_ns; });
    ids.assign(invented_asic_ids(DeviceIds::kMostPerUser, 1'000), kUser);
    now_ns += DeviceIds::kKeptNs;
    ids.assign({1'005}, kUser);
    EXPECT_EQ(ids.id_of(1'000), 0u);
    now_ns += 1;
    ids.assign({2, 1}, kUser);
    EXPECT_EQ(ids.id_of(1'000), std::nullopt);
    EXPECT_EQ(ids.id_of(1), 0u);
    EXPECT_EQ(ids.id_of(2), 1u);
    EXPECT_EQ(ids.id_of(1'005), 5u) << "it was seen";
}

TEST(DeviceIds, NumbersOfTheDriverAreNotGivenToOthers) {
    uint64_t now_ns = 0;
    DeviceIds ids([&] { return now_ns; });
    ids.reserve_up_to(3);
    ids.add_driver_ids({{0x30, 3}});
    ids.assign({0x10}, kUser);
    EXPECT_EQ(ids.id_of(0x10), 4u);
    now_ns = 2 * DeviceIds::kKeptNs;
    ids.assign({0x20}, kUser);
    EXPECT_EQ(ids.id_of(0x20), 4u) << "the driver may list 3 again";
    EXPECT_TRUE(ids.was_listed_by_driver(0x30));
}

TEST(DeviceIds, TheLargestNumberOfADriverWrapsNothing) {
    DeviceIds ids;
    ids.assign({0x10}, kUser);
    ids.reserve_up_to(UINT32_MAX);
    ids.add_driver_ids({{0x30, UINT32_MAX}});
    ids.assign({0x20, 0x40}, kUser);
    EXPECT_EQ(ids.id_of(0x30), UINT32_MAX);
    EXPECT_EQ(ids.id_of(0x10), 0u);
    EXPECT_EQ(ids.id_of(0x20), 1u);
    EXPECT_EQ(ids.id_of(0x40), 2u);
}

TEST(DeviceIds, OfAProcessAreEmptyForEntriesThatCanNotBeReadOrAreBeyondTheShare) {
    DeviceIds ids;
    ids.assign(invented_asic_ids(DeviceIds::kMostPerUser, 1'000), kUser);
    ttmem_device_info known{};
    known.asic_id = 1'003;
    ttmem_device_info beyond{};
    beyond.asic_id = 1;
    ttmem_device_info numbered{};
    numbered.logical_id = 77;
    EXPECT_EQ(device_ids_of({known, std::nullopt, beyond, numbered}, kUser, ids),
              (std::vector<std::optional<uint32_t>>{3, std::nullopt, std::nullopt, 77}));
}

}  // namespace
}  // namespace ttmem::census
