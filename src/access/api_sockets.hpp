// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <vector>

namespace ttmem::access {

// Where a daemon may answer, in the order to try: in $TTMEM_RUNTIME_DIR alone where that is set; else in /run/ttmem, then
// in this user's own directory ($XDG_RUNTIME_DIR/ttmem or /tmp/ttmem-<uid>). The one in /tmp counts only if it is this
// user's, as anybody can make it.
std::vector<std::filesystem::path> api_sockets();

}  // namespace ttmem::access
