// SPDX-License-Identifier: Apache-2.0
#include "client/sets.hpp"

#include <string.h>

#include "client/allocations.hpp"
#include "client/clock.hpp"
#include "client/names.hpp"
#include "client/peaks.hpp"

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

bool is_same_device(const ttmem_device_info& a, const ttmem_device_info& b) {
    if (a.asic_id != 0 && b.asic_id != 0) {
        return a.asic_id == b.asic_id;
    }
    return a.logical_id == b.logical_id;
}

// Whether nothing is live in a set: of any kind, and nothing that adds no bytes either.
bool is_empty(const State& state, uint32_t set) {
    const auto lines = static_cast<uint32_t>(state.header->writers_used.load(std::memory_order_acquire));
    for (uint32_t kind = 0; kind < segment::kKinds; ++kind) {
        const uint32_t index = segment::pool_index(set, static_cast<segment::AllocationKind>(kind));
        uint64_t count = 0;
        uint64_t planned_and_views = 0;
        for (uint32_t line = 0; line < lines; ++line) {
            const segment::Tally& tally = state.recorders[line].events.tallies[index];
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
// Frees an allocation that raced with the close of its set.
SetSlot* find_entry(State& state, Recorder& recorder) {
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
            free_set(state, recorder, index);
        }
    }
    return oldest;
}

// Salted like a handle, so that a set from before a fork is not one here. The generation is odd and the salt even, so
// it is never 0, and it is not kNoSet, whose low byte is no index.
ttmem_set token_of(const State& state, uint32_t index, uint64_t generation) {
    const uint64_t salted = generation ^ state.id.load(std::memory_order_relaxed);
    return static_cast<ttmem_set>((salted & 0xffffff) << 8 | index);
}

void write_set_event(Recorder& recorder, segment::EventType type, uint32_t set, uint64_t ticks) {
    segment::Event event;
    event.type = type;
    event.ticks = ticks;
    event.set = static_cast<uint8_t>(set);
    recorder.events.append(event);
}

}  // namespace

uint32_t device_count(const State& state) {
    return static_cast<uint32_t>(state.header->devices_used.load(std::memory_order_acquire));
}

bool read_device(const State& state, uint32_t index, ttmem_device_info& info) {
    static_assert(sizeof info == 240 && sizeof info <= DeviceSlot::kPayloadWords * 8);
    uint64_t payload[DeviceSlot::kPayloadWords];
    if (region<DeviceSlot>(state, RegionId::devices)[index].read(payload) == 0) {
        return false;
    }
    memcpy(&info, payload, sizeof info);
    return true;
}

uint64_t devices_called(const State& state, uint32_t logical_id) {
    const uint32_t count = device_count(state);
    uint64_t mask = 0;
    for (uint32_t i = 0; i < count; ++i) {
        ttmem_device_info info;
        if (read_device(state, i, info) && info.logical_id == logical_id) {
            mask |= uint64_t{1} << i;
        }
    }
    return mask;
}

ttmem_device register_device(State& state, const ttmem_device_info& info) {
    Lock lock(state.lock);
    auto* devices = region<DeviceSlot>(state, RegionId::devices);
    const uint32_t used = device_count(state);
    for (uint32_t i = 0; i < used; ++i) {
        ttmem_device_info known;
        if (read_device(state, i, known) && is_same_device(known, info)) {
            if (memcmp(&known, &info, sizeof info) != 0) {
                segment::publish_object(devices[i], info);
            }
            return i + 1;
        }
    }
    if (used == kMaxDevices) {
        count(state, Inexact::devices_full);
        return 0;
    }
    segment::publish_object(devices[used], info);
    state.header->devices_used.store(used + 1, std::memory_order_release);
    return used + 1;
}

ttmem_device device_by_number(State& state, uint32_t logical_id) {
    {
        Lock lock(state.lock);
        if (const uint64_t known = devices_called(state, logical_id); known != 0) {
            return static_cast<ttmem_device>(__builtin_ctzll(known)) + 1;
        }
    }
    ttmem_device_info info{};
    info.logical_id = logical_id;
    return register_device(state, info);
}

