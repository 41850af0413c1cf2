// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the parts of the server share. Private to src/daemon/http.

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <map>
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

    // All who come over TCP are one user: nobody knows who they are.
    static int64_t user_of(const Caller& caller) { return caller.is_local ? int64_t{caller.uid} : -1; }

    bool has_room_for(const Caller& caller) const {
        const auto mine = users.find(user_of(caller));
        return connections.size() < limits.connections &&
               (mine == users.end() || mine->second < limits.connections_per_user);
    }

    void add(std::shared_ptr<Closable> connection, const Caller& caller) {
        connections.insert(std::move(connection));
        ++users[user_of(caller)];
    }

    void remove(const std::shared_ptr<Closable>& connection, const Caller& caller) {
        const auto mine = users.find(user_of(caller));
        if (connections.erase(connection) != 0 && --mine->second == 0) {
            users.erase(mine);
        }
    }

    boost::asio::io_context& loop;
    std::shared_ptr<Gate> gate;
    boost::asio::any_io_executor worker;
    Handler handler;
    Limits limits;
    std::set<std::shared_ptr<Closable>> connections;
    std::map<int64_t, size_t> users;  // how many of the connections are whose
    Server::Counts counts;            // its `connections` is not kept here
};

// Reads requests from the socket and answers them until one side has enough.
void serve(boost::asio::generic::stream_protocol::socket socket, const Caller& caller, bool check_host,
           const std::shared_ptr<Core>& core);

}  // namespace ttmem::daemon::http
