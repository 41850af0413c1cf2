// SPDX-License-Identifier: Apache-2.0
#include "daemon/host_watch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <memory>

namespace ttmem::daemon {
namespace {

using testing::SizeIs;

constexpr auto kForever = std::chrono::hours(1);
constexpr auto kNoPatience = std::chrono::milliseconds(0);

sources::HostFacts one_device() {
    auto driver = std::make_shared<census::Driver>();
    driver->devices.emplace_back();
    sources::HostFacts facts;
    facts.driver = std::move(driver);
    return facts;
}

TEST(HostWatch, HasLookedWhenItsStartReturns) {
    Roster roster;
    HostWatch watch(roster, one_device, kForever);
    watch.start();
    ASSERT_NE(roster.census().driver, nullptr);
    EXPECT_THAT(roster.census().driver->devices, SizeIs(1));
}

TEST(HostWatch, NeitherItsStartNorItsEndWaitForADeviceThatHangs) {
    std::promise<void> hang;
    const auto gone = std::make_shared<std::promise<void>>();
    std::future<void> is_gone = gone->get_future();
    {
        Roster roster;
        // A look that comes back long after the roster is gone: its last copy tells when the thread has ended.
        const std::shared_ptr<void> last(nullptr, [gone](void*) { gone->set_value(); });
        HostWatch watch(
            roster,
            [last, &hang] {
                hang.get_future().wait();
                return one_device();
            },
            kNoPatience);
        watch.start();
        EXPECT_EQ(roster.census().driver, nullptr);
        watch.stop();
    }
    hang.set_value();
    is_gone.wait();
}

TEST(HostWatch, WithoutAStartEndsAtOnce) {
    Roster roster;
    HostWatch(roster, one_device, kForever).stop();
}

}  // namespace
}  // namespace ttmem::daemon
