// SPDX-License-Identifier: Apache-2.0
#pragma once

// Connections of the classic wire that send without a pause, read on a thread of their own: by the clock, since a reader who is
// woken for each message costs both sides more than the message.

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>

#include "daemon/classic_wire.hpp"

namespace ttmem::daemon {

class ClassicWire::Streams {
public:
    // Who pauses, asks something or ends comes back to `loop`.
    explicit Streams(boost::asio::io_context& loop);

    // Waits for the look that is under way.
    ~Streams();
    Streams(const Streams&) = delete;
    Streams& operator=(const Streams&) = delete;

    // Any thread.
    void add(std::shared_ptr<Connection> connection);

private:
    void look_later();
    void look_at_once();
    void look();

    boost::asio::io_context& loop_;
    boost::asio::thread_pool thread_{1};
    std::vector<std::shared_ptr<Connection>> streams_;
    boost::asio::steady_timer next_look_;
    std::chrono::microseconds pace_{};  // of the looks
    Buffer buffer_;
};

}  // namespace ttmem::daemon
