// SPDX-License-Identifier: Apache-2.0
#pragma once

// The parts of ttmemd and their threads: one loop for sockets and timers, two workers for scans of ledgers, one thread for
// history, and one that reads the host.

#include "daemon/options.hpp"

namespace ttmem::daemon {

// Runs until SIGTERM, SIGINT or SIGHUP; returns the exit code.
int run_daemon(const DaemonOptions& options);

}  // namespace ttmem::daemon
