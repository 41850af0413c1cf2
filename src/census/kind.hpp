// SPDX-License-Identifier: Apache-2.0
#pragma once

// The kinds of memory that users see. A segment counts kernels by type; here they are one kind.

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/named_enum.hpp"
#include "segment/layout.hpp"

namespace ttmem::census {

enum class Kind : uint8_t { dram, l1, l1_small, trace, cb, kernel, system_memory };

constexpr size_t kKinds = 7;
// All kinds except system memory, which is listed but is in no device total.
constexpr size_t kDeviceKinds = 6;
// The first kinds, which an allocator manages in an address space.
constexpr size_t kPoolKinds = 4;

constexpr size_t index_of(Kind kind) { return static_cast<size_t>(kind); }

// The names in views and for --kind.
constexpr auto enum_names(Kind /*of*/) {
    return std::to_array<std::string_view>(
        {"dram", "l1", "l1_small", "trace", "cb", "kernel", "system_memory"});
}
using base::name_of;

// The kinds that a query selects. An empty set selects all.
class KindSet {
public:
    constexpr KindSet() = default;
    // A query mostly has one kind or none.
    constexpr KindSet(Kind kind) { add(kind); }           // NOLINT(google-explicit-constructor)
    constexpr KindSet(std::nullopt_t /*none*/) {}         // NOLINT(google-explicit-constructor)
    constexpr KindSet(const std::optional<Kind>& kind) {  // NOLINT(google-explicit-constructor)
        if (kind) {
            add(*kind);
        }
    }

    // "dram,l1". Empty if a name is unknown.
    static std::optional<KindSet> parse(std::string_view text);
    std::string text() const;

    constexpr void add(Kind kind) { bits_ = static_cast<uint8_t>(bits_ | 1u << index_of(kind)); }
    constexpr bool selects(Kind kind) const { return bits_ == 0 || (bits_ >> index_of(kind) & 1) != 0; }
    constexpr bool empty() const { return bits_ == 0; }

    bool operator==(const KindSet&) const = default;

private:
    uint8_t bits_ = 0;
};

// Empty for an unknown number: a segment may contain any value.
std::optional<Kind> kind_of(segment::AllocationKind kind);

constexpr std::array<std::string_view, 3> kKernelTypes = {"application", "fabric", "dispatch"};

// Only valid for the kinds of kernels.
constexpr size_t kernel_type_of(segment::AllocationKind kind) {
    assert(segment::is_kernel(kind));
    return static_cast<size_t>(kind) - static_cast<size_t>(segment::AllocationKind::kernel_application);
}

// The entry of ttmem_device_info::memory that describes a pool kind.
constexpr size_t memory_info_index(Kind kind) {
    constexpr std::array<segment::AllocationKind, kPoolKinds> kPools = {
        segment::AllocationKind::dram, segment::AllocationKind::l1, segment::AllocationKind::l1_small,
        segment::AllocationKind::trace};
    assert(index_of(kind) < kPoolKinds);
    return static_cast<size_t>(kPools[index_of(kind)]);
}

}  // namespace ttmem::census
