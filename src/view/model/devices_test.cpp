// SPDX-License-Identifier: Apache-2.0
#include "view/model/devices.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "view/testing/views_test_support.hpp"

namespace ttmem::view {
namespace {

using testing::HasSubstr;

TEST(Devices, AreFoundByNumberNodeBusAddressAndAsicId) {
    const View view = with_driver();
    for (const char* name : {"1", "/dev/tenstorrent/1", "0000:02:00.0", "0x2620a2", "0X2620A2"}) {
        const census::DeviceFigures* device = find_device(view, name);
        ASSERT_NE(device, nullptr) << name;
        EXPECT_EQ(device->id, 1u) << name;
    }
    for (const char* name : {"", "9", "01", "-1", "0x", "/dev/tenstorrent/", "0000:09:00.0"}) {
        EXPECT_EQ(find_device(view, name), nullptr) << name;
    }
}

TEST(Devices, KeepDevicesKeepsOnlyTheirProcessesAndWhatTheseHoldThere) {
    View view = t3000();
    EXPECT_EQ(keep_devices(view, {"7"}), std::nullopt);
    ASSERT_EQ(view.figures.devices.size(), 1u);
    EXPECT_EQ(view.figures.processes.size(), 2u);
    EXPECT_EQ(view.figures.processes[0].devices.size(), 1u);
    view = t3000();
    EXPECT_EQ(keep_devices(view, {"0"}), std::nullopt);
    EXPECT_EQ(view.figures.processes.size(), 1u) << "the other is not on it";
    EXPECT_THAT(*keep_devices(view, {"5"}), HasSubstr("there is no device 5"));
}

TEST(Devices, KeepDevicesKeepsTheReasonsOfTheHostAndOfItsProcesses) {
    View view = with_driver();
    view.figures.inexact.push_back({0, census::Reason::scan_running, 1});
    view.figures.inexact.push_back({77, census::Reason::segment_skipped, 1});
    EXPECT_EQ(keep_devices(view, {"1"}), std::nullopt);
    std::vector<uint32_t> pids;
    for (const census::Inexactness& reason : view.figures.inexact) {
        pids.push_back(reason.pid);
    }
    EXPECT_EQ(pids, (std::vector<uint32_t>{7150, 0, 77})) << "77 may be on any device";
}

}  // namespace
}  // namespace ttmem::view
