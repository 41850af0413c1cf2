// SPDX-License-Identifier: Apache-2.0
#include "daemon/daemon.hpp"

int main(int argument_count, char** arguments) {
    const auto parsed = ttmem::daemon::parse_options(argument_count, arguments);
    return parsed.options ? ttmem::daemon::run_daemon(*parsed.options) : parsed.exit_code;
}
