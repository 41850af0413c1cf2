// SPDX-License-Identifier: Apache-2.0
#include "access/restore_numbers.hpp"

#include <filesystem>

#include "access/api_sockets.hpp"
#include "census/device_numbers_file.hpp"

namespace ttmem::access {

void restore_numbers(census::Census& census) {
    for (const std::filesystem::path& directory : daemon_directories()) {
        const auto numbers = census::read_device_numbers(directory);
        if (numbers) {
            census.device_ids->restore(*numbers, true);
            return;
        }
        if (numbers.error().code != base::Error::Code::gone) {
            census.omissions.push_back({0, census::Reason::numbers_may_differ, numbers.error().text});
            return;
        }
    }
}

}  // namespace ttmem::access
