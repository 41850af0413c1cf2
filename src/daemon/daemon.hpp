// SPDX-License-Identifier: Apache-2.0
#pragma once

// ttmemd, put together: one loop for sockets and timers, two workers for what takes its time, one thread for history.

#include "daemon/options.hpp"

namespace ttmem::daemon {

// Runs until SIGTERM, SIGINT or SIGHUP; returns the exit code.
int run_daemon(const Options& options);

}  // namespace ttmem::daemon
