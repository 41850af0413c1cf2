// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <vector>

namespace ttmem::access {

// The possible directories of a daemon, in the order to try. If $TTMEM_RUNTIME_DIR is set, only that one. Else
// /run/ttmem, then the user's own directory ($XDG_RUNTIME_DIR/ttmem or /tmp/ttmem-<uid>). The directory in /tmp counts
// only if this user owns it, because any user can create it.
std::vector<std::filesystem::path> daemon_directories();

// The sockets in these directories.
std::vector<std::filesystem::path> api_sockets();

}  // namespace ttmem::access
