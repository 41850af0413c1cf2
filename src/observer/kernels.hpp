// SPDX-License-Identifier: Apache-2.0
#pragma once

// The kernels of a program.

#include <array>
#include <cstdint>
#include <optional>

#include "observer/metal.hpp"

namespace ttmem::observer {

using KernelBytes = std::array<uint64_t, 3>;  // by type: application, fabric, dispatch

// The bytes of its kernels on a chip. Nothing where the runtime does not say, or must not be asked.
std::optional<KernelBytes> kernel_bytes_of(const Metal& metal, const void* program, metal::IDevice* chip);

}  // namespace ttmem::observer
