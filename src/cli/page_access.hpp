// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where the daemon serves its page, with a token of this user.

#include <cstdint>
#include <string>

#include "base/error.hpp"

namespace ttmem::cli {

// What /v1/page answers.
struct PageAccess {
    std::string token;
    uint64_t valid_s = 0;
    bool is_built = false;
    std::string address;     // empty: none
    std::string no_address;  // why there is none
    std::string socket;

    std::string url() const { return "http://" + address + "/#token=" + token; }
};

// Asks the daemon, which must run.
base::Expected<PageAccess> ask_for_page_access();

}  // namespace ttmem::cli
