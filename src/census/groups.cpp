// SPDX-License-Identifier: Apache-2.0
#include "census/groups.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <iterator>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "base/secret_hash.hpp"
#include "census/arithmetic.hpp"
#include "census/key_index.hpp"
#include "census/selection.hpp"

namespace ttmem::census {

namespace {

// The sums of one key and kind in one ledger. Most keys have allocations of one kind, so a key has a chain of these.
struct KindSums {
    static constexpr uint32_t kNone = UINT32_MAX;

    GroupMemory memory;
    uint32_t next = kNone;
    Kind kind = Kind::dram;
};

// The sums of one key in one ledger.
struct GroupSums {
    uint64_t count = 0;
    uint64_t planned = 0;
    uint64_t views = 0;
    uint64_t largest = 0;
    uint64_t oldest_ticks = UINT64_MAX;
    uint32_t first = KindSums::kNone;

    uint64_t all() const { return count + planned + views; }

    // `devices`: how many times it counts.
    void add(const segment::Allocation& a, Kind kind, uint64_t devices, std::vector<KindSums>& chains) {
        oldest_ticks = std::min(oldest_ticks, a.ticks);
        if (!segment::adds_bytes(a.flags)) {
            const bool is_planned = a.flags.has(segment::AllocationFlag::planned);
            planned += is_planned ? 1u : 0u;
            views += is_planned ? 0u : 1u;
            return;
        }
        GroupMemory& memory = memory_of(kind, chains);
        memory.used = saturating_add(memory.used, saturating_multiply(a.reserved, devices));
        memory.requested = saturating_add(memory.requested, saturating_multiply(a.requested, devices));
        memory.count += 1;
        count += 1;
        largest = std::max(largest, a.reserved);
    }

