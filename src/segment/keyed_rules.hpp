// SPDX-License-Identifier: Apache-2.0
#pragma once

// The rules of reports that name an allocation by device number and address, as the calls of the AllocationClient do
// (include/ttmem/allocation_client.hpp) and the messages of the classic wire:
//
//     buffer            reported again with the same kind: one reference more, no bytes; the last free ends it
//     planned buffer    address 0: takes nothing, and each report is an allocation of its own
//     circular buffer   each report is an allocation of its own; a free names it by its size too
//     kernel            counts once, however often it is loaded
//     free              ends the newest allocation with the key; ambiguous where another kind of buffer has that key too
//
// src/client/keyed.cpp and src/sources/classic_wire keep their own indexes and decide with these functions. `Entries` is
// such an index for one key: the live allocations with that key, newest first.
//
//     uint32_t newest() const;                  kNoEntry: none
//     uint32_t older(uint32_t entry) const;     kNoEntry: none
//     AllocationKind kind(uint32_t entry) const;
//     void add_reference(uint32_t entry);
//     bool has_other_kind(uint32_t entry) const;    whether an older entry has another kind

#include <cstdint>

#include "segment/layout.hpp"

namespace ttmem::segment {

constexpr uint32_t kNoEntry = UINT32_MAX;
constexpr uint32_t kNoKind = 0xff;  // no kind has this number

enum class KeyedClass : uint8_t { buffer, cb, kernel };

constexpr KeyedClass keyed_class_of(AllocationKind kind) {
    return kind == AllocationKind::cb ? KeyedClass::cb
           : is_kernel(kind)          ? KeyedClass::kernel
                                      : KeyedClass::buffer;
}

// The kind of a report's type number; kNoKind where the number names none.
constexpr uint32_t buffer_kind(uint8_t type) {
    return type <= static_cast<uint32_t>(AllocationKind::trace) ? type : kNoKind;
}
constexpr uint32_t kernel_kind(uint8_t type) {
    return type <= 2 ? static_cast<uint32_t>(AllocationKind::kernel_application) + type : kNoKind;
}

constexpr bool is_planned(KeyedClass of, uint64_t address) {
    return of == KeyedClass::buffer && address == 0;
}

// How a report is recorded. The true size of a buffer is not known; a kernel takes what it asks for.
constexpr AllocationFlags keyed_flags(KeyedClass of, uint64_t address) {
    if (is_planned(of, address)) {
        return AllocationFlag::keyed | AllocationFlag::planned;
    }
    return of == KeyedClass::kernel ? AllocationFlags(AllocationFlag::keyed)
                                    : AllocationFlag::keyed | AllocationFlag::reserved_unknown;
}

// Whether a live allocation takes the report in, so that nothing new is recorded.
template <class Entries>
bool absorbs(Entries& entries, KeyedClass of, AllocationKind kind, uint64_t address) {
    if (of == KeyedClass::cb || is_planned(of, address)) {
        return false;
    }
    for (uint32_t entry = entries.newest(); entry != kNoEntry; entry = entries.older(entry)) {
        if (of == KeyedClass::kernel) {
            return true;
        }
        if (entries.kind(entry) == kind) {
            entries.add_reference(entry);
            return true;
        }
    }
    return false;
}

struct KeyedMatch {
    uint32_t entry = kNoEntry;
    bool ambiguous = false;
};

// What a free ends, or takes a reference from.
template <class Entries>
KeyedMatch match_to_free(const Entries& entries, KeyedClass of) {
    KeyedMatch match;
    match.entry = entries.newest();
    match.ambiguous =
        match.entry != kNoEntry && of == KeyedClass::buffer && entries.has_other_kind(match.entry);
    return match;
}

}  // namespace ttmem::segment
