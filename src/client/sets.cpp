// SPDX-License-Identifier: Apache-2.0
#include "client/sets.hpp"

#include <string.h>

#include "client/allocations.hpp"
#include "client/names.hpp"

namespace ttmem::client {

using segment::DeviceSet;
using segment::DeviceSlot;
using segment::Inexact;
using segment::kMaxDevices;
using segment::kMaxSets;
using segment::RegionId;
using segment::SetSlot;

namespace {

constexpr uint64_t kOpen = 0;

ttmem_device_info load_device(const DeviceSlot& slot) {
    static_assert(sizeof(ttmem_device_info) == 240 &&
                  sizeof(ttmem_device_info) <= DeviceSlot::kPayloadWords * 8);
    uint64_t payload[DeviceSlot::kPayloadWords];
    slot.read(payload);
    ttmem_device_info info;
    memcpy(&info, payload, sizeof info);
    return info;
}

bool is_same_device(const ttmem_device_info& a, const ttmem_device_info& b) {
    if (a.asic_id != 0 && b.asic_id != 0) {
        return a.asic_id == b.asic_id;
    }
    return a.logical_id == b.logical_id;
}

void store_device(DeviceSlot& slot, const ttmem_device_info& info) {
    uint64_t payload[DeviceSlot::kPayloadWords] = {};
    memcpy(payload, &info, sizeof info);
    if (segment::is_live(slot.generation())) {
        slot.retire(slot.generation());
    }
    slot.publish(payload, segment::next_generation(slot.generation()));
}

// Whether nothing is live in a set, of any kind, also nothing that adds no bytes.
bool is_empty(const State& state, uint32_t set) {
    const auto lines = static_cast<uint32_t>(state.header->writers_used.load(std::memory_order_acquire));
    for (uint32_t kind = 0; kind < segment::kKinds; ++kind) {
        const uint32_t index = segment::pool_index(set, static_cast<segment::Kind>(kind));
        uint64_t count = 0;
        uint64_t planned_and_views = 0;
        for (uint32_t line = 0; line < lines; ++line) {
            const segment::Tally& tally = state.threads[line].tallies[index];
            count += tally.count.load(std::memory_order_acquire);
            planned_and_views += tally.planned_and_views.load(std::memory_order_acquire);
        }
        if (count != 0 || planned_and_views != 0) {
            return false;
        }
    }
    return true;
}

uint64_t closed_ticks(const SetSlot& slot) {
    return slot.word[segment::kClosedTicksWord].load(std::memory_order_relaxed);
}

// An entry for a new set: one never used, else the one closed longest ago, so that peaks stay readable for long.
// An allocation that raced with the close of its set is swept up here.
SetSlot* find_entry(State& state, Thread& thread) {
    auto* sets = region<SetSlot>(state, RegionId::sets);
    const auto used = static_cast<uint32_t>(state.header->sets_used.load(std::memory_order_relaxed));
    if (used < kMaxSets) {
        return &sets[used];
    }
    SetSlot* oldest = nullptr;
    for (uint32_t i = 0; i < kMaxSets; ++i) {
        const bool is_closed = closed_ticks(sets[i]) != kOpen;
        if (is_closed && (oldest == nullptr || closed_ticks(sets[i]) < closed_ticks(*oldest))) {
            oldest = &sets[i];
        }
    }
    if (oldest != nullptr) {
        const auto index = static_cast<uint32_t>(oldest - sets);
        if (!is_empty(state, index)) {
            free_set(state, thread, index);
        }
    }
    return oldest;
}

// Salted like a handle, so that a token from before a fork means nothing here; the generation is odd and the salt even,
// so it is never 0.
ttmem_set token_of(const State& state, uint32_t index, uint64_t generation) {
    const uint64_t salted = generation ^ state.session.load(std::memory_order_relaxed);
    return static_cast<ttmem_set>((salted & 0xffffff) << 8 | index);
}

void write_set_event(State& state, Thread& thread, segment::EventType type, uint32_t set, uint64_t ticks) {
    segment::Event event;
    event.type = type;
    event.ticks = ticks;
    event.set = static_cast<uint8_t>(set);
    write_event(state, thread, event);
}

}  // namespace

ttmem_device register_device(State& state, const ttmem_device_info& info) {
    Lock lock(state.lock);
    auto* devices = region<DeviceSlot>(state, RegionId::devices);
    const auto used = static_cast<uint32_t>(state.header->devices_used.load(std::memory_order_relaxed));
    for (uint32_t i = 0; i < used; ++i) {
        const ttmem_device_info known = load_device(devices[i]);
        if (is_same_device(known, info)) {
            if (memcmp(&known, &info, sizeof info) != 0) {
                store_device(devices[i], info);
            }
            return i + 1;
        }
    }
    if (used == kMaxDevices) {
        count(state, Inexact::devices_full);
        return 0;
    }
    store_device(devices[used], info);
    state.header->devices_used.store(used + 1, std::memory_order_release);
    return used + 1;
}

ttmem_device device_by_number(State& state, uint32_t logical_id) {
    {
        Lock lock(state.lock);
        auto* devices = region<DeviceSlot>(state, RegionId::devices);
        const auto used = static_cast<uint32_t>(state.header->devices_used.load(std::memory_order_relaxed));
        for (uint32_t i = 0; i < used; ++i) {
            if (load_device(devices[i]).logical_id == logical_id) {
                return i + 1;
            }
        }
    }
    ttmem_device_info info{};
    info.logical_id = logical_id;
    return register_device(state, info);
}

ttmem_set open_set(State& state, Thread& thread, uint64_t members, const char* label) {
    const uint32_t label_name = intern_name(state, label, 0);
    Lock lock(state.lock);
    SetSlot* slot = find_entry(state, thread);
    if (slot == nullptr) {
        count(state, Inexact::sets_full);
        return 0;
    }
    const auto index = static_cast<uint32_t>(slot - region<SetSlot>(state, RegionId::sets));
    if (segment::is_live(slot->generation())) {
        slot->retire(slot->generation());
    }
    for (uint32_t kind = 0; kind < segment::kKindsPerSet; ++kind) {
        state.pools[index * segment::kKindsPerSet + kind].peak.store(0, std::memory_order_relaxed);
    }
    DeviceSet set;
    set.members = members;
    set.opened_ticks = now_ticks(state);
    set.label = label_name;
    uint64_t payload[SetSlot::kPayloadWords];
    memcpy(payload, &set, sizeof payload);
    const uint64_t generation = segment::next_generation(slot->generation());
    slot->publish(payload, generation);
    if (index >= state.header->sets_used.load(std::memory_order_relaxed)) {
        state.header->sets_used.store(index + 1, std::memory_order_release);
    }
    const ttmem_set token = token_of(state, index, generation);
    state.set_token[index].store(token, std::memory_order_release);
    write_set_event(state, thread, segment::EventType::open_set, index, set.opened_ticks);
    return token;
}

}  // namespace ttmem::client

