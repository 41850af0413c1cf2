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

}  // namespace
}  // namespace ttmem::census
