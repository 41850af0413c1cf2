// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include "base/proc_stat.hpp"
#include "census/segment_test_support.hpp"
#include "history/name_samples.hpp"
#include "view/json/json.hpp"
#include "view/model/resident_bytes.hpp"
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

TEST(Answers, TheHostMemoryOfAProcessIsReadWhereItIsAskedForAndThePidIsStillIts) {
    std::ifstream file("/proc/self/stat");
    const std::string stat((std::istreambuf_iterator<char>(file)), {});
    const uint64_t start_time = base::parse_start_time(stat.data(), stat.size());
    ASSERT_NE(start_time, 0u);
    census::TestSegment segment;
    census::Census census;
    census.processes.push_back(segment.process(static_cast<uint32_t>(getpid()), start_time));
    const auto resident_bytes = [&] {
        census::Figures figures = census::compute_figures(census);
        read_resident_bytes(figures, census);
        return figures.processes.at(0).resident_bytes;
    };
    EXPECT_GT(resident_bytes(), 100'000u);
    census.processes[0].identity.start_time += 1;
    EXPECT_EQ(resident_bytes(), std::nullopt) << "another process has the pid now";

    const TwoUsers host;
    EXPECT_EQ(Status::answer(host, {})->figures.processes[0].resident_bytes, std::nullopt) << "not asked for";
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

// Each user has a process on a chip of its own. The asker is user 1000.
class ChipPerUser : public Host {
public:
    ChipPerUser() {
        for (const auto& [uid, segment] : {std::pair{1000u, &mine_}, {1001u, &theirs_}}) {
            segment->add_device(census::small_chip(uid, 0));
            segment->add_set(1);
            segment->add(census::allocation(0, segment::AllocationKind::dram, 0, 100, 128));
            census_.processes.push_back(segment->process(uid));
            census_.processes.back().identity.uid = uid;
            census_.processes.back().identity.user = "user" + std::to_string(uid);
        }
        ids_ = Status::answer(*this, {})->figures.devices.size() == 2
                   ? std::vector<uint32_t>{id_of(1000), id_of(1001)}
                   : std::vector<uint32_t>();
    }

    Origin origin() const override { return {"host", 1, OriginSource::daemon}; }
    census::Census census() const override { return census_; }
    bool may_see(uint32_t uid) const override { return uid == 1000; }
    base::Expected<DeadProcesses> dead_processes() const override {
        DeadProcesses result;
        result.hidden.push_back(census_.processes[1].identity);
        result.missed = 5;
        return result;
    }

    std::string my_chip() const { return std::to_string(ids_.at(0)); }
    std::string their_chip() const { return std::to_string(ids_.at(1)); }

private:
    uint32_t id_of(uint64_t asic_id) const {
        const auto status = Status::answer(*this, {});
        for (const census::DeviceFigures& device : status->figures.devices) {
            if (device.asic_id == asic_id) {
                return device.id;
            }
        }
        return UINT32_MAX;
    }

    census::TestSegment mine_, theirs_;
    census::Census census_;
    std::vector<uint32_t> ids_;
};

TEST(Answers, EveryListSaysWhatItHides) {
    const ChipPerUser host;
    const auto expect_hidden = [](const auto& view) {
        EXPECT_FALSE(view.is_exact());
        EXPECT_EQ(view.hidden.processes, 1u);
        EXPECT_EQ(view.hidden.memory[census::kDram].used, 128u);
        EXPECT_EQ(view.hidden.memory[census::kDram].count, 1u);
        EXPECT_THAT(view.inexact, ElementsAre(census::Inexactness{1001, census::Reason::not_listed, 1}));
    };
    for (const std::optional<std::string>& device : {std::optional<std::string>(), {host.their_chip()}}) {
        expect_hidden(*Allocations::answer(host, {.device = device}));
        expect_hidden(*Groups::answer(host, {.device = device}));
        expect_hidden(*Programs::answer(host, {.device = device}));
        expect_hidden(Failures::answer(host, {.device = device})->failures);
    }
    const auto map = Map::answer(host, {.device = host.their_chip()});
    ASSERT_TRUE(map) << "the device exists, whoever holds it: " << map.error().text;
    expect_hidden(*map);
    EXPECT_THAT(map->maps, SizeIs(0));
    EXPECT_EQ(std::to_string(map->devices.at(0)), host.their_chip());
    expect_hidden(*Cores::answer(host, {.device = host.their_chip()}));
}

TEST(Answers, AListOfOwnProcessesOrDevicesHidesNothing) {
    const ChipPerUser host;
    const auto expect_exact = [](const auto& view) {
        ASSERT_TRUE(view) << view.error().text;
        EXPECT_TRUE(view->is_exact());
        EXPECT_EQ(view->hidden.processes, 0u);
        EXPECT_EQ(view->hidden.memory[census::kDram].used, 0u);
    };
    expect_exact(Allocations::answer(host, {.pid = 1000}));
    expect_exact(Groups::answer(host, {.pid = 1000}));
    expect_exact(Allocations::answer(host, {.device = host.my_chip()}));
    expect_exact(Map::answer(host, {.device = host.my_chip()}));
    EXPECT_EQ(Map::answer(host, {.device = "77"}).error().code, Error::Code::not_found);
}

TEST(Answers, PostMortemsOfOthersAndMissedProcessesAreCounted) {
    const ChipPerUser host;
    const auto list = PostMortemList::answer(host, {});
    EXPECT_EQ(list->hidden_post_mortems, 1u);
    EXPECT_EQ(list->processes_missed, 5u);
    EXPECT_THAT(list->inexact, ElementsAre(census::Inexactness{0, census::Reason::processes_missed, 5},
                                           census::Inexactness{0, census::Reason::post_mortems_hidden, 1}));
    const auto one = SinglePostMortem::answer(host, {.pid = 1001});
    EXPECT_EQ(one.error().code, Error::Code::denied);
    EXPECT_EQ(SinglePostMortem::answer(host, {.pid = 7}).error().code, Error::Code::not_found);
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
    EXPECT_THAT(Failures::answer(host, {.pid = 1000})->failures.inexact, Contains(missing))
        << "holders are among all processes";
}

TEST(Answers, AListDoesNotTellWhatOthersHaveTooMuchOf) {
    const SmallShare host;
    const auto list = Allocations::answer(host, {});
    EXPECT_THAT(list->inexact, Contains(census::Inexactness{1001, census::Reason::not_listed, 1}));
    EXPECT_THAT(list->inexact, Not(Contains(census::Inexactness{1001, census::Reason::list_limit, 1})));
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
    EXPECT_EQ(Growth::answer(host, {}).error().text, text);
    EXPECT_EQ(PostMortemList::answer(host, {}).error().text, text);
    EXPECT_EQ(SinglePostMortem::answer(host, {}).error().text, text);
}

// One process that is sampled, as by a daemon.
class SampledHost : public Host {
public:
    SampledHost() {
        segment_.add_device(census::small_chip(0x10, 0));
        segment_.add_device(census::small_chip(0x11, 1));
        segment_.add_set(1);
        segment_.add_set(2);
        layer_ = segment_.add_name("decoder.3");
        rest_ = segment_.add_name("rest");
        allocate(rest_, 100);
    }

    void allocate(uint32_t name, uint64_t bytes, uint8_t set = 0) {
        segment::Allocation a = census::allocation(set, segment::AllocationKind::dram, 0, bytes, bytes);
        a.name = name;
        segment_.add(a);
    }
    void sample(uint64_t time_ns) { samples_.add(time_ns, census().processes); }

    Origin origin() const override { return {"host", now, OriginSource::daemon}; }
    census::Census census() const override {
        census::Census census;
        census.processes.push_back(segment_.process(7));
        census.work_budgets.slots = slots;
        return census;
    }
    const history::NameSamples* name_samples() const override { return &samples_; }
    bool may_see(uint32_t /*uid*/) const override { return !is_of_another_user; }

    bool is_of_another_user = false;
    uint64_t slots = census::WorkBudgets().slots;
    uint64_t now = 10'000 * kSecondNs;
    uint32_t layer_ = 0;
    uint32_t rest_ = 0;

    static constexpr uint64_t kSecondNs = 1'000'000'000;

private:
    mutable census::TestSegment segment_;
    history::NameSamples samples_;
};

TEST(Answers, GrowthIsTheDifferenceToAMinuteAgo) {
    SampledHost host;
    EXPECT_EQ(Growth::answer(host, {})->unsampled, 1u) << "nothing is known of the time before";
    host.sample(host.now - 70 * SampledHost::kSecondNs);
    host.allocate(host.layer_, 30);
    host.sample(host.now - 20 * SampledHost::kSecondNs);
    host.allocate(host.layer_, 12);
    const GrowthView view = *Growth::answer(host, {});
    EXPECT_THAT(view.names, ElementsAre(NameGrowth{"decoder.3", census::Kind::dram, 0, 42}));
    EXPECT_EQ(view.names[0].grown(), 42);
    EXPECT_EQ(view.span_ns, 70 * SampledHost::kSecondNs);
    EXPECT_EQ(view.total, 1u) << "what did not change is not listed";
    EXPECT_EQ(Growth::answer(host, {.name = "rest"})->total, 0u);
    GrowthQuery kinds{.kind = census::Kind::l1};
    EXPECT_EQ(Growth::answer(host, kinds)->total, 0u);
    kinds.kind.add(census::Kind::dram);
    EXPECT_EQ(Growth::answer(host, kinds)->total, 1u);
}

TEST(Answers, GrowthIsThatOfTheDevicesAndNamesThatAreAskedFor) {
    SampledHost host;
    host.allocate(host.layer_, 5, 1);
    host.sample(host.now - 70 * SampledHost::kSecondNs);
    host.allocate(host.layer_, 30, 0);
    host.allocate(host.layer_, 12, 1);
    const auto grown = [&](const GrowthQuery& query) { return Growth::answer(host, query)->names; };
    const NameGrowth both{"decoder.3", census::Kind::dram, 5, 47};
    EXPECT_THAT(grown({.device = "0"}), ElementsAre(NameGrowth{"decoder.3", census::Kind::dram, 0, 30}));
    EXPECT_THAT(grown({.device = "1"}), ElementsAre(NameGrowth{"decoder.3", census::Kind::dram, 5, 17}));
    EXPECT_THAT(grown({.device = "0-1"}), ElementsAre(both));
    EXPECT_THAT(grown({.name = "dec*3"}), ElementsAre(both));
    EXPECT_THAT(grown({.name = "/^rest$/"}), SizeIs(0));
    EXPECT_EQ(Growth::answer(host, {.device = "7"}).error().code, Error::Code::not_found);
    EXPECT_FALSE(Growth::answer(host, {.name = "/(/"}));
}

TEST(Answers, GrowthOfOtherUsersIsHidden) {
    SampledHost host;
    host.now = 30 * SampledHost::kSecondNs;
    host.is_of_another_user = true;
    const GrowthView view = *Growth::answer(host, {});
    EXPECT_THAT(view.names, SizeIs(0));
    EXPECT_EQ(view.unsampled, 0u);
    EXPECT_EQ(view.hidden.processes, 1u);
    EXPECT_FALSE(view.is_exact());
}

TEST(Answers, GrowthLeavesOutALedgerThatItMayNotScan) {
    SampledHost host;
    host.now = 30 * SampledHost::kSecondNs;
    host.slots = 0;
    const census::Inexactness missing{7, census::Reason::list_limit, 1};
    const GrowthView view = *Growth::answer(host, {});
    EXPECT_THAT(view.names, SizeIs(0));
    EXPECT_THAT(view.inexact, Contains(missing));
    const GrowthView named = *Growth::answer(host, {.pid = 7});
    EXPECT_THAT(named.names, SizeIs(1));
    EXPECT_THAT(named.inexact, Not(Contains(missing)));
}

TEST(Answers, AProcessOfTheLastMinuteHasGrownByAllItHolds) {
    SampledHost host;
    host.now = 30 * SampledHost::kSecondNs;  // it started at 1 s
    const GrowthView view = *Growth::answer(host, {});
    EXPECT_THAT(view.names, ElementsAre(NameGrowth{"rest", census::Kind::dram, 0, 100}));
    EXPECT_EQ(view.unsampled, 0u);
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
    EventsView more;
    more.hidden_events = 2;
    more.inexact = {{0, census::Reason::events_hidden, 2}};
    Events::append(page, more);
    Events::append(page, more);
    EXPECT_EQ(page.hidden_events, 4u);
    EXPECT_THAT(page.inexact, ElementsAre(census::Inexactness{0, census::Reason::events_hidden, 4}));
}

// A host with a history of three series.
struct HostWithHistory : TwoUsers {
    base::Expected<HistoryView> history(const HistoryQuery& query) const override {
        HistoryView view;
        view.origin = origin();
        view.dropped = 3;
        std::vector<SeriesView>& result = view.series;
        for (const uint32_t device : {0u, 1u, 2u}) {
            if (query.device.selects(device)) {
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
    HistoryQuery two{.device = 0};
    two.device.add(2);
    const auto series = History::answer(*host, two)->series;
    ASSERT_THAT(series, SizeIs(2));
    EXPECT_EQ(series[1].device, 2u);
}

TEST(Answers, AHistoryEndsAtTheTimeThatIsAskedFor) {
    const auto host = std::make_shared<const HostWithHistory>();
    const HistoryQuery query{.device = 1, .until = 5};
    const auto view = History::answer(*host, query);
    ASSERT_THAT(view->series, SizeIs(1));
    EXPECT_THAT(view->series[0].samples, ElementsAre(history::Sample{5, 10}));
    std::string text;
    const auto next = History::pieces(host, query);
    for (std::string piece = (*next)(); !piece.empty(); piece = (*next)()) {
        text += piece;
    }
    EXPECT_EQ(text, to_json(*view));
}

TEST(Answers, EveryQuestionHasAnAddressAndOneOfItsSelector) {
    std::set<std::string> addresses;
    Questions::for_each([&]<class Question>() {
        addresses.insert(std::string(Question::kPath) + "?" + selector_of<Question>());
    });
    EXPECT_THAT(addresses, SizeIs(21));
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
