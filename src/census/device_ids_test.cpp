// SPDX-License-Identifier: Apache-2.0
#include "census/device_ids.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "census/segment_test_support.hpp"

namespace ttmem::census {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Devices that a process calls 0, 1, 2 and so on.
std::vector<ReportedDevice> reported(const std::vector<uint64_t>& asic_ids, uint32_t uid) {
    std::vector<ReportedDevice> result;
    for (const uint64_t asic_id : asic_ids) {
        result.push_back({asic_key(asic_id), static_cast<uint32_t>(result.size()), uid});
    }
    return result;
}

ReportedDevice number_only(uint32_t number) { return {{DeviceKey::KeyType::number, number}, number, kUser}; }

DriverDevice on_bus(uint32_t id, std::optional<uint64_t> asic_id) {
    DriverDevice device;
    device.id = id;
    device.asic_id = asic_id;
    return device;
}

struct DeviceIdsTest : testing::Test {
    void assign(const std::vector<uint64_t>& asic_ids, uint32_t uid = kUser) {
        ids.assign(reported(asic_ids, uid));
    }
    std::optional<uint32_t> id_of(uint64_t asic_id) const { return ids.id_of(asic_key(asic_id)); }

    uint64_t now_ns = 1'000;
    DeviceIds ids{[this] { return now_ns; }};
};

TEST_F(DeviceIdsTest, AreTheNumbersThatTheProcessUses) {
    ids.assign({{asic_key(0x20), 0, kUser}, {asic_key(0x10), 1, kUser}, {asic_key(0x05), 7, kUser}});
    EXPECT_EQ(id_of(0x20), 0u);
    EXPECT_EQ(id_of(0x10), 1u);
    EXPECT_EQ(id_of(0x05), 7u);
    EXPECT_EQ(id_of(0x40), std::nullopt);
}

TEST_F(DeviceIdsTest, WhoComesFirstHasTheNumberAndTheNextTheLowestFreeOne) {
    ids.assign({{asic_key(0x20), 0, kUser}, {asic_key(0x30), 2, kUser}, {asic_key(0x10), 0, kOtherUser}});
    EXPECT_EQ(id_of(0x20), 0u);
    EXPECT_EQ(id_of(0x10), 1u);
    assign({0x10, 0x05});
    EXPECT_EQ(id_of(0x10), 1u) << "it keeps its number";
    EXPECT_EQ(id_of(0x05), 3u);
}

TEST_F(DeviceIdsTest, AHugeNumberOfAProcessIsNotUsed) {
    ids.assign({{asic_key(0x20), 4'000'000'000, kUser}});
    EXPECT_EQ(id_of(0x20), 0u);
}

TEST_F(DeviceIdsTest, OnlyAProcessThatCallsADeviceSoGivesItANumberThatOthersUseWithoutAsicId) {
    EXPECT_EQ(ids.assign({number_only(0), number_only(1)}).size(), 2u);
    ids.assign({{asic_key(0x20), 0, kUser}, {asic_key(0x30), 0, kUser}});
    EXPECT_EQ(id_of(0x20), 0u) << "device 0 of both";
    EXPECT_EQ(id_of(0x30), 2u) << "its process does not call it 1";
    now_ns += DeviceIds::kKeptNs + 1;
    assign({0x20});
    assign({0x40});
    EXPECT_EQ(id_of(0x40), 1u) << "nobody uses 1 any more";
}

TEST_F(DeviceIdsTest, AChipWithoutAsicIdIsNotTheOneThatHasItsNumber) {
    const auto assigned = ids.assign({{asic_key(0x20), 0, kUser}, {unnamed_key(0), 0, kUser}});
    EXPECT_EQ(assigned.at(asic_key(0x20)), 0u);
    EXPECT_EQ(assigned.at(unnamed_key(0)), 1u);
    ids.set_driver_devices({on_bus(0, std::nullopt)});
    EXPECT_EQ(ids.id_of(unnamed_key(0)), 0u) << "the driver says which one is 0";
    EXPECT_EQ(id_of(0x20), 1u);
}

TEST_F(DeviceIdsTest, AnEntryThatDescribesAChipIsMoreThanANumber) {
    ttmem_device_info info{};
    info.logical_id = 3;
    EXPECT_EQ(key_of(info), (DeviceKey{DeviceKey::KeyType::number, 3}));
    info.arch = TTMEM_ARCH_BLACKHOLE;
    EXPECT_EQ(key_of(info), unnamed_key(3));
    info.asic_id = 0x10;
    EXPECT_EQ(key_of(info), asic_key(0x10));
    EXPECT_EQ(key_of(small_chip(0, 4)), unnamed_key(4));
}

TEST_F(DeviceIdsTest, BeyondTheShareOfAUserThereAreNone) {
    assign({5});
    EXPECT_EQ(ids.assign(reported(invented_asic_ids(10'000, 1'000), kUser)).size(),
              DeviceIds::kMostPerUser - 1);
    EXPECT_EQ(id_of(5), 0u);
    EXPECT_EQ(id_of(1'000), 1u);
    EXPECT_EQ(id_of(10'999), std::nullopt);
}

TEST_F(DeviceIdsTest, ARealDeviceFindsRoomBesideAUserThatInventsDevices) {
    for (uint64_t first = 1'000; first < 100'000; first += 1'000) {
        assign(invented_asic_ids(1'000, first));
    }
    assign({7}, kOtherUser);
    EXPECT_EQ(id_of(7), DeviceIds::kMostPerUser);
}

TEST_F(DeviceIdsTest, ADeviceOfTheDriverHasTheDriversNumberWhoeverHadItBefore) {
    assign({0x10, 0x20, 0x30});
    ids.set_driver_devices({on_bus(0, 0x20), on_bus(1, 0x40)});
    EXPECT_EQ(id_of(0x20), 0u);
    EXPECT_EQ(id_of(0x40), 1u);
    EXPECT_EQ(id_of(0x30), 2u);
    EXPECT_EQ(id_of(0x10), 3u);
    ids.set_driver_devices({on_bus(0, 0x40), on_bus(1, 0x20)});
    EXPECT_EQ(id_of(0x40), 0u);
    EXPECT_EQ(id_of(0x20), 1u);
}

TEST_F(DeviceIdsTest, ADeviceThatTwoUsersReportCountsAgainstTheOneWithFewer) {
    assign(invented_asic_ids(DeviceIds::kMostPerUser, 1'000));
    assign({1'000, 1'001}, kOtherUser);
    assign({1, 2, 3});
    EXPECT_TRUE(id_of(1));
    EXPECT_TRUE(id_of(2));
    EXPECT_FALSE(id_of(3)) << "two devices left the share";
}

TEST_F(DeviceIdsTest, UsersThatReportEachOthersDevicesHaveNoMoreRoomThanTheirShares) {
    for (uint64_t first = 1'000; first < 20'000; first += 100) {
        assign(invented_asic_ids(100, first));
        assign(invented_asic_ids(100, first), kOtherUser);
    }
    size_t known = 0;
    for (uint64_t asic_id = 1'000; asic_id < 20'000; ++asic_id) {
        known += id_of(asic_id) ? 1u : 0u;
    }
    EXPECT_LE(known, 2 * DeviceIds::kMostPerUser);
    assign({5}, kThirdUser);
    EXPECT_TRUE(id_of(5));
}

TEST_F(DeviceIdsTest, ADeviceOfTheDriverCountsAgainstNobody) {
    assign(invented_asic_ids(DeviceIds::kMostPerUser, 1'000));
    ids.set_driver_devices({on_bus(0, 1'000)});
    assign({1});
    EXPECT_TRUE(id_of(1));
}

TEST_F(DeviceIdsTest, GiveTheNumberBackWhenTheDeviceWasNotSeenForTenMinutes) {
    assign(invented_asic_ids(DeviceIds::kMostPerUser, 1'000));
    now_ns += DeviceIds::kKeptNs;
    assign({1'005});
    EXPECT_EQ(id_of(1'000), 0u);
    now_ns += 1;
    assign({2, 1});
    EXPECT_EQ(id_of(1'000), std::nullopt);
    EXPECT_EQ(id_of(2), 0u);
    EXPECT_EQ(id_of(1), 1u);
    EXPECT_EQ(id_of(1'005), 5u) << "it was seen";
}

TEST_F(DeviceIdsTest, NumbersOfTheDriverAreNotGivenToOthers) {
    ids.set_driver_devices({on_bus(3, 0x30)});
    assign({0x10});
    EXPECT_EQ(id_of(0x10), 4u);
    now_ns += 2 * DeviceIds::kKeptNs;
    assign({0x20});
    EXPECT_EQ(id_of(0x20), 4u) << "the driver may list 3 again";
    EXPECT_TRUE(ids.was_listed_by_driver(0x30));
}

TEST_F(DeviceIdsTest, TheLargestNumberOfADriverWrapsNothing) {
    assign({0x10});
    ids.set_driver_devices({on_bus(UINT32_MAX, 0x30)});
    assign({0x20, 0x40});
    EXPECT_EQ(id_of(0x30), UINT32_MAX);
    EXPECT_EQ(id_of(0x10), 0u);
    EXPECT_EQ(id_of(0x20), 1u);
    EXPECT_EQ(id_of(0x40), 2u);
}

TEST_F(DeviceIdsTest, AreSavedAfterEachChangeAndOnlyThen) {
    std::vector<std::vector<DeviceNumber>> saved;
    ids.set_save([&](const std::vector<DeviceNumber>& numbers) { saved.push_back(numbers); });
    ids.set_driver_devices({on_bus(0, 0x30)});
    ids.assign({{asic_key(0x10), 4, kUser}}, {on_bus(0, 0x30)});
    ids.assign({{asic_key(0x10), 4, kUser}, number_only(0)}, {on_bus(0, 0x30)});
    const DeviceNumber of_driver{asic_key(0x30), 0, std::nullopt};
    EXPECT_THAT(saved, ElementsAre(ElementsAre(of_driver),
                                   ElementsAre(of_driver, DeviceNumber{asic_key(0x10), 4, kUser})));
    now_ns += DeviceIds::kKeptNs + 1;
    ids.assign({});
    EXPECT_THAT(saved.back(), IsEmpty());
}

TEST_F(DeviceIdsTest, AreRestoredFromATableAndGivenBackIfNobodyReportsThem) {
    ids.restore({{asic_key(0x30), 0, std::nullopt}, {asic_key(0x10), 5, kUser}, {asic_key(0x99), 0, kUser}},
                false);
    EXPECT_EQ(id_of(0x10), 5u);
    EXPECT_EQ(id_of(0x99), std::nullopt) << "0 is taken";
    EXPECT_TRUE(ids.was_listed_by_driver(0x30));
    EXPECT_FALSE(ids.is_shared(asic_key(0x10)));
    EXPECT_TRUE(ids.is_shared(asic_key(0x30)));
    assign({0x20, 0x10});
    EXPECT_EQ(id_of(0x10), 5u);
    EXPECT_EQ(id_of(0x20), 1u);
    now_ns += DeviceIds::kKeptNs + 1;
    assign({0x10});
    EXPECT_EQ(id_of(0x10), 0u);
}

TEST_F(DeviceIdsTest, OfASharedTableAreThoseOfOtherViews) {
    ids.restore({{asic_key(0x10), 5, kUser}}, true);
    assign({0x10, 0x20});
    EXPECT_TRUE(ids.is_shared(asic_key(0x10)));
    EXPECT_FALSE(ids.is_shared(asic_key(0x20)));
}

TEST_F(DeviceIdsTest, ATableGivesNoUserMoreThanItsShare) {
    std::vector<DeviceNumber> numbers;
    for (uint32_t id = 0; id < 2 * DeviceIds::kMostPerUser; ++id) {
        numbers.push_back({asic_key(1'000 + id), id, kUser});
    }
    ids.restore(numbers, false);
    EXPECT_EQ(id_of(1'000 + DeviceIds::kMostPerUser), std::nullopt);
    assign({5}, kOtherUser);
    EXPECT_TRUE(id_of(5));
}

TEST_F(DeviceIdsTest, OfAProcessAreEmptyForEntriesThatCanNotBeReadOrAreBeyondTheShare) {
    assign(invented_asic_ids(DeviceIds::kMostPerUser, 1'000));
    ttmem_device_info known{};
    known.asic_id = 1'003;
    known.logical_id = 9;
    ttmem_device_info beyond{};
    beyond.asic_id = 1;
    ttmem_device_info numbered{};
    numbered.logical_id = 77;
    EXPECT_EQ(number_devices({known, std::nullopt, beyond, numbered}, kUser, ids),
              (std::vector<std::optional<NumberedDevice>>{NumberedDevice{3, 9}, std::nullopt, std::nullopt,
                                                          NumberedDevice{77, 77}}));
}

}  // namespace
}  // namespace ttmem::census
