// SPDX-License-Identifier: Apache-2.0
#include "census/device_ids.hpp"

#include <gtest/gtest.h>

namespace ttmem::census {
namespace {

TEST(DeviceIds, AreOrdinalsByAsicId) {
    DeviceIds ids;
    ids.meet({0x30, 0x10, 0x20, 0x10});
    EXPECT_EQ(ids.id_of(0x10), 0u);
    EXPECT_EQ(ids.id_of(0x20), 1u);
    EXPECT_EQ(ids.id_of(0x30), 2u);
}

TEST(DeviceIds, ADeviceMetLaterRenumbersNobody) {
    DeviceIds ids;
    ids.meet({0x30, 0x20});
    ids.meet({0x10, 0x30, 0x05});
    EXPECT_EQ(ids.id_of(0x20), 0u);
    EXPECT_EQ(ids.id_of(0x30), 1u);
    EXPECT_EQ(ids.id_of(0x05), 2u);
    EXPECT_EQ(ids.id_of(0x10), 3u);
}

TEST(DeviceIds, OfDevicesWithoutEndAreBoundedAndStay) {
    DeviceIds ids;
    ids.meet({5});
    std::vector<uint64_t> made_up;
    for (uint64_t asic_id = 1'000; made_up.size() < 2 * DeviceIds::kMost; ++asic_id) {
        made_up.push_back(asic_id);
    }
    ids.meet(made_up);
    EXPECT_EQ(ids.id_of(5), 0u);
    EXPECT_EQ(ids.id_of(1'000), 1u);
    const uint32_t last = ids.id_of(made_up.back());
    EXPECT_GE(last, 0x8000'0000u);
    EXPECT_EQ(ids.id_of(made_up.back()), last);
    EXPECT_NE(ids.id_of(made_up.back() - 1), last);
}

}  // namespace
}  // namespace ttmem::census
