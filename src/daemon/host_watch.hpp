// SPDX-License-Identifier: Apache-2.0
#pragma once

// Keeps the roster's word about the host itself fresh: the driver's devices, who holds them, and the regions of stock tt-metal.
// On a thread of its own, since a device that hangs may keep who reads its files waiting for as long as it hangs: nobody
// else waits for that, not even the end of the daemon.

#include <chrono>
#include <functional>
#include <memory>

#include "daemon/roster.hpp"
#include "sources/host.hpp"

namespace ttmem::daemon {

class HostWatch {
public:
    using Look = std::function<sources::HostFacts()>;

    explicit HostWatch(Roster& roster);
    // For tests: `patience` is how long the start and the end wait for a look that is under way.
    HostWatch(Roster& roster, Look look, std::chrono::milliseconds patience);
    ~HostWatch();
    HostWatch(const HostWatch&) = delete;
    HostWatch& operator=(const HostWatch&) = delete;

    // Looks at once, and from then on every 1.5 s. Returns after the first look, so that devices have the driver's numbers from the
    // start; or without it, where that takes too long.
    void start();

    // The roster is not touched any more.
    void stop();

private:
    struct Shared;

    const std::chrono::milliseconds patience_;
    const std::shared_ptr<Shared> shared_;  // with the thread, which may outlive this
};

}  // namespace ttmem::daemon
