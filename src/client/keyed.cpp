// SPDX-License-Identifier: Apache-2.0

// The calls of the AllocationClient, which name an allocation by device number and address. Each device number has a set
// of its own; a chain of the private index holds what is live at one address of it, newest first. The rules are those of
// segment/keyed_rules.hpp.

#include "client/allocations.hpp"
#include "client/failures.hpp"
#include "client/index.hpp"
#include "client/sets.hpp"
#include "segment/keyed_rules.hpp"

namespace ttmem::client {

using segment::Allocation;
using segment::AllocationKind;
using segment::Inexact;
using segment::KeyedClass;
using segment::kNoEntry;
using segment::SlotRef;

namespace {

// The entry of a device number in the small table of those seen: where it is, or where it would go, or null.
KeyedDevice* device_entry(State& state, int32_t id) {
    for (uint32_t i = 0; i < segment::kMaxDevices; ++i) {
        KeyedDevice& device = state.keyed_devices[(static_cast<uint32_t>(id) + i) % segment::kMaxDevices];
        if (device.set.load(std::memory_order_acquire) == 0 || device.id == id) {
            return &device;
        }
    }
    return nullptr;
}

// The set of a device number; 0 before its first report. This is on the hot path: each word is read once.
ttmem_set known_set(const State& state, int32_t id) {
    for (uint32_t i = 0; i < segment::kMaxDevices; ++i) {
        const KeyedDevice& device =
            state.keyed_devices[(static_cast<uint32_t>(id) + i) % segment::kMaxDevices];
        const ttmem_set set = device.set.load(std::memory_order_acquire);
        if (set == 0 || device.id == id) {
            return set;
        }
    }
    return 0;
}

constexpr uint8_t index_of(ttmem_set set) { return static_cast<uint8_t>(set); }

// The set of a device number, opened at its first report; 0 where there is no room (counted).
ttmem_set set_of(State& state, Recorder& recorder, int32_t id) {
    if (const ttmem_set set = known_set(state, id); set != 0) {
        return set;
    }
    if (id < 0) {
        count(state, Inexact::unknown_device);
        return 0;
    }
    Lock lock(state.keyed_lock);
    KeyedDevice* device = device_entry(state, id);
    if (device == nullptr) {
        count(state, Inexact::devices_full);
        return 0;
    }
    if (device->set.load(std::memory_order_relaxed) == 0) {
        const ttmem_device entry = device_by_number(state, static_cast<uint32_t>(id));
        device->id = id;
        Members members;
        if (entry != 0) {
            members.add(entry);
        }
        const ttmem_set set = entry == 0 ? 0 : open_set(state, recorder, members, "by address");
        device->set.store(set, std::memory_order_release);
    }
    return device->set.load(std::memory_order_relaxed);
}

// What a report names: live allocations of a class at an address of a set.
struct AllocationKey {
    uint8_t set;
    KeyedClass of;
    uint64_t address;
    uint64_t size;  // circular buffers: a free names them by that too
};

// The live allocations with a key in a locked chain, for the rules. Reads only the words it needs: this is on the hot
// path of the keyed calls.
class ChainEntries {
public:
    ChainEntries(const State& state, const Chain& chain, const AllocationKey& key)
        : state_(state), chain_(chain), key_(key) {}

    uint32_t newest() const { return match_from(chain_.first()); }
    uint32_t older(uint32_t slot) const { return match_from(chain_.next(slot)); }
    AllocationKind kind(uint32_t slot) const { return segment::kind_in(what(slot)); }
    void add_reference(uint32_t slot) { ++chain_.link(slot).references; }
    bool has_other_kind(uint32_t slot) const {
        const AllocationKind known = kind(slot);
        for (uint32_t next = older(slot); next != kNoEntry; next = older(next)) {
            if (kind(next) != known) {
                return true;
            }
        }
        return false;
    }

private:
    uint64_t word(uint32_t slot, size_t index) const {
        return state_.ledger[slot].word[index].load(std::memory_order_relaxed);
    }
    uint64_t what(uint32_t slot) const { return word(slot, segment::kWhatWord); }

    bool matches(uint32_t slot) const {
        const uint64_t found = what(slot);
        return segment::is_live(state_.ledger[slot].generation()) && segment::set_in(found) == key_.set &&
               word(slot, segment::kAddressWord) == key_.address &&
               segment::flags_in(found).has(segment::AllocationFlag::keyed) &&
               segment::keyed_class_of(segment::kind_in(found)) == key_.of &&
               (key_.of != KeyedClass::cb || word(slot, segment::kRequestedWord) == key_.size);
    }
    uint32_t match_from(uint32_t slot) const {
        while (slot != kNoSlot && !matches(slot)) {
            slot = chain_.next(slot);
        }
        return slot;
    }

