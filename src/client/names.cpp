// SPDX-License-Identifier: Apache-2.0
#include "client/names.hpp"

#include <string.h>

#include "client/recorder.hpp"
#include "client/sets.hpp"

namespace ttmem::client {

using segment::CoreSetSlot;
using segment::Inexact;
using segment::kMaxNameBytes;
using segment::RegionId;

namespace {

constexpr uint32_t kMaxProbes = 256;

uint64_t hash_of(const char* text, uint32_t length, uint32_t parent) {
    uint64_t hash = (uint64_t{parent} + 1) * 0x9e3779b97f4a7c15 + length;
    for (uint32_t at = 0; at < length; at += 8) {
        uint64_t chunk = 0;
        memcpy(&chunk, text + at, length - at < 8 ? length - at : 8);
        hash = (hash ^ chunk) * 0xd6e8feb86659fd93;
        hash ^= hash >> 32;
    }
    return hash;
}

bool is_name(const segment::Name& name, const char* text, uint32_t length, uint32_t parent) {
    char known[kMaxNameBytes];
    uint32_t known_parent = 0;
    return name.read(known, known_parent) == length && known_parent == parent &&
           memcmp(known, text, length) == 0;
}

// Walks the places where the name may be: its id, or 0 and the first free place.
uint32_t find_name(const State& state, const char* text, uint32_t length, uint32_t parent,
                   uint32_t& free_place) {
    const auto start = static_cast<uint32_t>(hash_of(text, length, parent) >> 20);
    for (uint32_t probe = 0; probe < kMaxProbes; ++probe) {
        const uint32_t place = (start + probe) & state.name_index_mask;
        // SYNC POINT: with add_name(); the id comes after the name it stands for.
        const uint32_t id = state.name_index[place].load(std::memory_order_acquire);
        if (id == 0) {
            free_place = place;
            return 0;
        }
        if (is_name(state.names[id], text, length, parent)) {
            return id;
        }
    }
    free_place = UINT32_MAX;
    return 0;
}

uint32_t add_name(State& state, const char* text, uint32_t length, uint32_t parent) {
    Lock lock(state.name_lock);
    uint32_t place = UINT32_MAX;
    if (const uint32_t id = find_name(state, text, length, parent, place); id != 0) {
        return id;
    }
    const auto id = static_cast<uint32_t>(state.header->names_used.load(std::memory_order_relaxed));
    if (place == UINT32_MAX || id >= state.header->region[static_cast<uint32_t>(RegionId::names)].count ||
        !back(state, RegionId::names, state.names_backing, id + 1)) {
        count(state, Inexact::names_full);
        return 0;
    }
    state.names[id].publish(text, length, parent);
    TTMEM_TEST_POINT("name: published");
    state.header->names_used.store(id + 1, std::memory_order_release);
    state.name_index[place].store(id, std::memory_order_release);
    return id;
}

}  // namespace

uint32_t intern_name(State& state, const char* text, uint32_t parent) {
    if (text == nullptr || *text == '\0') {
        return 0;
    }
    auto length = static_cast<uint32_t>(strnlen(text, kMaxNameBytes + 1));
    if (length > kMaxNameBytes) {
        count(state, Inexact::name_cut);
        length = kMaxNameBytes;
        while (length > 1 && (static_cast<unsigned char>(text[length]) & 0xc0) == 0x80) {
            --length;  // not in the middle of a UTF-8 character
        }
    }
    uint32_t place = 0;
    const uint32_t id = find_name(state, text, length, parent, place);
    return id != 0 ? id : add_name(state, text, length, parent);
}

uint16_t intern_cores(State& state, const ttmem_cores* cores) {
    if (cores == nullptr) {
        return 0;
    }
    uint64_t payload[CoreSetSlot::kPayloadWords] = {};
    static_assert(sizeof *cores == 4 * sizeof(uint64_t));
    memcpy(payload, cores, sizeof *cores);

    Lock lock(state.name_lock);
    auto* sets = region<CoreSetSlot>(state, RegionId::core_sets);
    const auto used = static_cast<uint32_t>(state.header->core_sets_used.load(std::memory_order_relaxed));
    const auto start =
        static_cast<uint32_t>(hash_of(reinterpret_cast<const char*>(cores), sizeof *cores, 0) >> 20);
    uint32_t place = start % kCoreIndex;
    for (; state.core_index[place] != 0; place = (place + 1) % kCoreIndex) {
        const uint16_t id = state.core_index[place];
        uint64_t known[CoreSetSlot::kPayloadWords];
        if (sets[id].read(known) != 0 && memcmp(known, payload, sizeof payload) == 0) {
            return id;
        }
    }
    if (used >= segment::kMaxCoreSets ||
        !back(state, RegionId::core_sets, state.core_sets_backing, used + 1)) {
        count(state, Inexact::core_sets_full);
        return 0;
    }
    sets[used].publish(payload, 1);
    state.header->core_sets_used.store(used + 1, std::memory_order_release);
    state.core_index[place] = static_cast<uint16_t>(used);
    return static_cast<uint16_t>(used);
}

namespace {

// How many names a name is made of.
uint32_t depth_of(const State& state, uint32_t id) {
    uint32_t depth = 0;
    for (; id != 0; ++depth) {
        id = static_cast<uint32_t>(state.names[id].length_and_parent.load(std::memory_order_relaxed) >> 32);
    }
    return depth;
}

}  // namespace

}  // namespace ttmem::client

