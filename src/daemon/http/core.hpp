// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the parts of the server share. Private to src/daemon/http.

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

#include "daemon/http/server.hpp"

namespace ttmem::daemon::http {

// The way from other threads to the loop, which ends with the server. Whoever holds an answer holds the gate, and never
// a socket: so nothing of the loop's is touched, or dies, on another thread or after the loop.
class Gate {
public:
    explicit Gate(boost::asio::io_context& loop) : loop_(&loop) {}

    // Runs `call` on the loop, later. False: never. A call that is not run dies outside of the lock, as what it holds
    // may come here again.
    template <class Call>
    bool post(Call call) {
        const std::lock_guard lock(mutex_);
        if (loop_ != nullptr) {
            boost::asio::post(*loop_, std::move(call));
        }
        return loop_ != nullptr;
    }

    bool is_open() const {
        const std::lock_guard lock(mutex_);
        return loop_ != nullptr;
    }

    void shut() {
        const std::lock_guard lock(mutex_);
        loop_ = nullptr;
    }

private:
    mutable std::mutex mutex_;
    boost::asio::io_context* loop_;
};

class Closable {
public:
    virtual ~Closable() = default;
    virtual void close() = 0;
};

// Only the loop touches it, but for the gate. It owns the connections, until they close.
struct Core {
    Core(boost::asio::io_context& io, boost::asio::any_io_executor for_pieces, Handler answers, Limits bounds)
        : loop(io),
          gate(std::make_shared<Gate>(io)),
          worker(std::move(for_pieces)),
          handler(std::move(answers)),
          limits(bounds) {}

    boost::asio::io_context& loop;
    std::shared_ptr<Gate> gate;
    boost::asio::any_io_executor worker;
    Handler handler;
    Limits limits;
    std::set<std::shared_ptr<Closable>> connections;
    Server::Counts counts;  // its `connections` is not kept here
};

// Reads requests from the socket and answers them until one side has enough.
void serve(boost::asio::generic::stream_protocol::socket socket, Caller caller, bool check_host,
           const std::shared_ptr<Core>& core);

}  // namespace ttmem::daemon::http
