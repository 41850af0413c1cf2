// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

namespace ttmem::base {

// Replaces a file with `text`, and creates its folders. A concurrent reader finds the old text or the new one. False: the file is
// as it was. Without a mode the umask decides who may read it.
bool write_file_atomically(const std::string& path, std::string_view text,
                           std::optional<mode_t> mode = std::nullopt);

}  // namespace ttmem::base
