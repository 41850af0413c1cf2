// SPDX-License-Identifier: Apache-2.0
#pragma once

// Messages to the service manager, in the protocol of sd_notify: ready, stopping, and watchdog messages if it asks for them.
// Does nothing without a service manager.

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>

namespace ttmem::daemon {

class ServiceNotifier {
public:
    explicit ServiceNotifier(boost::asio::io_context& loop);

    void ready();
    void stopping();

private:
    void ping();

    boost::asio::steady_timer timer_;
    std::chrono::microseconds interval_;  // 0: the manager wants no watchdog messages
};

}  // namespace ttmem::daemon
