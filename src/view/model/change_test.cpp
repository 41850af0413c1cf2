// SPDX-License-Identifier: Apache-2.0
#include "view/model/change.hpp"

#include <gtest/gtest.h>

#include "view/json/json.hpp"
#include "view/testing/views_test_support.hpp"

namespace ttmem::view {
namespace {

TEST(Change, ReplacesWhatIsThereAddsWhatIsNewAndTakesOutWhatIsGone) {
    View view = t3000();
    ViewChange change;
    change.devices = {n300(9), n300(3)};
    change.devices[1].board = "changed";
    change.processes = {process(5000, "new", {})};
    change.gone_devices = {7};
    change.gone_processes = {4711, 77};
    apply(change, view);
    ASSERT_EQ(view.figures.devices.size(), 8u);
    EXPECT_EQ(view.figures.devices[3].board, "changed");
    EXPECT_EQ(view.figures.devices[6].id, 6u);
    EXPECT_EQ(view.figures.devices[7].id, 9u);
    ASSERT_EQ(view.figures.processes.size(), 2u);
    EXPECT_EQ(view.figures.processes[0].pid, 5000u);
    EXPECT_EQ(view.figures.processes[1].pid, 12345u);
}

TEST(Change, KeepsReasonsThatItDoesNotName) {
    View view = inexact();
    const auto reasons = view.figures.inexact;
    apply(*from_json<ViewChange>(
              R"({"schema":1,"devices":[],"processes":[],"gone_devices":[],"gone_processes":[]})"),
          view);
    EXPECT_EQ(view.figures.inexact, reasons);
    apply(*from_json<ViewChange>(R"({"schema":1,"exact":true,"inexact":[],"devices":[],"processes":[]})"),
          view);
    EXPECT_TRUE(view.is_exact());
}

TEST(Change, ReadsEntriesAsTheyStandInAView) {
    const auto change = from_json<ViewChange>(to_json(with_driver()));
    ASSERT_TRUE(change);
    EXPECT_EQ(change->devices, with_driver().figures.devices);
    EXPECT_EQ(change->processes, with_driver().figures.processes);
    EXPECT_EQ(change->inexact, with_driver().figures.inexact);
    EXPECT_FALSE(from_json<ViewChange>("{}"));
    EXPECT_FALSE(from_json<ViewChange>(R"({"schema":1,"devices":7})"));
}

}  // namespace
}  // namespace ttmem::view
