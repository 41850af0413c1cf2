// SPDX-License-Identifier: Apache-2.0
#include "census/groups.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "census/arithmetic.hpp"
#include "census/key_index.hpp"
#include "census/selection.hpp"

namespace ttmem::census {

namespace {

// What has one key in one ledger.
struct Sums {
    uint64_t used = 0;
    uint64_t requested = 0;
    uint64_t count = 0;
    uint64_t planned = 0;
    uint64_t views = 0;
    uint64_t largest = 0;
    uint64_t oldest_ticks = UINT64_MAX;

    void add(const segment::Allocation& a) {
        oldest_ticks = std::min(oldest_ticks, a.ticks);
        if (!segment::adds_bytes(a.flags)) {
            const bool is_planned = (a.flags & segment::kPlanned) != 0;
            planned += is_planned ? 1u : 0u;
            views += is_planned ? 0u : 1u;
            return;
        }
        used = saturating_add(used, a.reserved);
        requested = saturating_add(requested, a.requested);
        count += 1;
        largest = std::max(largest, a.reserved);
    }
};

// Ages, as people speak of them: what is younger than the first second is in the first group.
struct AgeGroup {
    uint64_t below_ns;
    std::string_view name;
};
constexpr uint64_t kSecond = 1'000'000'000;
constexpr std::array<AgeGroup, 7> kAges = {{{kSecond, "under 1 s"},
                                            {10 * kSecond, "1 to 10 s"},
                                            {60 * kSecond, "10 s to 1 min"},
                                            {600 * kSecond, "1 to 10 min"},
                                            {3600 * kSecond, "10 min to 1 h"},
                                            {86400 * kSecond, "1 h to 1 day"},
                                            {UINT64_MAX, "over 1 day"}}};

uint64_t age_group_of(uint64_t age_ns) {
    const auto* const group = std::find_if(kAges.begin(), kAges.end() - 1,
                                           [&](const AgeGroup& one) { return age_ns < one.below_ns; });
    return static_cast<uint64_t>(group - kAges.begin());
}

// What a slot says about its group, as a number that is good within one ledger.
uint64_t key_of(const segment::Allocation& a, Kind kind, GroupBy by, const segment::Clock& clock) {
    switch (by) {
        case GroupBy::name:
        case GroupBy::scope:
            return a.name;
        case GroupBy::kind:
            return index_of(kind);
        case GroupBy::pid:
            return 0;
        case GroupBy::device:  // as sets, and then on every member
        case GroupBy::set:
            return a.set;
        case GroupBy::thread:
            return a.thread;
        case GroupBy::owner:
            return a.owner;
        case GroupBy::age:
            return age_group_of(clock.age_ns(a.ticks));
    }
    return 0;
}

// The first parts of a name.
std::string scope_of(const std::string& name, uint32_t depth) {
    size_t end = 0;
    for (uint32_t i = 0; i < std::max(depth, 1u) && end != std::string::npos; ++i) {
        end = name.find('/', i == 0 ? 0 : end + 1);
    }
    return name.substr(0, end);
}

class Grouping {
public:
    Grouping(const Selection& selection, GroupBy by, uint32_t scope_depth)
        : selection_(selection), by_(by), scope_depth_(scope_depth) {}

    void add(const SelectedLedger& ledger) {
        KeyIndex index(kMostGroups);
        std::vector<Sums> sums;
        selection_.for_each_match(ledger, [&](segment::SlotRef, const segment::Allocation& a, Kind kind) {
            if (by_ == GroupBy::device && kind == Kind::system_memory) {
                return;
            }
            ++allocations_;
            const size_t number = index.of(key_of(a, kind, by_, ledger.clock));
            if (number == KeyIndex::kNoRoom) {
                ++ungrouped_;
                return;
            }
            if (number == sums.size()) {
                sums.emplace_back();
            }
            sums[number].add(a);
        });
        for (size_t i = 0; i < sums.size(); ++i) {
            take(ledger, index.keys()[i], sums[i]);
        }
    }

    GroupPage page(uint64_t limit) {
        GroupPage page;
        page.allocations = allocations_;
        page.ungrouped = ungrouped_;
        page.total = merged_.size() + own_.size();
        if (is_of_one_ledger(by_)) {
            for (const Own& own : first(std::move(own_), limit)) {
                Group group = describe(*own.ledger, own.key);
                add_to(group, *own.ledger, own.sums);
                page.groups.push_back(std::move(group));
            }
            return page;
        }
        std::vector<Group> groups;
        for (auto& [key, group] : merged_) {
            groups.push_back(std::move(group));
        }
        page.groups = first(std::move(groups), limit);
        return page;
    }

private:
    // Numbers of sets, threads and owners mean something in one ledger alone, so nothing is to be merged; and there may be
    // very many, so only those that are shown are put into words.
    struct Own {
        const SelectedLedger* ledger = nullptr;
        uint64_t key = 0;
        Sums sums;
    };

