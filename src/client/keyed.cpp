// SPDX-License-Identifier: Apache-2.0

// The calls of the AllocationClient: allocations are named by device number and address. Each device number has a set
// of its own; a chain of the private index holds what is live at one address of it, newest first.

#include "client/allocations.hpp"
#include "client/failures.hpp"
#include "client/index.hpp"
#include "client/sets.hpp"

namespace ttmem::client {

using segment::Allocation;
using segment::Inexact;
using segment::Kind;
using segment::SlotRef;

namespace {

// The place of a device number in the small table of those seen: where it is, or where it would go, or null.
KeyedDevice* place_of(State& state, int32_t id) {
    for (uint32_t i = 0; i < segment::kMaxDevices; ++i) {
        KeyedDevice& device = state.keyed_devices[(static_cast<uint32_t>(id) + i) % segment::kMaxDevices];
        if (device.set.load(std::memory_order_acquire) == 0 || device.id == id) {
            return &device;
        }
    }
    return nullptr;
}

constexpr uint8_t index_of(ttmem_set set) { return static_cast<uint8_t>(set); }

// The set of a device number, opened at its first report; 0 where there is no room (counted).
ttmem_set set_of(State& state, Thread& thread, int32_t id) {
    if (id < 0) {
        count(state, Inexact::unknown_device);
        return 0;
    }
    KeyedDevice* device = place_of(state, id);
    if (device != nullptr) {
        if (const ttmem_set set = device->set.load(std::memory_order_acquire); set != 0) {
            return set;
        }
    }
    Lock lock(state.keyed_lock);
    device = place_of(state, id);
    if (device == nullptr) {
        count(state, Inexact::devices_full);
        return 0;
    }
    if (device->set.load(std::memory_order_relaxed) == 0) {
        const ttmem_device entry = device_by_number(state, static_cast<uint32_t>(id));
        device->id = id;
        const ttmem_set set =
            entry == 0 ? 0 : open_set(state, thread, uint64_t{1} << (entry - 1), "by address");
        device->set.store(set, std::memory_order_release);
    }
    return device->set.load(std::memory_order_relaxed);
}

enum class Class { buffer, cb, kernel };

constexpr Class class_of(Kind kind) {
    return kind == Kind::cb ? Class::cb : segment::is_kernel(kind) ? Class::kernel : Class::buffer;
}

// A place in a chain: which live allocations of a class sit at an address of a set.
struct Place {
    uint8_t set;
    uint64_t address;
    Class wanted;
};

struct Found {
    uint32_t slot = kNoSlot;
    uint64_t generation = 0;
    Kind kind = Kind::dram;
    bool ambiguous = false;
};

// The newest live allocation at a place for which matches(kind, requested); ambiguous where buffers of another kind
// are there too. Looks at the words it needs, and no more: this is on the hot path of the keyed calls.
template <class Matches>
Found find(const State& state, const Chain& chain, const Place& place, Matches&& matches) {
    Found found;
    for (uint32_t slot = chain.first(); slot != kNoSlot; slot = chain.next(slot)) {
        const segment::LedgerSlot& entry = state.ledger[slot];
        const uint64_t generation = entry.generation();
        const uint64_t what = entry.word[segment::kWhatWord].load(std::memory_order_relaxed);
        const Kind kind = segment::kind_in(what);
        if (!segment::is_live(generation) || segment::set_in(what) != place.set ||
            entry.word[segment::kAddressWord].load(std::memory_order_relaxed) != place.address ||
            (segment::flags_in(what) & segment::kKeyed) == 0 || class_of(kind) != place.wanted ||
            !matches(kind, entry.word[segment::kRequestedWord].load(std::memory_order_relaxed))) {
            continue;
        }
        if (found.slot == kNoSlot) {
            found = {slot, generation, kind, false};
        } else if (found.kind != kind && place.wanted == Class::buffer) {
            found.ambiguous = true;
            break;
        }
    }
    return found;
}

constexpr auto any = [](Kind, uint64_t) { return true; };

void record_keyed(State& state, Thread& thread, Chain& chain, Allocation& a, uint64_t address) {
    a.address = address;
    a.flags |= segment::kKeyed;
    const SlotRef ref = record_allocation(state, thread, a);
    if (ref.generation != 0) {
        chain.push(ref.slot);
    }
}

// Drops a reference, and with the last one the allocation.
void release(State& state, Thread& thread, Chain& chain, const Found& found) {
    if (--chain.link(found.slot).references != 0) {
        return;
    }
    if (record_free(state, thread, {found.slot, found.generation}) != Freed::no) {
        chain.remove(found.slot);
        reuse_slot(state, thread, found.slot);
    }
}

void count_unknown_free(State& state, const int32_t* device, uint64_t address) {
    count(state, Inexact::unknown_free);
    report_unknown_free(state, device, address);
}

// Frees the newest match on one device; false if there is none. `others`: there are matches elsewhere too, which makes
// this free an ambiguous one whatever is here; either way it counts as one.
template <class Matches>
bool free_newest(State& state, Thread& thread, const Place& place, Matches&& matches, bool others = false) {
    Chain chain(state, bucket_of(state, place.set, place.address));
    const Found found = find(state, chain, place, matches);
    if (found.slot == kNoSlot) {
        return false;
    }
    if (found.ambiguous || others) {
        count(state, Inexact::ambiguous_free);
    }
    release(state, thread, chain, found);
    return true;
}

// The body of every call that ends something on one device.
template <class Matches>
void report_end(int32_t device_id, uint64_t address, Class wanted, Matches&& matches) {
    if (is_off()) {
        return;
    }
    const Call call;
    if (!call) {
        return;
    }
    State& state = call.state();
    const KeyedDevice* device = place_of(state, device_id);
    const ttmem_set set = device == nullptr ? 0 : device->set.load(std::memory_order_acquire);
    if (set == 0 || !free_newest(state, call.thread(), {index_of(set), address, wanted}, matches)) {
        count_unknown_free(state, &device_id, address);
    }
}

// The body of every call that begins something. `known` decides what a live one at the same place means: true = done.
template <class Known>
void report_begin(int32_t device_id, uint32_t kind, uint64_t size, uint64_t reserved, uint64_t address,
                  Known&& known) {
    if (is_off()) {
        return;
    }
    const Call call;
    if (!call) {
        return;
    }
    State& state = call.state();
    Allocation a;
    const ttmem_set set = set_of(state, call.thread(), device_id);
    if (set == 0 || !describe(state, set, kind, size, reserved, a)) {
        return;
    }
    Chain chain(state, bucket_of(state, a.set, address));
    if (!known(state, chain, a)) {
        record_keyed(state, call.thread(), chain, a, address);
    }
}

}  // namespace

}  // namespace ttmem::client

