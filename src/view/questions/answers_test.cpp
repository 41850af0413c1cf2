// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "census/segment_test_support.hpp"
#include "view/json/json.hpp"
#include "view/questions/questions.hpp"

namespace ttmem::view {
namespace {

using base::Error;
using testing::Contains;
using testing::ElementsAre;
using testing::Not;
using testing::SizeIs;

// Two processes of different users; the asker is one of them.
class TwoUsers : public Host {
public:
    TwoUsers() {
        for (const uint32_t uid : {1000u, 1001u}) {
            census_.processes.push_back(segment_.process(uid));
            census_.processes.back().identity.uid = uid;
            census_.processes.back().identity.user = "user" + std::to_string(uid);
        }
    }

    Origin origin() const override { return {"host", 1, OriginSource::direct}; }
    census::Census census() const override { return census_; }
    bool may_see(uint32_t uid) const override { return uid == 1000; }

protected:
    census::TestSegment segment_;
    census::Census census_;
};

// The ledger of the asker's process has more slots than a list may scan.
class SmallShare : public TwoUsers {
public:
    SmallShare() {
        segment_.add_device(census::small_chip(0x10, 0));
        const uint8_t set = segment_.add_set(1);
        segment_.add(census::allocation(set, segment::AllocationKind::dram, 0x1000, 1, 16));
        segment_.add(census::allocation(set, segment::AllocationKind::cb, 0x100, 1, 16));
        census_.work_budgets.slots = 1;
    }
};

TEST(Answers, TotalsAreOfAllProcesses) {
    const TwoUsers host;
    EXPECT_THAT(Status::answer(host, {})->figures.processes, SizeIs(2));
    EXPECT_THAT(Processes::answer(host, {})->processes, SizeIs(2));
    EXPECT_THAT(Processes::answer(host, {.pid = 1001})->processes, SizeIs(1));
}

TEST(Answers, DetailsAreOfVisibleProcessesAndNameTheOthers) {
    const TwoUsers host;
    const auto view = Allocations::answer(host, {});
    ASSERT_TRUE(view);
    EXPECT_EQ(view->processes, 1u);
    EXPECT_THAT(view->inexact, ElementsAre(census::Inexactness{1001, census::Reason::not_listed, 1}));
    EXPECT_THAT(Groups::answer(host, {})->inexact, SizeIs(1));
    EXPECT_THAT(Programs::answer(host, {})->inexact, SizeIs(1));
    EXPECT_EQ(Failures::answer(host, {})->failures.processes, 1u);
}

TEST(Answers, AListThatMayNotScanALedgerSaysSo) {
    const SmallShare host;
    const census::Inexactness missing{1000, census::Reason::list_limit, 1};
    const auto list = Allocations::answer(host, {});
    EXPECT_EQ(list->total, 0u);
    EXPECT_THAT(list->inexact, Contains(missing));
    EXPECT_THAT(Groups::answer(host, {})->inexact, Contains(missing));
    EXPECT_THAT(Programs::answer(host, {})->inexact, Contains(missing));
    EXPECT_THAT(Map::answer(host, {.device = "0"})->inexact, Contains(missing));
    EXPECT_THAT(Cores::answer(host, {.device = "0"})->inexact, Contains(missing));
    const auto named = Allocations::answer(host, {.pid = 1000});
    EXPECT_EQ(named->total, 2u);
    EXPECT_THAT(named->inexact, Not(Contains(missing)));
}

// A process whose allocations failed on each of 20 devices.
class ManyFailures : public Host {
public:
    ManyFailures() {
        for (uint32_t i = 0; i < 20; ++i) {
            segment_.add_device(census::small_chip(0x10 + i, i));
            segment::Failure failure;
            failure.kind = static_cast<uint8_t>(segment::AllocationKind::dram);
            failure.members = uint64_t{1} << i;
            failure.ticks = 1 + i;
            uint64_t payload[segment::FailureSlot::kPayloadWords];
            std::memcpy(payload, &failure, sizeof payload);
            const auto type = static_cast<segment::FailureType>(failure.type);
            const uint32_t index = segment::failure_index(type, segment_.header().failures[failure.type]++);
            segment_.entry<segment::FailureSlot>(segment::RegionId::failures, index).publish(payload, 1);
        }
        census_.processes.push_back(segment_.process(7));
    }

