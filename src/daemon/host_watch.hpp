// SPDX-License-Identifier: Apache-2.0
#pragma once

// Keeps the roster's word about the host itself fresh: the driver's devices, who holds them, and the regions of stock tt-metal.
// On a thread of its own, since a device that hangs may keep who reads its files waiting.

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>

#include "daemon/roster.hpp"
#include "sources/host.hpp"

namespace ttmem::daemon {

class HostWatch {
public:
    explicit HostWatch(Roster& roster) : roster_(roster), next_(thread_) {}

    // Looks at once, and from then on every 1.5 s. Returns after the first look, so that devices have the driver's numbers from the
    // start; or without it, where that takes too long.
    void start();
    void stop();

private:
    void look();

    Roster& roster_;
    sources::Host host_;
    boost::asio::thread_pool thread_{1};
    boost::asio::steady_timer next_;
};

}  // namespace ttmem::daemon