ttmem_set open_set(State& state, Recorder& recorder, const Members& members, const char* label) {
    const uint32_t label_name = intern_name(state, label, 0);
    Lock lock(state.lock);
    SetSlot* slot = find_entry(state, recorder);
    if (slot == nullptr) {
        count(state, Inexact::sets_full);
        return 0;
    }
    const auto index = static_cast<uint32_t>(slot - region<SetSlot>(state, RegionId::sets));
    if (segment::is_live(slot->generation())) {
        slot->retire(slot->generation());
    }
    {
        Lock peaks(state.peak_lock);
        chip_peaks(state).open(index, members.mask);
        state.set_members[index] = members.mask;
    }
    DeviceSet set;
    set.members = members.mask;
    memcpy(set.member, members.order, sizeof set.member);
    set.opened_ticks = note_ticks(state);
    set.label = label_name;
    segment::publish_object(*slot, set);
    const uint64_t generation = slot->generation();
    if (index >= state.header->sets_used.load(std::memory_order_relaxed)) {
        state.header->sets_used.store(index + 1, std::memory_order_release);
    }
    const ttmem_set token = token_of(state, index, generation);
    state.set_token[index].store(token, std::memory_order_release);
    write_set_event(recorder, segment::EventType::open_set, index, set.opened_ticks);
    return token;
}

}  // namespace ttmem::client

using namespace ttmem::client;

extern "C" ttmem_device ttmem_register_device(const ttmem_device_info* info) {
    if (is_off() || info == nullptr) {
        return 0;
    }
    const ApiCall call;
    return call ? register_device(call.state(), *info) : 0;
}

extern "C" ttmem_set ttmem_open_set(const ttmem_device* members, uint32_t count, const char* label) {
    if (is_off() || members == nullptr) {
        return 0;
    }
    const ApiCall call;
    if (!call) {
        return 0;
    }
    const uint64_t known = device_count(call.state());
    Members found;
    for (uint32_t i = 0; i < count; ++i) {
        if (members[i] == 0 || members[i] > known) {
            ttmem::client::count(call.state(), ttmem::segment::Inexact::unknown_device);
        } else {
            found.add(members[i]);
        }
    }
    return found.count == 0 ? 0 : open_set(call.state(), call.recorder(), found, label);
}

namespace {

// Returns the index of an open set, or kMaxSets (counted).
uint32_t open_index(State& state, ttmem_set set) {
    if (is_open_set(state, set)) {
        return set & 0xff;
    }
    count(state, Inexact::unknown_set);
    return kMaxSets;
}

}  // namespace

extern "C" void ttmem_close_set(ttmem_set set) {
    if (is_off() || set == 0) {
        return;
    }
    const ApiCall call;
    if (!call) {
        return;
    }
    State& state = call.state();
    const uint32_t index = open_index(state, set);
    ttmem_set token = set;
    // Of several threads that close one set, one does it.
    if (index == kMaxSets || !state.set_token[index].compare_exchange_strong(token, kNoSet)) {
        return;
    }
    if (!is_empty(state, index)) {
        free_set(state, call.recorder(), index);
    }
    const uint64_t ticks = note_ticks(state);
    // SYNC POINT: with Reader::sets(); one word of a live slot, which a reader sees before or after, never torn.
    region<SetSlot>(state, RegionId::sets)[index].word[ttmem::segment::kClosedTicksWord].store(
        ticks, std::memory_order_release);
    write_set_event(call.recorder(), ttmem::segment::EventType::close_set, index, ticks);
}

extern "C" void ttmem_clear_set(ttmem_set set) {
    if (is_off() || set == 0) {
        return;
    }
    const ApiCall call;
    if (!call) {
        return;
    }
    const uint32_t index = open_index(call.state(), set);
    if (index != kMaxSets && !is_empty(call.state(), index)) {
        free_set(call.state(), call.recorder(), index);
    }
}

extern "C" void ttmem_describe_mesh(ttmem_set set, uint32_t rows, uint32_t columns) {
    if (is_off() || set == 0) {
        return;
    }
    const ApiCall call;
    if (!call) {
        return;
    }
    State& state = call.state();
    const uint32_t index = open_index(state, set);
    if (index == kMaxSets) {
        return;
    }
    const auto members =
        static_cast<uint64_t>(__builtin_popcountll(members_of(state, static_cast<uint8_t>(index))));
    if (uint64_t{rows} * columns != members) {
        return;
    }
    // SYNC POINT: with Reader::sets(); one word of a live slot, which a reader sees before or after, never torn.
    region<SetSlot>(state, RegionId::sets)[index].word[ttmem::segment::kShapeWord].store(
        ttmem::segment::shape_word(rows, columns), std::memory_order_release);
}

extern "C" void ttmem_stop_reporting(void) {
    if (is_off() || ttmem_is_reporting() == 0) {
        return;
    }
    const ApiCall call;
    if (call) {
        ttmem::client::count(call.state(), ttmem::segment::Inexact::stopped);
    }
}
