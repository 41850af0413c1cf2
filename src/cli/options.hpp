// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "access/access.hpp"

namespace ttmem::cli {

enum class Command { status, ps, allocations, post_mortem, demo, sim };

struct Options {
    Command command = Command::status;
    bool json = false;
    bool bytes = false;
    access::Way way = access::Way::daemon_if_there;
    census::AllocationQuery query;
    std::vector<std::string> sim_arguments;
};

// What a command line asks for. Where it asks for nothing more (help, the version) or is wrong, that has been said, and
// `exit_code` is what remains.
struct Parsed {
    std::optional<Options> options;
    int exit_code = 0;
};

Parsed parse(int argument_count, const char* const* arguments);

}  // namespace ttmem::cli
