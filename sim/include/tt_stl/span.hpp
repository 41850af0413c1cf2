// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

namespace ttsl {

template <typename T, size_t Extent = std::dynamic_extent>
using Span = std::span<T, Extent>;

}  // namespace ttsl
