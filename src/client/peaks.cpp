// SPDX-License-Identifier: Apache-2.0
#include "client/peaks.hpp"

#include <string.h>

#include "client/sets.hpp"
#include "client/state.hpp"

namespace ttmem::client {

using segment::RegionId;

segment::ChipPeaks chip_peaks(State& state) {
    return {state.pools, region<segment::ChipCounters>(state, RegionId::chips), state.set_members,
            static_cast<uint32_t>(state.header->sets_used.load(std::memory_order_acquire))};
}

void ClientTraits::resume(uint32_t pool, uint64_t level) {
    State& state = *g_state;
    Lock lock(state.peak_lock);
    chip_peaks(state).resume(pool, level);
}

namespace {

// Adds the counters of one set and kind.
void add_counters(const State& state, uint32_t set, uint32_t kind, ttmem_usage& usage) {
    const uint32_t pool = segment::pool_index(set, static_cast<segment::AllocationKind>(kind));
    usage.used += state.pools[pool].used.load(std::memory_order_acquire);
    const auto lines = static_cast<uint32_t>(state.header->writers_used.load(std::memory_order_acquire));
    for (uint32_t line = 0; line < lines; ++line) {
        const segment::Tally& tally = state.recorders[line].events.tallies[pool];
        usage.requested += tally.requested.load(std::memory_order_acquire);
        usage.count += tally.count.load(std::memory_order_acquire);
    }
}

uint64_t capacity_of(const ttmem_device_info& info, uint32_t kind) {
    if (kind > TTMEM_TRACE) {
        return 0;
    }
    const ttmem_memory_info& memory = info.memory[kind];
    return memory.capacity != 0 ? memory.capacity : memory.size_per_bank * memory.banks;
}

}  // namespace

}  // namespace ttmem::client

using namespace ttmem::client;

extern "C" int ttmem_own_usage(int32_t logical_id, uint32_t kind, ttmem_usage* usage) {
    if (usage == nullptr) {
        return 0;
    }
    memset(usage, 0, sizeof *usage);
    if (ttmem_is_reporting() == 0 || kind >= ttmem::segment::kKinds) {
        return 0;
    }
    const ApiCall call;
    if (!call) {
        return 0;
    }
    State& state = call.state();
    const uint64_t devices = devices_called(state, static_cast<uint32_t>(logical_id));
    const auto device = static_cast<uint32_t>(devices == 0 ? 0 : __builtin_ctzll(devices));
    ttmem_device_info info;
    if (devices == 0 || !read_device(state, device, info)) {
        return 0;
    }
    usage->capacity = capacity_of(info, kind);
    Lock lock(state.peak_lock);
    const auto peaks = chip_peaks(state);
    for (uint32_t set = 0; set < peaks.sets; ++set) {
        if ((peaks.members[set] >> device & 1) != 0) {
            add_counters(state, set, kind, *usage);
        }
    }
    const uint32_t chip_kind = ttmem::segment::chip_kind(kind);
    usage->peak = peaks.peak(device, chip_kind);
    usage->peak_since_reset = peaks.peak_since_reset(device, chip_kind);
    return 1;
}

extern "C" int ttmem_reset_peak(int32_t logical_id) {
    if (ttmem_is_reporting() == 0) {
        return 0;
    }
    const ApiCall call;
    if (!call) {
        return 0;
    }
    State& state = call.state();
    const uint32_t count = device_count(state);
    const uint64_t all = count >= 64 ? UINT64_MAX : (uint64_t{1} << count) - 1;
    const uint64_t devices =
        logical_id == -1 ? all : devices_called(state, static_cast<uint32_t>(logical_id));
    if (devices == 0 || logical_id < -1) {
        return 0;
    }
    Lock lock(state.peak_lock);
    chip_peaks(state).reset(devices);
    return 1;
}