using namespace ttmem::client;

extern "C" ttmem_device ttmem_register_device(const ttmem_device_info* info) {
    if (is_off() || info == nullptr) {
        return 0;
    }
    const Call call;
    return call ? register_device(call.state(), *info) : 0;
}

extern "C" ttmem_set ttmem_open_set(const ttmem_device* members, uint32_t count, const char* label) {
    if (is_off() || members == nullptr) {
        return 0;
    }
    const Call call;
    if (!call) {
        return 0;
    }
    const uint64_t known = call.state().header->devices_used.load(std::memory_order_acquire);
    uint64_t mask = 0;
    for (uint32_t i = 0; i < count; ++i) {
        if (members[i] == 0 || members[i] > known) {
            ttmem::client::count(call.state(), ttmem::segment::Inexact::unknown_device);
            continue;
        }
        mask |= uint64_t{1} << (members[i] - 1);
    }
    return mask == 0 ? 0 : open_set(call.state(), call.thread(), mask, label);
}

namespace {

// Returns the index of an open set, or kMaxSets (counted).
uint32_t open_index(State& state, ttmem_set set) {
    const uint32_t index = set & 0xff;
    if (index < kMaxSets && state.set_token[index].load(std::memory_order_relaxed) == set) {
        return index;
    }
    count(state, Inexact::unknown_set);
    return kMaxSets;
}

}  // namespace

extern "C" void ttmem_close_set(ttmem_set set) {
    if (is_off() || set == 0) {
        return;
    }
    const Call call;
    if (!call) {
        return;
    }
    State& state = call.state();
    const uint32_t index = open_index(state, set);
    ttmem_set token = set;
    // Of several threads that close one set, one does it.
    if (index == kMaxSets || !state.set_token[index].compare_exchange_strong(token, 0)) {
        return;
    }
    if (!is_empty(state, index)) {
        free_set(state, call.thread(), index);
    }
    const uint64_t ticks = now_ticks(state);
    // SYNC POINT: with Reader::sets(); one word of a live slot, which a reader sees before or after, never torn.
    region<SetSlot>(state, RegionId::sets)[index].word[ttmem::segment::kClosedTicksWord].store(
        ticks, std::memory_order_release);
    write_set_event(state, call.thread(), ttmem::segment::EventType::close_set, index, ticks);
}

extern "C" void ttmem_clear_set(ttmem_set set) {
    if (is_off() || set == 0) {
        return;
    }
    const Call call;
    if (!call) {
        return;
    }
    const uint32_t index = open_index(call.state(), set);
    if (index != kMaxSets && !is_empty(call.state(), index)) {
        free_set(call.state(), call.thread(), index);
    }
}