using namespace ttmem::client;

extern "C" void ttmem_report_allocation(int32_t device_id, uint64_t size, uint8_t buffer_type,
                                        uint64_t buffer_id) {
    // Address 0 is a hooked buffer: each is one of its own, and takes nothing. A type that is no buffer's is refused
    // by describe() like any other unknown kind.
    const uint32_t kind = buffer_type <= TTMEM_TRACE ? buffer_type : kNoKind;
    const uint32_t flags = buffer_id == 0 ? TTMEM_PLANNED : 0u;
    report_begin(device_id, kind | flags, size, buffer_id == 0 ? size : TTMEM_UNKNOWN, buffer_id,
                 [&](State& state, const Chain& chain, const Allocation& a) {
                     if (buffer_id == 0) {
                         return false;
                     }
                     const Found same = find(state, chain, {a.set, buffer_id, Class::buffer},
                                             [&](Kind live, uint64_t) { return live == a.kind; });
                     if (same.slot == kNoSlot) {
                         return false;
                     }
                     ++chain.link(same.slot).references;
                     return true;
                 });
}

extern "C" void ttmem_report_deallocation(int32_t device_id, uint64_t buffer_id) {
    report_end(device_id, buffer_id, Class::buffer, any);
}

extern "C" void ttmem_report_deallocation_anywhere(uint64_t buffer_id) {
    if (is_off()) {
        return;
    }
    const Call call;
    if (!call) {
        return;
    }
    State& state = call.state();
    // The newest on each device, and of these the newest: the one whose slot was published last.
    ttmem_set newest_set = 0;
    uint64_t newest_ticks = 0;
    unsigned matches = 0;
    for (const KeyedDevice& device : state.keyed_devices) {
        const ttmem_set set = device.set.load(std::memory_order_acquire);
        if (set == 0) {
            continue;
        }
        const Chain chain(state, bucket_of(state, index_of(set), buffer_id));
        const Found found = find(state, chain, {index_of(set), buffer_id, Class::buffer}, any);
        if (found.slot != kNoSlot) {
            ++matches;
            const uint64_t ticks = load_allocation(state.ledger[found.slot]).ticks;
            if (newest_set == 0 || ticks >= newest_ticks) {
                newest_set = set;
                newest_ticks = ticks;
            }
        }
    }
    const Place newest{index_of(newest_set), buffer_id, Class::buffer};
    if (newest_set == 0 || !free_newest(state, call.thread(), newest, any, matches > 1)) {
        count_unknown_free(state, nullptr, buffer_id);
    }
}

extern "C" void ttmem_report_cb_allocation(int32_t device_id, uint64_t size, uint64_t cb_id) {
    report_begin(device_id, TTMEM_CB, size, TTMEM_UNKNOWN, cb_id,
                 [](State&, const Chain&, const Allocation&) { return false; });
}

extern "C" void ttmem_report_cb_deallocation(int32_t device_id, uint64_t size, uint64_t cb_id) {
    report_end(device_id, cb_id, Class::cb, [size](Kind, uint64_t requested) { return requested == size; });
}

extern "C" void ttmem_report_kernel_load(int32_t device_id, uint64_t size, uint64_t kernel_id,
                                         uint8_t kernel_type) {
    const uint32_t kind = kernel_type <= 2 ? uint32_t{TTMEM_KERNEL_APPLICATION} + kernel_type : kNoKind;
    report_begin(device_id, kind, size, size, kernel_id,
                 [&](State& state, const Chain& chain, const Allocation& a) {
                     return find(state, chain, {a.set, kernel_id, Class::kernel}, any).slot != kNoSlot;
                 });
}

extern "C" void ttmem_report_kernel_unload(int32_t device_id, uint64_t /*size*/, uint64_t kernel_id) {
    report_end(device_id, kernel_id, Class::kernel, any);
}
