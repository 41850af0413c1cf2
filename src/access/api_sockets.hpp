// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <vector>

namespace ttmem::access {

// The possible sockets of a daemon, in the order to try. If $TTMEM_RUNTIME_DIR is set, only the one in that
// directory. Else the one in /run/ttmem, then the one in the user's own directory ($XDG_RUNTIME_DIR/ttmem or
// /tmp/ttmem-<uid>). The directory in /tmp counts only if this user owns it, because any user can create it.
std::vector<std::filesystem::path> api_sockets();

}  // namespace ttmem::access
