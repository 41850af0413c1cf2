// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace ttmem::recording {

// CRC-32 as in gzip and PNG: polynomial 0xedb88320, reflected, all ones before and after.
uint32_t checksum_of(std::string_view bytes);

}  // namespace ttmem::recording
