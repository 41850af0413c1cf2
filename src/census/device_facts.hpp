// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "census/figures.hpp"
#include "census/free_space.hpp"
#include "census/report.hpp"
#include "ttmem/ttmem.h"

namespace ttmem::census {

// What is known about a device, in the words of the figures; all amounts still 0. The word of a process comes before the
// driver's: it has the device open.
DeviceFigures describe(const DeviceTable::Device& device);

// TTMEM_ARCH_UNKNOWN where no architecture has that name.
uint32_t arch_by_name(std::string_view name);

Bank bank_of(const ttmem_device_info& info, Kind pool_kind);

}  // namespace ttmem::census
