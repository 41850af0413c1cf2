// SPDX-License-Identifier: Apache-2.0
#include "access/direct_host.hpp"

#include <filesystem>

#include "access/api_sockets.hpp"
#include "census/device_admission.hpp"
#include "census/device_numbers_file.hpp"
#include "sources/host.hpp"
#include "sources/segments/discover.hpp"

namespace ttmem::access {

namespace {

// Devices have the numbers that a daemon of this host gave them.
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

}  // namespace

DirectHost::DirectHost()
    : census_(sources::segments::census_of(sources::segments::discover(sources::Proc()))) {
    sources::add(sources::HostReader().read(), census_);
    restore_numbers(census_);
    census::number_all_devices(census_);
}

std::vector<std::string> DirectHost::notices() const {
    std::vector<std::string> notices;
    for (const census::Omission& omission : census_.omissions) {
        if (omission.pid != 0) {  // else it is listed among the reasons for inexact figures
            notices.push_back("process " + std::to_string(omission.pid) + "'s " +
                              text_of(omission.inexactness()));
        }
    }
    return notices;
}

}  // namespace ttmem::access
