// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a service manager is told (sd_notify): that the daemon answers, that it ends, and, where it asks for that, that the
// loop still turns. Where none is there, nothing happens.

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>

namespace ttmem::daemon {

class Notify {
public:
    explicit Notify(boost::asio::io_context& loop);

    void ready();
    void stopping();

private:
    void ping();

    boost::asio::steady_timer timer_;
    std::chrono::microseconds interval_{0};  // 0: nobody asks for signs of life
};

}  // namespace ttmem::daemon
