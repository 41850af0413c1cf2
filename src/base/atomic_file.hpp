// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

namespace ttmem::base {

// How the names end of files that are being written. Only a crash leaves one.
constexpr char kUnfinishedFile[] = ".new";

// Replaces a file with `text`, and creates its folders. A concurrent reader finds the old text or the new one, also after a power
// failure. False: the file is as it was, and errno says why. The file never has more permissions than `mode`; without one the
// umask decides who may read it.
bool write_file_atomically(const std::string& path, std::string_view text,
                           std::optional<mode_t> mode = std::nullopt);

}  // namespace ttmem::base
