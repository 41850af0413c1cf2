// SPDX-License-Identifier: Apache-2.0
#include "census/groups.hpp"

#include <algorithm>
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

// What a slot says about its group, as a number that is good within one ledger.
uint64_t key_of(const segment::Allocation& a, Kind kind, GroupBy by) {
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
            const size_t number = index.of(key_of(a, kind, by_));
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
            merge(ledger, index.keys()[i], sums[i]);
        }
    }

    GroupPage page(uint64_t limit) {
        GroupPage page;
        page.total = groups_.size();
        page.allocations = allocations_;
        page.ungrouped = ungrouped_;
        std::vector<const Group*> order;
        for (const auto& [identity, group] : groups_) {
            order.push_back(&group);
        }
        const size_t shown = limit == 0 ? order.size() : std::min<size_t>(limit, order.size());
        std::partial_sort(order.begin(), order.begin() + static_cast<ptrdiff_t>(shown), order.end(),
                          [](const Group* a, const Group* b) { return comes_before(*a, *b); });
        for (size_t i = 0; i < shown; ++i) {
            page.groups.push_back(*order[i]);
        }
        return page;
    }

private:
    static bool comes_before(const Group& a, const Group& b) {
        const auto place = [](const Group& group) {
            return std::tuple(~group.used, ~group.requested, ~group.count, std::cref(group.key).get(),
                              group.pid, group.device);
        };
        return place(a) < place(b);
    }

    void merge(const SelectedLedger& ledger, uint64_t key, const Sums& sums) {
        if (by_ != GroupBy::device) {
            put(ledger, describe(ledger, key), by_ == GroupBy::set ? key : 0, sums);
            return;
        }
        for (const size_t position : ledger.sets[key].positions) {
            if (!selection_.device() || selection_.device() == position) {
                Group group;
                group.device = selection_.table().devices()[position].id;
                group.key = std::to_string(*group.device);
                put(ledger, std::move(group), 0, sums);
            }
        }
    }

    Group describe(const SelectedLedger& ledger, uint64_t key) const {
        Group group;
        switch (by_) {
            case GroupBy::name:
                group.key = cut_key(ledger.reader().name(key));
                return group;
            case GroupBy::scope:
                group.key = cut_key(scope_of(ledger.reader().name(key), scope_depth_));
                return group;
            case GroupBy::kind:
                group.kind = static_cast<Kind>(key);
                group.key = name_of(*group.kind);
                return group;
            case GroupBy::set:
                group.key = ledger.sets[key].label;
                break;
            case GroupBy::pid:
                group.key = std::to_string(ledger.pid());
                break;
            case GroupBy::device:
            case GroupBy::thread:
            case GroupBy::owner:
                group.key = std::to_string(key);
                break;
        }
        group.pid = ledger.pid();
        return group;
    }

    // Sets of one name are still several.
    void put(const SelectedLedger& ledger, Group group, uint64_t set, const Sums& sums) {
        std::string identity = group.key;
        if (group.pid) {
            identity += '\0' + std::to_string(*group.pid);
        }
        if (by_ == GroupBy::set) {
            identity += '\0' + std::to_string(ledger.number) + '\0' + std::to_string(set);
        }
        auto found = groups_.find(identity);
        if (found == groups_.end()) {
            if (groups_.size() == kMostGroups) {
                ungrouped_ += sums.count + sums.planned + sums.views;
                return;
            }
            found = groups_.emplace(std::move(identity), std::move(group)).first;
        }
        Group& sum = found->second;
        sum.used = saturating_add(sum.used, sums.used);
        sum.requested = saturating_add(sum.requested, sums.requested);
        sum.count += sums.count;
        sum.planned += sums.planned;
        sum.views += sums.views;
        sum.largest = std::max(sum.largest, sums.largest);
        sum.oldest_age_ns = std::max(sum.oldest_age_ns, ledger.clock.age_ns(sums.oldest_ticks));
    }

    const Selection& selection_;
    GroupBy by_;
    uint32_t scope_depth_;
    uint64_t allocations_ = 0;
    uint64_t ungrouped_ = 0;
    std::unordered_map<std::string, Group> groups_;
};

}  // namespace

base::Expected<GroupPage> list_groups(const Census& census, const AllocationQuery& query) {
    const auto selection = Selection::of(census, {query.device, query.pid, query.kind, query.name});
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