using namespace ttmem::client;

extern "C" void ttmem_scope_push(const char* name) {
    if (is_off()) {
        return;
    }
    const ApiCall call;
    if (!call) {
        return;
    }
    if (tls.depth == ttmem::segment::kMaxScopeDepth) {
        ++tls.too_deep;
        count(call.state(), ttmem::segment::Inexact::scope_too_deep);
        return;
    }
    // A scope that gets no name (an empty one, or a full table) leaves the names around it in force.
    if (const uint32_t id = intern_name(call.state(), name, tls.name); id != 0) {
        tls.name = id;
        tls.named |= uint64_t{1} << tls.depth;
    }
    ++tls.depth;
}
static_assert(ttmem::segment::kMaxScopeDepth <= 64, "tls.named has a bit for each");

extern "C" void ttmem_scope_pop(void) {
    if (is_off()) {
        return;
    }
    const ApiCall call;
    if (!call) {
        return;
    }
    if (tls.too_deep != 0) {
        --tls.too_deep;
        return;
    }
    if (tls.depth == 0) {
        return;
    }
    const uint64_t bit = uint64_t{1} << --tls.depth;
    if ((tls.named & bit) != 0) {
        tls.named &= ~bit;
        const uint64_t word = call.state().names[tls.name].length_and_parent.load(std::memory_order_relaxed);
        tls.name = static_cast<uint32_t>(word >> 32);
    }
}

namespace {

void tag(State& state, ttmem::segment::SlotRef ref, const char* name) {
    using namespace ttmem::segment;
    LedgerSlot& slot = state.ledger[ref.slot];
    tag_slot(slot.word[0], slot.word[kNamingWord], ref.generation, [&](uint32_t known) -> uint32_t {
        // A tag on the deepest scope fits; readers do not follow paths that are longer.
        if (depth_of(state, known) > kMaxScopeDepth) {
            count(state, Inexact::scope_too_deep);
            return 0;
        }
        return intern_name(state, name, known);
    });
}

// The live allocation of this kind that owns the address. A generation of 0: there is none.
ttmem::segment::SlotRef find_owner(const State& state, uint64_t devices, uint32_t kind, uint64_t address) {
    using namespace ttmem::segment;
    const uint64_t used = state.header->slots_used.load(std::memory_order_acquire);
    for (uint32_t i = 0; i < used; ++i) {
        uint64_t payload[kLedgerPayloadWords];
        const uint64_t generation = state.ledger[i].read(payload);
        if (generation == 0 || payload[kAddressWord - 1] != address) {
            continue;
        }
        const Allocation a = decode_allocation(payload);
        if (static_cast<uint32_t>(a.kind) == kind && adds_bytes(a.flags) &&
            (members_of(state, a.set) & devices) != 0) {
            return {i, generation};
        }
    }
    return {};
}

}  // namespace

extern "C" void ttmem_tag(ttmem_handle handle, const char* name) {
    if (is_off() || handle == 0) {
        return;
    }
    const ApiCall call;
    if (!call) {
        return;
    }
    const auto ref = slot_of(call.state(), handle);
    if (ref.slot < call.state().header->slots_used.load(std::memory_order_acquire)) {
        tag(call.state(), ref, name);
    }
}

extern "C" int ttmem_tag_address(int32_t logical_id, uint32_t kind, uint64_t address, const char* name) {
    if (ttmem_is_reporting() == 0) {
        return 0;
    }
    const ApiCall call;
    if (!call) {
        return 0;
    }
    const uint64_t devices = devices_called(call.state(), static_cast<uint32_t>(logical_id));
    const auto ref = find_owner(call.state(), devices, kind, address);
    if (ref.generation == 0) {
        return 0;
    }
    tag(call.state(), ref, name);
    return 1;
}
