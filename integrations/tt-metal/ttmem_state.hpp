// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the reporter knows, shared by its files: the thread's state, the process's, and the sets of devices.

#include <ttmem/ttmem.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <exception>
#include <map>
#include <mutex>
#include <string_view>
#include <tt-metalium/buffer_types.hpp>
#include <utility>
#include <vector>

#include "ttmem_records.hpp"
#include "ttmem_reporter.hpp"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#pragma GCC visibility push(hidden)

namespace tt::tt_metal::ttmem_reporter {

// The numbers are the same, so that a buffer's type is its kind.
constexpr std::array<BufferType, 4> kPools = {BufferType::DRAM, BufferType::L1, BufferType::L1_SMALL,
                                              BufferType::TRACE};
constexpr size_t kKinds = 5;
constexpr uint32_t kind_of(BufferType type) { return static_cast<uint32_t>(type); }
static_assert(kind_of(BufferType::DRAM) == TTMEM_DRAM && kind_of(BufferType::L1) == TTMEM_L1 &&
              kind_of(BufferType::SYSTEM_MEMORY) == TTMEM_SYSTEM_MEMORY &&
              kind_of(BufferType::L1_SMALL) == TTMEM_L1_SMALL && kind_of(BufferType::TRACE) == TTMEM_TRACE);

inline uint64_t round_to(uint64_t value, uint64_t step) {
    return step == 0 ? value : (value + step - 1) / step * step;
}

// Without a destructor, because buffers are freed until the very end of a thread.
struct ThreadData {
    const Buffer* allocated = nullptr;             // the last buffer that an allocator gave memory to
    const detail::ProgramImpl* program = nullptr;  // whose circular buffers are reported now
    uint64_t layout = 0;                           // and which of its layouts this is
    uint32_t scopes = 0;                           // ops around
    const IDevice* device = nullptr;               // the last device, with its set
    uint64_t device_version = 0;
    ttmem_set set = 0;
    uint32_t measured = 0;  // kinds whose first buffer was measured: one bit each
};
extern thread_local constinit ThreadData thread_data;

struct OpenSet {
    ttmem_set set = 0;
    std::vector<IDevice*> chips;
};

struct FirstOfKind {
    std::mutex mutex;
    std::atomic<bool> is_measured{false};
};

using RegionKey = std::pair<const void*, std::pair<uint32_t, uint64_t>>;  // allocator, kind, address

struct HeldRegion {
    ttmem_handle handle;
    uint64_t end;
};

struct State {
    BufferRecords buffers;
    ProgramRecords programs;
    std::array<FirstOfKind, kKinds> first;

    std::mutex mutex;
    std::map<const IDevice*, OpenSet> sets;
    std::map<RegionKey, HeldRegion> regions;  // memory without a buffer, from AllocatorImpl::override_state
    std::atomic<size_t> region_count{0};
    std::atomic<uint64_t> version{1};  // of `sets`, for the threads' copies
    std::atomic<bool> is_stopped{false};
};

// Never destroyed. A forked child starts anew.
State& process_state();

// Withdraws all figures of the process, because what is shown is right or absent.
void stop(State& state, std::string_view reason) noexcept;

template <class Action>
void report(const Action& action) noexcept {
    if (ttmem_enabled() == 0) {
        return;
    }
    State& state = process_state();
    if (state.is_stopped.load(std::memory_order_relaxed)) {
        return;
    }
    try {
        action(state);
    } catch (const std::exception& error) {
        stop(state, error.what());
    } catch (...) {
        stop(state, "a query to the runtime failed");
    }
}

// For facts whose absence makes no other wrong.
template <class Action>
void report_if_possible(const Action& action) noexcept {
    report([&](State& state) {
        try {
            action(state);
        } catch (...) {
            return;
        }
    });
}

// A chip, or the chips of a mesh.
std::vector<IDevice*> chips_of(const IDevice* device);

// The set of the device, which is opened at its first use.
ttmem_set find_set(State& state, const IDevice* device);

inline ttmem_set set_of(State& state, const IDevice* device) {
    ThreadData& data = thread_data;
    const uint64_t version =
        state.version.load(std::memory_order_acquire);  // pairs with the addition in close()
    if (data.device != device || data.device_version != version) {
        data.set = find_set(state, device);
        data.device = device;
        data.device_version = version;
    }
    return data.set;
}

// With a chip, the meshes that it belongs to close too.
void close(State& state, const IDevice* device);

}  // namespace tt::tt_metal::ttmem_reporter

#pragma GCC visibility pop
