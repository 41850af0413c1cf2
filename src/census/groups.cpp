// SPDX-License-Identifier: Apache-2.0
#include "census/groups.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "base/secret_hash.hpp"
#include "census/arithmetic.hpp"
#include "census/key_index.hpp"
#include "census/selection.hpp"

namespace ttmem::census {

namespace {

// The sums of one key in one ledger.
struct GroupSums {
    uint64_t used = 0;
    uint64_t requested = 0;
    uint64_t count = 0;
    uint64_t planned = 0;
    uint64_t views = 0;
    uint64_t largest = 0;
    uint64_t oldest_ticks = UINT64_MAX;

    uint64_t all() const { return count + planned + views; }

    void add(const segment::Allocation& a) {
        oldest_ticks = std::min(oldest_ticks, a.ticks);
        if (!segment::adds_bytes(a.flags)) {
            const bool is_planned = a.flags.has(segment::AllocationFlag::planned);
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

// Groups of ages. The first group contains ages below one second.
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

// The group key of a slot, as a number that is valid within one ledger.
uint64_t key_of(const segment::Allocation& a, Kind kind, GroupBy by, const segment::Clock& clock) {
    switch (by) {
        case GroupBy::name:
        case GroupBy::scope:
            return a.name;
        case GroupBy::kind:
            return index_of(kind);
        case GroupBy::pid:
            return 0;
        case GroupBy::device:  // grouped by set first, then counted on every member
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
        std::vector<GroupSums> sums;
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
            assert(number <= sums.size());
            if (number == sums.size()) {
                sums.emplace_back();
            }
            sums[number].add(a);
        });
        assert(sums.size() == index.keys().size());
        for (size_t i = 0; i < sums.size(); ++i) {
            take(ledger, index.keys()[i], sums[i]);
        }
    }

    GroupPage page(uint64_t limit) {
        assert(own_.empty() || merged_.empty());
        assert(ungrouped_ <= allocations_);
        GroupPage page;
        page.allocations = allocations_;
        page.ungrouped = ungrouped_;
        page.total = merged_.size() + own_.size();
        if (is_of_one_ledger(by_)) {
            for (const LedgerGroup& own : first(std::move(own_), limit)) {
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
    // Numbers of sets, threads and owners are valid within one ledger, so these groups need no merging. There may be
    // many, so only the groups that are shown get their names resolved.
    struct LedgerGroup {
        const SelectedLedger* ledger = nullptr;
        uint64_t key = 0;
        GroupSums sums;
    };

    static bool is_of_one_ledger(GroupBy by) {
        return by == GroupBy::set || by == GroupBy::thread || by == GroupBy::owner;
    }

    static bool comes_before(const LedgerGroup& a, const LedgerGroup& b) {
        const auto place = [](const LedgerGroup& own) {
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
        all.shrink_to_fit();  // an answer is held until it is sent
        return all;
    }

    static void add_to(Group& group, const SelectedLedger& ledger, const GroupSums& sums) {
        group.used = saturating_add(group.used, sums.used);
        group.requested = saturating_add(group.requested, sums.requested);
        group.count += sums.count;
        group.planned += sums.planned;
        group.views += sums.views;
        group.largest = std::max(group.largest, sums.largest);
        group.oldest_age_ns = std::max(group.oldest_age_ns, ledger.clock.age_ns(sums.oldest_ticks));
    }

    void take(const SelectedLedger& ledger, uint64_t key, const GroupSums& sums) {
        assert(sums.all() != 0);
        if (is_of_one_ledger(by_)) {
            if (own_.size() == kMostGroups) {
                ungrouped_ += sums.all();
            } else {
                own_.push_back({&ledger, key, sums});
            }
        } else if (by_ == GroupBy::device) {
            // An allocation is ungrouped once, whatever the number of its devices.
            bool is_grouped = false;
            for (const size_t position : ledger.sets[key].positions) {
                if (!selection_.device() || selection_.device() == position) {
                    is_grouped = merge(ledger, describe(ledger, position), sums) || is_grouped;
                }
            }
            ungrouped_ += is_grouped ? 0 : sums.all();
        } else if (!merge(ledger, describe(ledger, key), sums)) {
            ungrouped_ += sums.all();
        }
    }

    // False if there are too many groups.
    bool merge(const SelectedLedger& ledger, Group group, const GroupSums& sums) {
        auto found = merged_.find(group.key);
        if (found == merged_.end()) {
            if (merged_.size() == kMostGroups || merged_bytes_ > kMostGroupBytes) {
                return false;
            }
            std::string key = group.key;
            merged_bytes_ += sizeof(Group) + 2 * key.size();
            found = merged_.emplace(std::move(key), std::move(group)).first;
        }
        add_to(found->second, ledger, sums);
        return true;
    }

    // Returns an empty group. The key is a number of this ledger, or the position of a device.
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
                assert(key < kKinds);
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
                assert(key < kAges.size());
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
    std::vector<LedgerGroup> own_;
    std::unordered_map<std::string, Group, base::SecretHash> merged_;
    size_t merged_bytes_ = 0;  // about
};

}  // namespace

base::Expected<GroupPage> list_groups(const Census& census, const GroupQuery& query) {
    const auto selection =
        Selection::of(census, {query.device, query.pid, query.kind, query.name, query.since});
    if (!selection) {
        return tl::unexpected(selection.error());
    }
    Grouping grouping(*selection, query.group,
                      std::clamp(query.scope_depth, 1u, uint32_t{segment::kMaxScopeDepth}));
    for (const SelectedLedger& ledger : selection->ledgers()) {
        grouping.add(ledger);
    }
    return grouping.page(query.limit);
}

}  // namespace ttmem::census
