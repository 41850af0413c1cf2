// SPDX-License-Identifier: Apache-2.0
#include "daemon/api/view_changes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ttmem::daemon {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

view::View view_of(std::vector<uint32_t> pids, uint64_t used = 0) {
    view::View view{{"host", 1, view::OriginSource::daemon}, {}};
    view.figures.devices.emplace_back().memory[0].used = used;
    for (const uint32_t pid : pids) {
        view.figures.processes.emplace_back().pid = pid;
    }
    return view;
}

TEST(ViewChanges, AViewThatDiffersOnlyInItsTimeIsNoNewState) {
    ViewChanges changes;
    EXPECT_TRUE(changes.update(view_of({7})));
    view::View later = view_of({7});
    later.origin.time_ns = 2;
    EXPECT_FALSE(changes.update(later));
    EXPECT_EQ(changes.number(), 1u);
}

TEST(ViewChanges, AChangeHasOnlyTheEntriesThatDiffer) {
    ViewChanges changes;
    changes.update(view_of({7, 8}));
    changes.update(view_of({7, 8}, 100));
    const view::ViewChange since = changes.since(1);
    ASSERT_THAT(since.devices, SizeIs(1));
    EXPECT_EQ(since.devices[0].memory[0].used, 100u);
    EXPECT_THAT(since.processes, IsEmpty());
    EXPECT_EQ(since.inexact, std::nullopt) << "it is as it was";
    EXPECT_THAT(changes.since(0).processes, SizeIs(2));
    EXPECT_NE(changes.since(0).inexact, std::nullopt);
}

TEST(ViewChanges, AChangeAppliedToTheViewBeforeGivesTheViewAfter) {
    ViewChanges changes;
    view::View shown = view_of({7, 8, 9});
    changes.update(shown);
    view::View now = view_of({8, 10}, 5);
    now.figures.inexact.push_back({8, census::Reason::settling, 1});
    now.figures.meshes.push_back({1, 1, {0}});
    changes.update(now);
    apply(changes.since(1), shown);
    EXPECT_EQ(shown, now);
}

TEST(ViewChanges, AnEntryThatIsGoneIsNamedUnlessItIsBack) {
    ViewChanges changes;
    changes.update(view_of({7, 8}));
    changes.update(view_of({8}));
    EXPECT_THAT(changes.since(1).gone_processes, ElementsAre(7u));
    changes.update(view_of({7, 8}));
    EXPECT_THAT(changes.since(1).gone_processes, IsEmpty());
    ASSERT_THAT(changes.since(2).processes, SizeIs(1));
    EXPECT_EQ(changes.since(2).processes[0].pid, 7u);
}

TEST(ViewChanges, AStateIsDroppedWithTheRemovalsSinceThen) {
    ViewChanges changes;
    changes.update(view_of({1}));
    for (uint32_t pid = 2; pid < 6000; ++pid) {
        changes.update(view_of({pid}));
    }
    EXPECT_FALSE(changes.knows(1));
    EXPECT_TRUE(changes.knows(changes.number() - 100));
    EXPECT_FALSE(changes.knows(changes.number() + 1)) << "of another daemon";
}

}  // namespace
}  // namespace ttmem::daemon