    Origin origin() const override { return {"host", 1, OriginSource::direct}; }
    census::Census census() const override { return census_; }

private:
    census::TestSegment segment_;
    census::Census census_;
};

TEST(Answers, TheFailuresOfAUserMakeFewScansForTheirHolders) {
    const ManyFailures host;
    const auto view = Failures::answer(host, {});
    ASSERT_TRUE(view);
    EXPECT_THAT(view->failures.failures, SizeIs(20));
    EXPECT_THAT(view->holders, SizeIs(8));
}

TEST(Answers, AHiddenProcessIsDeniedAndNotEmpty) {
    const TwoUsers host;
    EXPECT_EQ(Allocations::answer(host, {.pid = 1001}).error().code, Error::Code::denied);
    EXPECT_EQ(Groups::answer(host, {.pid = 1001}).error().code, Error::Code::denied);
    EXPECT_EQ(Programs::answer(host, {.pid = 1001}).error().code, Error::Code::denied);
    EXPECT_EQ(Failures::answer(host, {.pid = 1001}).error().code, Error::Code::denied);
    EXPECT_TRUE(Allocations::answer(host, {.pid = 1000}));
}

TEST(Answers, ThePastNeedsADaemon) {
    const TwoUsers host;
    const std::string text = "This needs a running daemon (start it with 'ttmemd')";
    EXPECT_EQ(History::answer(host, {}).error().text, text);
    EXPECT_EQ(Events::answer(host, {}).error().text, text);
    EXPECT_EQ(Self::answer(host, {}).error().text, text);
    EXPECT_EQ(PostMortemList::answer(host, {}).error().text, text);
    EXPECT_EQ(SinglePostMortem::answer(host, {}).error().text, text);
}

TEST(Answers, PagesGoOnUntilTheLimitOrTheEnd) {
    AllocationView page;
    page.allocations.resize(3);
    page.next = "cursor";
    EXPECT_EQ(Allocations::next_page({.limit = 5}, page), (AllocationQuery{.limit = 2, .cursor = "cursor"}));
    EXPECT_EQ(Allocations::next_page({}, page), (AllocationQuery{.cursor = "cursor"})) << "0 is all";
    EXPECT_EQ(Allocations::next_page({.limit = 3}, page), std::nullopt);
    page.next.reset();
    EXPECT_EQ(Allocations::next_page({}, page), std::nullopt);
}

TEST(Answers, PagesOfEventsGoOnWhereTheDaemonHasCutThem) {
    EventsView page;
    page.next = 10'001;
    page.events.resize(kMostRows);
    EXPECT_EQ(Events::next_page({}, page), (EventQuery{.since = 10'001})) << "0 is all";
    EXPECT_EQ(Events::next_page({.limit = 10'005}, page), (EventQuery{.since = 10'001, .limit = 5}));
    EXPECT_EQ(Events::next_page({.last = 10'005}, page), (EventQuery{.since = 10'001, .limit = 5}));
    EXPECT_EQ(Events::next_page({.limit = 10'000}, page), std::nullopt);
    EXPECT_EQ(Events::next_page({.last = 10'000}, page), std::nullopt);
    page.events.pop_back();
    EXPECT_EQ(Events::next_page({}, page), std::nullopt) << "there are no more";
    Events::append(page, {{}, 10'003, 1, {EventView{}, EventView{}}});
    EXPECT_EQ(page.events.size(), kMostRows + 1);
    EXPECT_EQ(page.next, 10'003u);
    EXPECT_EQ(page.missed, 1u);
}

// A host with a history of three series.
struct HostWithHistory : TwoUsers {
    base::Expected<HistoryView> history(const HistoryQuery& query) const override {
        HistoryView view;
        view.origin = origin();
        view.dropped = 3;
        std::vector<SeriesView>& result = view.series;
        for (const uint32_t device : {0u, 1u, 2u}) {
            if (!query.device || *query.device == device) {
                SeriesView& series = result.emplace_back(SeriesView{device, census::Kind::dram, {}});
                if (query.since <= 5) {
                    series.samples = {{5, device * 10}, {6, device * 20}};
                }
                most = std::max(most, result.size() * series.samples.size());
            }
        }
        return view;
    }
    mutable size_t most = 0;
};

TEST(Answers, AHistoryIsReadSeriesBySeriesWhileItIsWritten) {
    const auto host = std::make_shared<const HostWithHistory>();
    const auto next = History::pieces(host, {});
    ASSERT_TRUE(next);
    std::string text;
    for (std::string piece = (*next)(); !piece.empty(); piece = (*next)()) {
        text += piece;
    }
    EXPECT_EQ(host->most, 2u) << "never more than one series with its samples";
    EXPECT_EQ(text, to_json(*History::answer(*host, {})));
    EXPECT_EQ((*History::pieces(host, {.device = 7}))(), to_json(*History::answer(*host, {.device = 7})));
}

TEST(Answers, EveryQuestionHasAnAddressAndOneOfItsSelector) {
    std::set<std::string> addresses;
    Questions::for_each([&]<class Question>() {
        addresses.insert(std::string(Question::kPath) + "?" + selector_of<Question>());
    });
    EXPECT_THAT(addresses, SizeIs(13));
}

template <class View>
void expect_round_trip(const View& view) {
    EXPECT_EQ(*from_json<View>(to_json(view)), view);
}

TEST(Answers, EmptyViewsAreReadBack) {
    Questions::for_each([]<class Question>() { expect_round_trip(typename Question::View{}); });
}

}  // namespace
}  // namespace ttmem::view
