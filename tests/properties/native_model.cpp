// SPDX-License-Identifier: Apache-2.0
#include "tests/properties/native_model.hpp"

#include <algorithm>
#include <bitset>
#include <sstream>

namespace ttmem::properties {

using segment::FailureType;
using segment::Inexact;

namespace {

constexpr size_t kSets = 128;
constexpr size_t kDevices = 3;
constexpr size_t kDeepestScope = 64;
constexpr size_t kLongestName = 120;
constexpr uint64_t kMostBytes = (uint64_t{1} << 40) - 1;
constexpr uint32_t kKernels = 6;
constexpr size_t kFirstKept = 16;
constexpr size_t kLastKept = 48;

}  // namespace

uint32_t NameModel::intern(const std::string& text, uint32_t parent) {
    if (text.empty()) {
        return 0;
    }
    std::string cut = text.substr(0, kLongestName);
    if (cut.size() != text.size()) {
        ++inexact_[static_cast<uint32_t>(Inexact::name_cut)];
        while ((static_cast<unsigned char>(text[cut.size()]) & 0xc0) == 0x80) {
            cut.pop_back();
        }
    }
    const auto known = ids_.find({parent, cut});
    if (known != ids_.end()) {
        return known->second;
    }
    if (ids_.size() + 1 == room_) {
        ++inexact_[static_cast<uint32_t>(Inexact::names_full)];
        return 0;
    }
    return ids_[{parent, cut}] = static_cast<uint32_t>(ids_.size() + 1);
}

std::string NameModel::path(uint32_t id) const {
    for (const auto& [key, known] : ids_) {
        if (known == id) {
            return key.first == 0 ? key.second : path(key.first) + "/" + key.second;
        }
    }
    return "";
}

size_t NameModel::depth(uint32_t id) const {
    for (const auto& [key, known] : ids_) {
        if (known == id) {
            return 1 + depth(key.first);
        }
    }
    return 0;
}

std::string place_of_set(uint32_t index) { return "set " + std::to_string(index); }

std::string set_fact(uint32_t index, uint64_t members, bool is_open, const std::string& label) {
    return place_of_set(index) + ": members " + std::to_string(members) + (is_open ? ", open" : ", closed") +
           (label.empty() ? "" : ", label " + label);
}

std::string blocker_fact(const Entry& entry) {
    std::ostringstream text;
    text << "kind " << entry.kind << " at " << entry.address << ", requested " << entry.requested
         << ", reserved " << entry.reserved << ", owner " << entry.owner << ", name " << entry.name;
    return text.str();
}

std::string failure_fact(uint32_t set, uint64_t members, const ttmem_out_of_memory& f,
                         const std::string& name) {
    std::ostringstream text;
    text << "failed in " << place_of_set(set) << ", members " << members << ", kind " << f.kind
         << ": requested " << f.requested << ", needed " << f.needed_per_bank << ", free " << f.free_per_bank
         << ", largest " << f.largest_free_per_bank << ", name " << name;
    return text.str();
}

std::string clash_fact(uint32_t set, uint64_t members, const ttmem_cb_clash& c, const std::string& name,
                       const std::string& blocker) {
    std::ostringstream text;
    text << "clashed in " << place_of_set(set) << ", members " << members << ": requested " << c.requested
         << ", end " << c.cb_end << ", lowest buffer " << c.lowest_buffer << ", free " << c.free_per_bank
         << ", program " << c.program << ", core " << c.core_x << "," << c.core_y << ", name " << name
         << (blocker.empty() ? "" : ", in the way: ") << blocker;
    return text.str();
}

// Returns an unused index if there is one, else that of the set closed longest ago.
NativeModel::SetIndex NativeModel::index_for_new_set() const {
    if (sets_.size() < kSets) {
        return static_cast<uint32_t>(sets_.size());
    }
    SetIndex oldest;
    for (uint32_t i = 0; i < kSets; ++i) {
        if (sets_[i].closed != 0 && (!oldest || sets_[i].closed < sets_[*oldest].closed)) {
            oldest = i;
        }
    }
    return oldest;
}

NativeModel::SetIndex NativeModel::open_set(const std::vector<ttmem_device>& members,
                                            const std::string& label) {
    Set set;
    for (const ttmem_device device : members) {
        if (device == 0 || device > kDevices) {
            count(Inexact::unknown_device);
        } else {
            set.members |= uint64_t{1} << (device - 1);
        }
    }
    if (set.members == 0) {
        return std::nullopt;
    }
    set.label = names_.intern(label, 0);
    const SetIndex index = index_for_new_set();
    if (!index) {
        count(Inexact::sets_full);
        return std::nullopt;
    }
    sets_.resize(std::max<size_t>(sets_.size(), *index + 1));
    sets_[*index] = set;
    counters_.forget(place_of_set(*index));
    ++events_;
    return index;
}

void NativeModel::end_all_of(uint32_t set) {
    std::vector<Id> there;
    for (const auto& [id, live] : live_) {
        if (live.set == set) {
            there.push_back(id);
        }
    }
    for (const Id id : there) {
        end(id);
    }
}

void NativeModel::close_set(SetIndex set) {
    if (!set) {
        return count(Inexact::unknown_set);
    }
    end_all_of(*set);
    sets_[*set].closed = ++closes_;
    ++events_;
}

void NativeModel::clear_set(SetIndex set) {
    if (!set) {
        return count(Inexact::unknown_set);
    }
    end_all_of(*set);
}

bool NativeModel::describe(SetIndex set, uint32_t kind_and_flags, Entry& entry) {
    if (!set) {
        count(Inexact::unknown_set);
        return false;
    }
    entry.kind = kind_and_flags & 0xff;
    entry.planned = (kind_and_flags & TTMEM_PLANNED) != 0;
    entry.view = (kind_and_flags & TTMEM_VIEW) != 0;
    if (entry.kind >= segment::kKinds || (kind_and_flags >> 10) != 0) {
        count(Inexact::unknown_kind);
        return false;
    }
    entry.reserved_unknown = entry.reserved == TTMEM_UNKNOWN;
    if (entry.reserved_unknown) {
        entry.reserved = entry.requested;
    }
    if (entry.requested > kMostBytes || entry.reserved > kMostBytes) {
        count(Inexact::implausible_size);
        return false;
    }
    return true;
}

std::optional<NativeModel::Id> NativeModel::record(uint32_t set, const Entry& entry) {
    if (live_.size() == slots_) {
        count(Inexact::ledger_full);
        return std::nullopt;
    }
    live_[next_id_] = {set, entry, innermost()};
    counters_.add(place_of_set(set), entry);
    ++events_;
    return next_id_++;
}

std::optional<NativeModel::Id> NativeModel::allocate(SetIndex set, uint32_t kind_and_flags,
                                                     const Entry& wanted) {
    Entry entry = wanted;
    const bool is_buffer = (kind_and_flags & 0xff) < 5;
    if (!describe(set, is_buffer ? kind_and_flags : 0xff, entry)) {
        return std::nullopt;
    }
    return record(*set, entry);
}

std::optional<NativeModel::Id> NativeModel::allocate_cb(SetIndex set, const Entry& wanted,
                                                        const ttmem_cores* cores, uint32_t flags) {
    Entry entry = wanted;
    entry.reserved = TTMEM_UNKNOWN;
    if (cores != nullptr && entry.requested <= kMostBytes) {
        entry.reserved = 0;
        segment::CoreMask mask{};
        for (size_t y = 0; y < mask.size(); ++y) {
            mask[y] = cores->row[y];
            entry.reserved += entry.requested * std::bitset<16>(mask[y]).count();
        }
        entry.cores = rows_of(mask);
    }
    const bool flags_are_flags = (flags & ~(TTMEM_PLANNED | TTMEM_VIEW)) == 0;
    if (!describe(set, flags_are_flags ? TTMEM_CB | flags : 0xff, entry)) {
        return std::nullopt;
    }
    return record(*set, entry);
}

std::optional<NativeModel::Id> NativeModel::load_kernel(SetIndex set, uint32_t kind, const Entry& wanted) {
    Entry entry = wanted;
    entry.reserved = entry.requested;
    entry.address = entry.owner;
    if (kind < kKernels || kind >= segment::kKinds) {
        count(Inexact::unknown_kind);
        return std::nullopt;
    }
    if (!describe(set, kind, entry)) {
        return std::nullopt;
    }
    const uint64_t members = sets_[*set].members;
    std::vector<Id> overlapping;  // the newest first
    uint64_t covered = 0;
    for (auto live = live_.rbegin(); live != live_.rend(); ++live) {
        const uint64_t there = sets_[live->second.set].members;
        if (live->second.entry.kind != kind || live->second.entry.owner != entry.owner) {
            continue;
        }
        if ((members & ~there) == 0) {
            return live->first;
        }
        if ((members & there) != 0) {
            overlapping.push_back(live->first);
            covered |= members & there;
        }
    }
    if (covered == members) {
        return overlapping.front();
    }
    const std::vector<uint32_t> parts =
        covered == 0 ? std::vector<uint32_t>{*set} : divide(members & ~covered);
    std::optional<Id> last;
    for (const uint32_t part : parts) {
        last = record(part, entry);
    }
    if (!parts.empty()) {
        return last;
    }
    for (const Id id : overlapping) {
        if ((sets_[live_.at(id).set].members & ~members) == 0) {
            end(id);
        }
    }
    return record(*set, entry);
}

// Open sets that contain these devices and no others, the largest first; none if there are no such sets.
std::vector<uint32_t> NativeModel::divide(uint64_t members) const {
    std::vector<uint32_t> parts;
    while (members != 0) {
        SetIndex largest;
        for (uint32_t i = 0; i < sets_.size(); ++i) {
            const uint64_t of_set = sets_[i].members;
            if (sets_[i].closed == 0 && of_set != 0 && (of_set & ~members) == 0 &&
                (!largest ||
                 std::bitset<64>(of_set).count() > std::bitset<64>(sets_[*largest].members).count())) {
                largest = i;
            }
        }
        if (!largest) {
            return {};
        }
        parts.push_back(*largest);
        members &= ~sets_[*largest].members;
    }
    return parts;
}

void NativeModel::end(Id id) {
    const auto live = live_.find(id);
    counters_.remove(place_of_set(live->second.set), live->second.entry);
    live_.erase(live);
    ++events_;
}

void NativeModel::free(Id id) {
    if (!is_live(id)) {
        return count(Inexact::double_free);
    }
    end(id);
}

void NativeModel::free_something_unknown() {
    count(Inexact::unknown_free);
    failures_[FailureType::unknown_free].emplace_back("unknown free");
}

void NativeModel::program_gone(uint64_t program) {
    std::vector<Id> of_it;
    for (const auto& [id, live] : live_) {
        if (live.entry.kind >= TTMEM_CB && live.entry.owner == program) {
            of_it.push_back(id);
        }
    }
    for (const Id id : of_it) {
        end(id);
    }
}

void NativeModel::push(const std::string& name) {
    if (scopes_.size() == kDeepestScope) {
        ++too_deep_;
        return count(Inexact::scope_too_deep);
    }
    const uint32_t id = names_.intern(name, innermost());
    scopes_.push_back(id == 0 ? innermost() : id);
}

void NativeModel::pop() {
    if (too_deep_ != 0) {
        --too_deep_;
    } else if (!scopes_.empty()) {
        scopes_.pop_back();
    }
}

void NativeModel::tag(Id id, const std::string& name) {
    const auto live = live_.find(id);
    if (live == live_.end()) {
        return;
    }
    if (names_.depth(live->second.name) > kDeepestScope) {
        return count(Inexact::scope_too_deep);
    }
    if (const uint32_t tagged = names_.intern(name, live->second.name); tagged != 0) {
        live->second.name = tagged;
    }
}

Entry NativeModel::named(const Live& live) const {
    Entry entry = live.entry;
    entry.name = names_.path(live.name);
    return entry;
}

void NativeModel::fail(SetIndex set, const ttmem_out_of_memory& failure) {
    if (!set) {
        return count(Inexact::unknown_set);
    }
    if (failure.kind >= segment::kKinds) {
        return count(Inexact::unknown_kind);
    }
    failures_[FailureType::out_of_memory].push_back(
        failure_fact(*set, sets_[*set].members, failure, names_.path(innermost())));
    ++events_;
}

void NativeModel::clash(SetIndex set, const ttmem_cb_clash& clash, std::optional<Id> in_the_way) {
    if (!set) {
        return count(Inexact::unknown_set);
    }
    const auto blocker = in_the_way ? live_.find(*in_the_way) : live_.end();
    failures_[FailureType::cb_clash].push_back(
        clash_fact(*set, sets_[*set].members, clash, names_.path(innermost()),
                   blocker == live_.end() ? "" : blocker_fact(named(blocker->second))));
    ++events_;
}

Facts NativeModel::facts() const {
    Facts facts;
    for (uint32_t i = 0; i < sets_.size(); ++i) {
        facts.push_back(set_fact(i, sets_[i].members, sets_[i].closed == 0, names_.path(sets_[i].label)));
    }
    for (const auto& [id, live] : live_) {
        facts.push_back(fact_of(place_of_set(live.set), named(live)));
    }
    for (const auto& [type, all] : failures_) {
        for (size_t i = 0; i < all.size(); ++i) {
            if (i < kFirstKept || i + kLastKept >= all.size()) {
                facts.push_back(all[i]);
            }
        }
    }
    counters_.state(facts);
    state_inexact(inexact_, facts);
    state_history(events_, facts);
    return facts;
}

}  // namespace ttmem::properties
