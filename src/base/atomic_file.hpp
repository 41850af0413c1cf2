// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace ttmem::base {

// Replaces a file with `text`, and creates its folders. A concurrent reader finds the old text or the new one. False: the file is
// as it was.
bool write_file_atomically(const std::string& path, std::string_view text);

}  // namespace ttmem::base
