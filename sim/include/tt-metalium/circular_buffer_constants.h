// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

constexpr static uint32_t NUM_CIRCULAR_BUFFERS = 64;
