// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ttmem::base {

// Text of unknown origin, made fit for a terminal and for JSON: what is not printable UTF-8 becomes '?'. Names come
// from other people's processes, and a name must not move anyone's cursor.
std::string printable(std::string_view text);

// "1 byte", "2 bytes".
std::string format_count(uint64_t count, std::string_view one, std::string_view many);

}  // namespace ttmem::base
