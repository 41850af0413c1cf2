// SPDX-License-Identifier: Apache-2.0
#include "access/direct_host.hpp"

#include "access/restore_numbers.hpp"
#include "census/device_admission.hpp"
#include "sources/host.hpp"
#include "sources/segments/discover.hpp"

namespace ttmem::access {

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