    const State& state_;
    const Chain& chain_;
    const AllocationKey& key_;
};
static_assert(kNoEntry == kNoSlot);

// Drops a reference, and with the last one the allocation.
void release(State& state, Recorder& recorder, Chain& chain, uint32_t slot) {
    if (--chain.link(slot).references != 0) {
        return;
    }
    uint64_t what = 0;
    if (recorder.events.free({slot, state.ledger[slot].generation()}, now_ticks(state, recorder), what)) {
        chain.remove(slot);
        reuse_slot(state, recorder, slot);
    }
}

void count_unknown_free(State& state, const int32_t* device, uint64_t address) {
    count(state, Inexact::unknown_free);
    report_unknown_free(state, device, address);
}

// Frees the newest match on one device; false if there is none. `others`: other devices have matches too, so the free is
// ambiguous in any case. It counts as ambiguous once.
bool free_newest(State& state, Recorder& recorder, const AllocationKey& key, bool others = false) {
    Chain chain(state, bucket_of(state, key.set, key.address));
    const segment::KeyedMatch match = match_to_free(ChainEntries(state, chain, key), key.of);
    if (match.entry == kNoEntry) {
        return false;
    }
    if (match.ambiguous || others) {
        count(state, Inexact::ambiguous_free);
    }
    release(state, recorder, chain, match.entry);
    return true;
}

// The body of every call that ends something on one device.
void report_end(int32_t device_id, KeyedClass of, uint64_t address, uint64_t size = 0) {
    if (is_off()) {
        return;
    }
    const ApiCall call;
    if (!call) {
        return;
    }
    State& state = call.state();
    const ttmem_set set = known_set(state, device_id);
    if (set == 0 || !free_newest(state, call.recorder(), {index_of(set), of, address, size})) {
        count_unknown_free(state, &device_id, address);
    }
}

// The body of every call that begins something.
void report_begin(int32_t device_id, KeyedClass of, uint32_t kind, uint64_t size, uint64_t address) {
    if (is_off()) {
        return;
    }
    const ApiCall call;
    if (!call) {
        return;
    }
    State& state = call.state();
    Allocation a;
    const ttmem_set set = set_of(state, call.recorder(), device_id);
    if (set == 0 || !describe(state, set, kind, size, size, a)) {
        return;
    }
    a.address = address;
    a.flags = segment::keyed_flags(of, address);
    const AllocationKey key{a.set, of, address, size};
    Chain chain(state, bucket_of(state, a.set, address));
    ChainEntries entries(state, chain, key);
    if (absorbs(entries, of, a.kind, address)) {
        return;
    }
    const SlotRef ref = record_allocation(state, call.recorder(), a);
    if (ref.generation != 0) {
        chain.push(ref.slot);
    }
}

}  // namespace

}  // namespace ttmem::client

using namespace ttmem::client;
using ttmem::segment::KeyedClass;

extern "C" void ttmem_report_allocation(int32_t device_id, uint64_t size, uint8_t buffer_type,
                                        uint64_t buffer_id) {
    report_begin(device_id, KeyedClass::buffer, ttmem::segment::buffer_kind(buffer_type), size, buffer_id);
}

extern "C" void ttmem_report_deallocation(int32_t device_id, uint64_t buffer_id) {
    report_end(device_id, KeyedClass::buffer, buffer_id);
}

extern "C" void ttmem_report_deallocation_anywhere(uint64_t buffer_id) {
    if (is_off()) {
        return;
    }
    const ApiCall call;
    if (!call) {
        return;
    }
    State& state = call.state();
    // The newest on each device, and of these the one that was allocated last.
    AllocationKey newest{0, KeyedClass::buffer, buffer_id, 0};
    uint64_t newest_ticks = 0;
    unsigned matches = 0;
    for (const KeyedDevice& device : state.keyed_devices) {
        const ttmem_set set = device.set.load(std::memory_order_acquire);
        if (set == 0) {
            continue;
        }
        const AllocationKey key{index_of(set), KeyedClass::buffer, buffer_id, 0};
        const Chain chain(state, bucket_of(state, key.set, buffer_id));
        const uint32_t slot = ChainEntries(state, chain, key).newest();
        if (slot != kNoSlot) {
            const uint64_t ticks = load_allocation(state.ledger[slot]).ticks;
            if (matches == 0 || ticks >= newest_ticks) {
                newest = key;
                newest_ticks = ticks;
            }
            ++matches;
        }
    }
    if (matches == 0 || !free_newest(state, call.recorder(), newest, matches > 1)) {
        count_unknown_free(state, nullptr, buffer_id);
    }
}

extern "C" void ttmem_report_cb_allocation(int32_t device_id, uint64_t size, uint64_t cb_id) {
    report_begin(device_id, KeyedClass::cb, TTMEM_CB, size, cb_id);
}

extern "C" void ttmem_report_cb_deallocation(int32_t device_id, uint64_t size, uint64_t cb_id) {
    report_end(device_id, KeyedClass::cb, cb_id, size);
}

extern "C" void ttmem_report_kernel_load(int32_t device_id, uint64_t size, uint64_t kernel_id,
                                         uint8_t kernel_type) {
    report_begin(device_id, KeyedClass::kernel, ttmem::segment::kernel_kind(kernel_type), size, kernel_id);
}

extern "C" void ttmem_report_kernel_unload(int32_t device_id, uint64_t /*size*/, uint64_t kernel_id) {
    report_end(device_id, KeyedClass::kernel, kernel_id);
}
