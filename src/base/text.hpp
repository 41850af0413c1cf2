// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace ttmem::base {

// Text of unknown origin, made fit for a terminal and for JSON: what is not printable UTF-8 becomes '?'. Names come
// from other people's processes, and a name must not move anyone's cursor.
std::string printable(std::string_view text);

}  // namespace ttmem::base
