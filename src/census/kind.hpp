// SPDX-License-Identifier: Apache-2.0
#pragma once

// The kinds of memory as people see them. A segment counts kernels by type; here they are one kind.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "segment/layout.hpp"

namespace ttmem::census {

enum class Kind : uint8_t { dram, l1, l1_small, trace, cb, kernel, system_memory };

constexpr size_t kKinds = 7;
constexpr size_t kDeviceKinds = 6;  // all but system memory, which is listed and is in no device total
constexpr size_t kPoolKinds =
    4;  // of these, the ones that an allocator hands out: they have an address space

constexpr size_t index_of(Kind kind) { return static_cast<size_t>(kind); }

// "dram", as in the view and after --kind.
std::string_view name_of(Kind kind);
std::optional<Kind> kind_by_name(std::string_view name);

// Nothing for a number that no kind has: a segment may hold anything.
std::optional<Kind> kind_of(segment::Kind kind);

constexpr std::array<std::string_view, 3> kKernelTypes = {"application", "fabric", "dispatch"};

// Which of them; only for a kind that is a kernel's.
constexpr size_t kernel_type_of(segment::Kind kind) {
    return static_cast<size_t>(kind) - static_cast<size_t>(segment::Kind::kernel_application);
}

// The entry of ttmem_device_info::memory that describes a pool kind.
constexpr size_t memory_info_index(Kind kind) {
    constexpr std::array<segment::Kind, kPoolKinds> kPools = {segment::Kind::dram, segment::Kind::l1,
                                                              segment::Kind::l1_small, segment::Kind::trace};
    return static_cast<size_t>(kPools[index_of(kind)]);
}

}  // namespace ttmem::census
