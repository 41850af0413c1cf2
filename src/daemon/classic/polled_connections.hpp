// SPDX-License-Identifier: Apache-2.0
#pragma once

// Connections of the classic wire that send continuously. They are polled by a timer on a separate thread, because waking a
// reader for each message costs both sides more than the message.

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>

#include "daemon/classic/wire.hpp"

namespace ttmem::daemon {

class ClassicWire::PolledConnections {
public:
    // A connection that pauses, sends a query or ends returns to `loop`.
    explicit PolledConnections(boost::asio::io_context& loop);

    // Waits for the poll that is under way.
    ~PolledConnections();
    PolledConnections(const PolledConnections&) = delete;
    PolledConnections& operator=(const PolledConnections&) = delete;

    // Any thread.
    void add(std::shared_ptr<ClientConnection> connection);

private:
    void poll_later();
    void poll_at_once();
    void poll();

    boost::asio::io_context& loop_;
    boost::asio::thread_pool thread_{1};
    std::vector<std::shared_ptr<ClientConnection>> connections_;
    boost::asio::steady_timer poll_timer_;
    std::chrono::microseconds interval_{};
    Buffer buffer_;
};

}  // namespace ttmem::daemon
