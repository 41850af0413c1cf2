// SPDX-License-Identifier: Apache-2.0
#include "census/device_claims.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "census/segment_test_support.hpp"

namespace ttmem::census {
namespace {

ttmem_device_info chip_with_dram(uint64_t capacity) {
    ttmem_device_info info = small_chip(0x10, 0);
    info.memory[TTMEM_DRAM].capacity = capacity;
    return info;
}

ttmem_device_info chip_named(const char* board) {
    ttmem_device_info info = small_chip(0x10, 0);
    std::memset(info.board, 0, sizeof info.board);
    std::memcpy(info.board, board, std::strlen(board));
    return info;
}

DeviceClaim claim(const ttmem_device_info& info, uint32_t uid, uint32_t pid, uint64_t start_time,
                  bool is_open = true) {
    return {&info, uid, pid, start_time, is_open};
}

DriverDevice driver_device(const std::string& arch, const std::string& board) {
    DriverDevice device;
    device.asic_id = 0x10;
    device.arch = arch;
    device.board = board;
    return device;
}

TEST(DeviceClaims, WithoutAnyThereIsNoDecision) {
    EXPECT_EQ(decide({}, nullptr).info, nullptr);
    EXPECT_FALSE(decide({}, nullptr).dispute);
}

TEST(DeviceClaims, AmongUsersOfEqualNumberTheOldestProcessDecidesAndTheOtherIsADispute) {
    const auto truth = chip_with_dram(4000);
    const auto lie = chip_with_dram(1);
    const DeviceDecision decision =
        decide({claim(lie, kOtherUser, 3, 200), claim(truth, kUser, 7, 100)}, nullptr);
    EXPECT_EQ(decision.info, &truth);
    ASSERT_TRUE(decision.dispute);
    EXPECT_EQ(decision.dispute->pid, 3u);
    EXPECT_FALSE(decision.dispute->is_with_driver);
    EXPECT_EQ(decision.dispute->users, 1u);
}

TEST(DeviceClaims, TheDescriptionOfMostUsersDecidesNotThatOfMostProcesses) {
    const auto truth = chip_with_dram(4000);
    const auto lie = chip_with_dram(1);
    std::vector<DeviceClaim> claims = {claim(truth, kUser, 70, 300), claim(truth, kThirdUser, 71, 300)};
    for (uint32_t pid = 1; pid < 20; ++pid) {
        claims.push_back(claim(lie, kOtherUser, pid, 100));
    }
    const DeviceDecision decision = decide(claims, nullptr);
    EXPECT_EQ(decision.info->memory[TTMEM_DRAM].capacity, 4000u);
    ASSERT_TRUE(decision.dispute);
    EXPECT_EQ(decision.dispute->pid, 1u);
    EXPECT_EQ(decision.dispute->users, 1u);
}

TEST(DeviceClaims, ADescriptionThatContradictsTheDriverDecidesNothingBesideOneThatDoesNot) {
    const auto lie = chip_named("p150a");
    auto truth = chip_named("n300");
    const DriverDevice driver = driver_device("wormhole_b0", "n300");
    const DeviceDecision decision =
        decide({claim(lie, kOtherUser, 3, 100), claim(lie, kThirdUser, 4, 100), claim(truth, kUser, 7, 200)},
               &driver);
    EXPECT_EQ(decision.info, &truth);
    ASSERT_TRUE(decision.dispute);
    EXPECT_TRUE(decision.dispute->is_with_driver);
    EXPECT_EQ(decision.dispute->users, 2u);
    truth.arch = TTMEM_ARCH_BLACKHOLE;
    EXPECT_TRUE(decide({claim(truth, kUser, 7, 200)}, &driver).dispute);
}

TEST(DeviceClaims, TheDriverMayNameTheVariantOfACard) {
    const auto info = chip_named("p150");
    const DriverDevice driver = driver_device("wormhole_b0", "p150a");
    EXPECT_FALSE(decide({claim(info, kUser, 7, 100)}, &driver).dispute);
}

TEST(DeviceClaims, ProcessesOfOneUserMayOpenADeviceWithOtherSizes) {
    const auto one = chip_with_dram(4000);
    const auto other = chip_with_dram(3000);
    const DeviceDecision decision = decide({claim(other, kUser, 3, 200), claim(one, kUser, 7, 100)}, nullptr);
    EXPECT_EQ(decision.info, &one);
    EXPECT_FALSE(decision.dispute);
}

TEST(DeviceClaims, WhoClosedTheDeviceOrDoesNotKnowItsMemoryHasNoSay) {
    const auto open = chip_with_dram(4000);
    const auto closed = chip_with_dram(3000);
    ttmem_device_info numbered{};
    const DeviceDecision decision = decide({claim(closed, kOtherUser, 3, 1, false),
                                            claim(numbered, kThirdUser, 4, 1), claim(open, kUser, 7, 100)},
                                           nullptr);
    EXPECT_EQ(decision.info, &open);
    EXPECT_FALSE(decision.dispute);
}

TEST(DeviceClaims, AnUnknownValueContradictsNothing) {
    const auto whole = small_chip(0x10, 0);
    auto sparse = small_chip(0x10, 0);
    sparse.arch = TTMEM_ARCH_UNKNOWN;
    sparse.board[0] = '\0';
    sparse.memory[TTMEM_L1] = {};
    EXPECT_FALSE(decide({claim(whole, kUser, 7, 100), claim(sparse, kOtherUser, 8, 100)}, nullptr).dispute);
}

}  // namespace
}  // namespace ttmem::census
