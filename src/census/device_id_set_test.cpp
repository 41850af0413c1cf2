// SPDX-License-Identifier: Apache-2.0
#include "census/device_id_set.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ttmem::census {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

TEST(DeviceLists, AreSeparatedByCommasAndHaveRanges) {
    EXPECT_THAT(split_device_list("3"), ElementsAre("3"));
    EXPECT_THAT(split_device_list("0-2,0x1f,0000:01:00.0"),
                ElementsAre("0", "1", "2", "0x1f", "0000:01:00.0"));
    EXPECT_THAT(split_device_list("5-5"), ElementsAre("5"));
    EXPECT_THAT(split_device_list("4294967294-4294967295"), ElementsAre("4294967294", "4294967295"));
}

TEST(DeviceLists, LeaveWhatIsNotARange) {
    for (const char* text : {"", "-", "3-", "-3", "3-1", "0-64", "0-4294967295", "a-b", "1-2-3", "0x1-0x3"}) {
        EXPECT_THAT(split_device_list(text), ElementsAre(text));
    }
    EXPECT_THAT(split_device_list("0-63"), SizeIs(kMostInDeviceRange));
    EXPECT_THAT(split_device_list("1,,2,"), ElementsAre("1", "", "2", ""));
}

TEST(DeviceIdSets, SelectAllIfTheyAreEmpty) {
    DeviceIdSet set;
    EXPECT_TRUE(set.selects(7));
    set.add(3);
    set.add(0);
    EXPECT_TRUE(set.selects(3) && set.selects(0));
    EXPECT_FALSE(set.selects(7));
    EXPECT_EQ(set.text(), "0,3");
    EXPECT_EQ(DeviceIdSet(4).text(), "4");
}

}  // namespace
}  // namespace ttmem::census
