// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "census/figures.hpp"
#include "census/free_space.hpp"
#include "ttmem/ttmem.h"

namespace ttmem::census {

// What a process told about a device, in the words of the figures; all amounts still 0.
DeviceFigures describe(uint32_t id, const ttmem_device_info& info);

Bank bank_of(const ttmem_device_info& info, Kind pool_kind);

}  // namespace ttmem::census
