// SPDX-License-Identifier: Apache-2.0
#include "tests/properties/keyed_model.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace ttmem::properties {

using segment::Inexact;
using What = KeyedCall::What;

namespace {

constexpr uint64_t kMostBytes = (uint64_t{1} << 40) - 1;
constexpr size_t kFirstKept = 16;
constexpr size_t kLastKept = 48;

}  // namespace

std::string place_of_device(int64_t device) { return "device " + std::to_string(device); }

std::string unknown_free_fact(std::optional<int64_t> device, uint64_t id) {
    return "unknown free of " + std::to_string(id) +
           (device ? " on " + place_of_device(*device) : " anywhere");
}

void KeyedModel::apply(const KeyedCall& call) {
    switch (call.what) {
        case What::allocate:
            return begin(call, Class::buffer);
        case What::free:
            return end(call, Class::buffer);
        case What::free_anywhere:
            return end_anywhere(call);
        case What::allocate_cb:
            return begin(call, Class::cb);
        case What::free_cb:
            return end(call, Class::cb);
        case What::load_kernel:
            return begin(call, Class::kernel);
        case What::unload_kernel:
            return end(call, Class::kernel);
    }
}

void KeyedModel::begin(const KeyedCall& call, Class what) {
    if (call.device < 0) {
        return count(Inexact::unknown_device);
    }
    if (!std::exchange(seen_[call.device], true)) {
        ++events_;  // the set of the device is opened
    }
    const uint32_t types = what == Class::buffer ? 5 : 3;
    if (what != Class::cb && call.type >= types) {
        return count(Inexact::unknown_kind);
    }
    if (call.size > kMostBytes) {
        return count(Inexact::implausible_size);
    }
    const uint32_t kind = what == Class::buffer ? call.type : what == Class::cb ? 5u : 6u + call.type;
    for (Live& live : live_) {
        if (live.device != call.device || live.what != what || live.entry.address != call.id) {
            continue;
        }
        if (what == Class::kernel) {
            return;
        }
        if (what == Class::buffer && call.id != 0 && live.entry.kind == kind) {
            ++live.references;
            return;
        }
    }
    record(call, what, kind);
}

void KeyedModel::record(const KeyedCall& call, Class what, uint32_t kind) {
    if (live_.size() == slots_) {
        return count(Inexact::ledger_full);
    }
    Live live;
    live.device = call.device;
    live.what = what;
    live.entry.address = call.id;
    live.entry.requested = call.size;
    live.entry.reserved = call.size;
    live.entry.kind = kind;
    live.entry.planned = what == Class::buffer && call.id == 0;
    live.entry.reserved_unknown = what != Class::kernel && !live.entry.planned;
    live.entry.keyed = true;
    counters_.add(place_of_device(live.device), live.entry);
    live_.push_back(live);
    ++events_;
}

void KeyedModel::release(size_t index) {
    if (--live_[index].references == 0) {
        counters_.remove(place_of_device(live_[index].device), live_[index].entry);
        live_.erase(live_.begin() + static_cast<ptrdiff_t>(index));
        ++events_;
    }
}

void KeyedModel::end(const KeyedCall& call, Class what) {
    std::optional<size_t> newest;
    std::set<uint32_t> kinds;
    for (size_t i = 0; i < live_.size(); ++i) {
        const Live& live = live_[i];
        if (live.device == call.device && live.what == what && live.entry.address == call.id &&
            (what != Class::cb || live.entry.requested == call.size)) {
            newest = i;
            kinds.insert(live.entry.kind);
        }
    }
    if (!newest) {
        return count_unknown_free(call.device, call.id);
    }
    if (what == Class::buffer && kinds.size() > 1) {
        count(Inexact::ambiguous_free);
    }
    release(*newest);
}

void KeyedModel::end_anywhere(const KeyedCall& call) {
    std::optional<size_t> newest;
    std::set<std::pair<int, uint32_t>> places;
    for (size_t i = 0; i < live_.size(); ++i) {
        const Live& live = live_[i];
        if (live.what == Class::buffer && live.entry.address == call.id) {
            newest = i;
            places.emplace(live.device, live.entry.kind);
        }
    }
    if (!newest) {
        return count_unknown_free(std::nullopt, call.id);
    }
    if (places.size() > 1) {
        count(Inexact::ambiguous_free);
    }
    release(*newest);
}

void KeyedModel::count_unknown_free(std::optional<int> device, uint64_t id) {
    count(Inexact::unknown_free);
    unknown_frees_.push_back({device, id});
}

std::optional<KeyedCall> KeyedModel::call_to_end_something() const {
    if (live_.empty()) {
        return std::nullopt;
    }
    const Live& live = live_.front();
    KeyedCall call;
    call.what = live.what == Class::buffer ? What::free
                : live.what == Class::cb   ? What::free_cb
                                           : What::unload_kernel;
    call.device = live.device;
    call.size = live.entry.requested;
    call.id = live.entry.address;
    return call;
}

Facts KeyedModel::facts() const {
    Facts facts;
    for (const Live& live : live_) {
        facts.push_back(fact_of(place_of_device(live.device), live.entry));
    }
    counters_.state(facts);
    state_inexact(inexact_, facts);
    state_history(events_, facts);
    for (size_t i = 0; i < unknown_frees_.size(); ++i) {
        if (i < kFirstKept || i + kLastKept >= unknown_frees_.size()) {
            facts.push_back(unknown_free_fact(unknown_frees_[i].device, unknown_frees_[i].id));
        }
    }
    return facts;
}

}  // namespace ttmem::properties