    MemoryByKind memory(const std::vector<KindSums>& chains) const {
        MemoryByKind result = {};
        for (uint32_t at = first; at != KindSums::kNone; at = chains[at].next) {
            result[index_of(chains[at].kind)] = chains[at].memory;
        }
        return result;
    }

private:
    GroupMemory& memory_of(Kind kind, std::vector<KindSums>& chains) {
        for (uint32_t at = first; at != KindSums::kNone; at = chains[at].next) {
            if (chains[at].kind == kind) {
                return chains[at].memory;
            }
        }
        chains.push_back({{}, first, kind});
        first = static_cast<uint32_t>(chains.size() - 1);
        return chains.back().memory;
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
    Grouping(const Selection& selection, const GroupQuery& query)
        : selection_(selection),
          by_(query.group),
          scope_depth_(std::clamp(query.scope_depth, 1u, uint32_t{segment::kMaxScopeDepth})),
          sort_(query.sort),
          reverse_(query.reverse) {}

    void add(const SelectedLedger& ledger) {
        KeyIndex index(kMostGroups - own_.size());
        std::vector<GroupSums> sums;
        if (!is_of_one_ledger(by_)) {
            chains_.clear();
        }
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
            sums[number].add(a, kind, devices_of(ledger, a, kind), chains_);
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
                add_sums(group, *own.ledger, own.sums);
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

    // How many times an allocation counts.
    uint64_t devices_of(const SelectedLedger& ledger, const segment::Allocation& a, Kind kind) const {
        const bool is_on_one = by_ == GroupBy::device || kind == Kind::system_memory;
        if (is_on_one || (selection_.device() && !selection_.has_several_devices())) {
            return 1;
        }
        const std::vector<size_t>& positions = ledger.sets[a.set].positions;
        const auto asked = selection_.device()
                               ? std::count_if(positions.begin(), positions.end(),
                                               [&](size_t one) { return selection_.selects(one); })
                               : std::ssize(positions);
        return std::max<uint64_t>(static_cast<uint64_t>(asked), 1);
    }

    bool comes_before(const LedgerGroup& a, const LedgerGroup& b) const {
        if (sort_ == Sort::age && a.sums.oldest_ticks != b.sums.oldest_ticks) {
            return a.sums.oldest_ticks < b.sums.oldest_ticks;
        }
        if (sort_ != Sort::name) {
            const auto one = a.sums.memory(chains_);
            const auto other = b.sums.memory(chains_);
            if (holds_more(one, other, sort_) || holds_more(other, one, sort_)) {
                return holds_more(one, other, sort_);
            }
        }
        const auto place = [this](const LedgerGroup& own) {
            return std::tuple(sort_ == Sort::name ? 0 : ~own.sums.count, own.ledger->pid(),
                              own.ledger->number, own.key);
        };
        return place(a) < place(b);
    }

    bool comes_before(const Group& a, const Group& b) const {
        if (sort_ == Sort::name) {
            return a.key < b.key;
        }
        if (sort_ == Sort::age && a.oldest_age_ns != b.oldest_age_ns) {
            return a.oldest_age_ns > b.oldest_age_ns;
        }
        if (holds_more(a.memory, b.memory, sort_) || holds_more(b.memory, a.memory, sort_)) {
            return holds_more(a.memory, b.memory, sort_);
        }
        return a.count != b.count ? a.count > b.count : a.key < b.key;
    }

    template <class T>
    std::vector<T> first(std::vector<T> all, uint64_t limit) const {
        const size_t shown = limit == 0 ? all.size() : std::min<size_t>(limit, all.size());
        std::partial_sort(
            all.begin(), all.begin() + static_cast<ptrdiff_t>(shown), all.end(),
            [this](const T& a, const T& b) { return reverse_ ? comes_before(b, a) : comes_before(a, b); });
        all.erase(all.begin() + static_cast<ptrdiff_t>(shown), all.end());
        all.shrink_to_fit();  // an answer is held until it is sent
        return all;
    }

    void add_sums(Group& group, const SelectedLedger& ledger, const GroupSums& sums) const {
        add_memory(group.memory, sums.memory(chains_));
        group.count += sums.count;
        group.planned += sums.planned;
        group.views += sums.views;
        group.largest = std::max(group.largest, sums.largest);
        group.oldest_age_ns = std::max(group.oldest_age_ns, ledger.clock.age_ns(sums.oldest_ticks));
    }

    void take(const SelectedLedger& ledger, uint64_t key, const GroupSums& sums) {
        assert(sums.all() != 0);
        if (is_of_one_ledger(by_)) {
            assert(own_.size() < kMostGroups);
            own_.push_back({&ledger, key, sums});
        } else if (by_ == GroupBy::device) {
            // An allocation is ungrouped once, whatever the number of its devices.
            bool is_grouped = false;
            for (const size_t position : ledger.sets[key].positions) {
                if (selection_.selects(position)) {
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
        add_sums(found->second, ledger, sums);
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
    Sort sort_;
    bool reverse_;
    uint64_t allocations_ = 0;
    uint64_t ungrouped_ = 0;
    std::vector<LedgerGroup> own_;
    std::vector<KindSums> chains_;  // of own_, or of the ledger that is read
    std::unordered_map<std::string, Group, base::SecretHash> merged_;
    size_t merged_bytes_ = 0;  // about
};

}  // namespace

bool holds_more(const MemoryByKind& a, const MemoryByKind& b, Sort sort) {
    const auto bytes = [sort](const GroupMemory& memory) {
        return sort == Sort::requested ? std::tuple(memory.requested, memory.used)
                                       : std::tuple(memory.used, memory.requested);
    };
    const auto [one, other] =
        std::mismatch(a.begin(), a.end(), b.begin(),
                      [&](const GroupMemory& x, const GroupMemory& y) { return bytes(x) == bytes(y); });
    return one != a.end() && bytes(*one) > bytes(*other);
}

void add_memory(MemoryByKind& sums, const MemoryByKind& part) {
    for (size_t kind = 0; kind < kKinds; ++kind) {
        GroupMemory& sum = sums[kind];
        sum.used = saturating_add(sum.used, part[kind].used);
        sum.requested = saturating_add(sum.requested, part[kind].requested);
        sum.count += part[kind].count;
    }
}

base::Expected<GroupPage> list_groups(const Census& census, const GroupQuery& query) {
    const auto selection =
        Selection::of(census, {query.device, query.pid, query.kind, query.name, query.since});
    if (!selection) {
        return tl::unexpected(selection.error());
    }
    Grouping grouping(*selection, query);
    for (const SelectedLedger& ledger : selection->ledgers()) {
        grouping.add(ledger);
    }
    return grouping.page(query.limit);
}

}  // namespace ttmem::census
