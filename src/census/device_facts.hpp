// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "census/device_table.hpp"
#include "census/figures.hpp"
#include "census/free_space.hpp"
#include "ttmem/ttmem.h"

namespace ttmem::census {

// Describes a device, with all amounts 0. The driver's arch and board come first: a process may report anything.
// Capacities come from a process, because they depend on how the device was opened.
DeviceFigures describe(const DeviceTable::Device& device);

// Returns TTMEM_ARCH_UNKNOWN for an unknown name.
uint32_t arch_by_name(std::string_view name);

// Banks of size 0 have no room. Without banks the capacity is not known.
std::optional<uint64_t> capacity_of(const ttmem_memory_info& memory);

Bank bank_of(const ttmem_device_info& info, Kind pool_kind);

}  // namespace ttmem::census
