// SPDX-License-Identifier: Apache-2.0
#pragma once

// Updates the host's facts in the process table: devices of the driver, processes that hold them, and regions of stock tt-metal.
// Runs on its own thread, because a device that hangs may block the reader of its files. Nothing else waits for that thread, not
// even the end of the daemon.

#include <chrono>
#include <functional>
#include <memory>

#include "daemon/watch/process_table.hpp"
#include "sources/host.hpp"

namespace ttmem::daemon {

class HostPoller {
public:
    using ReadHost = std::function<sources::HostFacts()>;

    explicit HostPoller(ProcessTable& process_table);
    // For tests: start() and stop() wait at most `timeout` for a read that is under way.
    HostPoller(ProcessTable& process_table, ReadHost read_host, std::chrono::milliseconds timeout);
    ~HostPoller();
    HostPoller(const HostPoller&) = delete;
    HostPoller& operator=(const HostPoller&) = delete;

    // Reads the host now, and every 1.5 s from then on. Returns after the first read, so that devices have the driver's numbers
    // from the start, or when that takes too long.
    void start();

    // After this the process table is not used any more.
    void stop();

private:
    struct SharedState;

    const std::chrono::milliseconds timeout_;
    const std::shared_ptr<SharedState> shared_;  // the thread may outlive this object
};

}  // namespace ttmem::daemon
