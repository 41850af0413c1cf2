// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

constexpr static size_t DEFAULT_L1_SMALL_SIZE = 0;
constexpr static size_t DEFAULT_TRACE_REGION_SIZE = 0;
constexpr static size_t DEFAULT_WORKER_L1_SIZE = 0;