    static bool is_of_one_ledger(GroupBy by) {
        return by == GroupBy::set || by == GroupBy::thread || by == GroupBy::owner;
    }

    static bool comes_before(const Own& a, const Own& b) {
        const auto place = [](const Own& own) {
            return std::tuple(~own.sums.used, ~own.sums.requested, ~own.sums.count, own.ledger->pid(),
                              own.ledger->number, own.key);
        };
        return place(a) < place(b);
    }

    static bool comes_before(const Group& a, const Group& b) {
        const auto numbers = [](const Group& group) {
            return std::tuple(~group.used, ~group.requested, ~group.count);
        };
        return numbers(a) != numbers(b) ? numbers(a) < numbers(b) : a.key < b.key;
    }

    template <class T>
    static std::vector<T> first(std::vector<T> all, uint64_t limit) {
        const size_t shown = limit == 0 ? all.size() : std::min<size_t>(limit, all.size());
        std::partial_sort(all.begin(), all.begin() + static_cast<ptrdiff_t>(shown), all.end(),
                          [](const T& a, const T& b) { return comes_before(a, b); });
        all.erase(all.begin() + static_cast<ptrdiff_t>(shown), all.end());
        return all;
    }

    static void add_to(Group& group, const SelectedLedger& ledger, const Sums& sums) {
        group.used = saturating_add(group.used, sums.used);
        group.requested = saturating_add(group.requested, sums.requested);
        group.count += sums.count;
        group.planned += sums.planned;
        group.views += sums.views;
        group.largest = std::max(group.largest, sums.largest);
        group.oldest_age_ns = std::max(group.oldest_age_ns, ledger.clock.age_ns(sums.oldest_ticks));
    }

    void take(const SelectedLedger& ledger, uint64_t key, const Sums& sums) {
        if (is_of_one_ledger(by_)) {
            if (own_.size() == kMostGroups) {
                ungrouped_ += sums.count + sums.planned + sums.views;
            } else {
                own_.push_back({&ledger, key, sums});
            }
        } else if (by_ == GroupBy::device) {
            for (const size_t position : ledger.sets[key].positions) {
                if (!selection_.device() || selection_.device() == position) {
                    merge(ledger, describe(ledger, position), sums);
                }
            }
        } else {
            merge(ledger, describe(ledger, key), sums);
        }
    }

    void merge(const SelectedLedger& ledger, Group group, const Sums& sums) {
        auto found = merged_.find(group.key);
        if (found == merged_.end()) {
            if (merged_.size() == kMostGroups) {
                ungrouped_ += sums.count + sums.planned + sums.views;
                return;
            }
            std::string key = group.key;
            found = merged_.emplace(std::move(key), std::move(group)).first;
        }
        add_to(found->second, ledger, sums);
    }

    // A group with nothing in it yet. The key is a number of this ledger, for devices their position.
    Group describe(const SelectedLedger& ledger, uint64_t key) const {
        Group group;
        switch (by_) {
            case GroupBy::name:
                group.key = cut_key(ledger.reader().name(key));
                break;
            case GroupBy::scope:
                group.key = cut_key(scope_of(ledger.reader().name(key), scope_depth_));
                break;
            case GroupBy::kind:
                group.kind = static_cast<Kind>(key);
                group.key = name_of(*group.kind);
                break;
            case GroupBy::device:
                group.device = selection_.table().devices()[key].id;
                group.key = std::to_string(*group.device);
                break;
            case GroupBy::pid:
                group.pid = ledger.pid();
                group.key = std::to_string(ledger.pid());
                break;
            case GroupBy::set:
                group.pid = ledger.pid();
                group.key = ledger.sets[key].label;
                break;
            case GroupBy::thread:
            case GroupBy::owner:
                group.pid = ledger.pid();
                group.key = std::to_string(key);
                break;
            case GroupBy::age:
                group.key = kAges[key].name;
                break;
        }
        return group;
    }

    const Selection& selection_;
    GroupBy by_;
    uint32_t scope_depth_;
    uint64_t allocations_ = 0;
    uint64_t ungrouped_ = 0;
    std::vector<Own> own_;
    std::unordered_map<std::string, Group> merged_;  // by key
};

}  // namespace

base::Expected<GroupPage> list_groups(const Census& census, const AllocationQuery& query) {
    const auto selection =
        Selection::of(census, {query.device, query.pid, query.kind, query.name, query.since});
    if (!selection) {
        return tl::unexpected(selection.error());
    }
    Grouping grouping(*selection, query.group.value_or(GroupBy::name), query.scope_depth);
    for (const SelectedLedger& ledger : selection->ledgers()) {
        grouping.add(ledger);
    }
    return grouping.page(query.limit);
}

}  // namespace ttmem::census
