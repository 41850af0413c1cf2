// SPDX-License-Identifier: Apache-2.0
#include "daemon/watch/host_poller.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <memory>

namespace ttmem::daemon {
namespace {

using testing::SizeIs;

constexpr auto kForever = std::chrono::hours(1);
constexpr auto kNoTimeout = std::chrono::milliseconds(0);

sources::HostFacts one_device() {
    auto driver = std::make_shared<census::Driver>();
    driver->devices.emplace_back();
    sources::HostFacts facts;
    facts.driver = std::move(driver);
    return facts;
}

TEST(HostPoller, HasReadTheHostWhenStartReturns) {
    ProcessTable process_table;
    HostPoller watch(process_table, one_device, kForever);
    watch.start();
    ASSERT_NE(process_table.census().driver, nullptr);
    EXPECT_THAT(process_table.census().driver->devices, SizeIs(1));
}

TEST(HostPoller, NeitherStartNorStopWaitsForADeviceThatHangs) {
    std::promise<void> hang;
    const auto gone = std::make_shared<std::promise<void>>();
    std::future<void> is_gone = gone->get_future();
    {
        ProcessTable process_table;
        // A read that returns long after the table has gone. Its last copy reports the end of the thread.
        const std::shared_ptr<void> last(nullptr, [gone](void*) { gone->set_value(); });
        HostPoller watch(
            process_table,
            [last, &hang] {
                hang.get_future().wait();
                return one_device();
            },
            kNoTimeout);
        watch.start();
        EXPECT_EQ(process_table.census().driver, nullptr);
        watch.stop();
    }
    hang.set_value();
    is_gone.wait();
}

TEST(HostPoller, StopsAtOnceIfNeverStarted) {
    ProcessTable process_table;
    HostPoller(process_table, one_device, kForever).stop();
}

}  // namespace
}  // namespace ttmem::daemon
