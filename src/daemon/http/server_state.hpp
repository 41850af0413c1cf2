// SPDX-License-Identifier: Apache-2.0
#pragma once

// State that listeners and connections share. Private to src/daemon/http.

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

#include "daemon/http/answer_places.hpp"
#include "daemon/http/memory_trim.hpp"
#include "daemon/http/server.hpp"

namespace ttmem::daemon::http {

// Lets other threads post calls to the loop until the server stops. A responder owns the gate and never a socket, so that no
// socket is used or destroyed on another thread or after the loop has ended.
class Gate {
public:
    explicit Gate(boost::asio::io_context& loop) : loop_(&loop) {}

    // Runs `call` on the loop later; false if it will never run. A call that is not posted is destroyed after the lock is
    // released, because its destructor may call post() again.
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

    void close() {
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

// Used on the loop only, except for the gate and what says otherwise. Owns the connections until they close.
class ServerState {
public:
    ServerState(boost::asio::io_context& io, PostTask post_task, Handler request_handler,
                ServerLimits server_limits, std::shared_ptr<Budgets> user_budgets)
        : loop(io),
          gate(std::make_shared<Gate>(io)),
          post(std::move(post_task)),
          handler(std::move(request_handler)),
          limits(server_limits),
          budgets(std::move(user_budgets)),
          places(budgets),
          trim(io, post, [this] { return places.is_empty(); }) {}

    // All TCP callers count as one user, because their identity is unknown.
    static User user_of(const Caller& caller) { return caller.is_local ? User{caller.uid} : kUnknownUser; }

    // Counts one more connection of the caller. False if there are too many.
    bool admit(const Caller& caller) {
        const User user = user_of(caller);
        if (!budgets->take(Budget::api_connections, user)) {
            return false;
        }
        if (connections_.size() < limits.connections &&
            budgets->used_by(Budget::api_connections, user) <= limits.connections_per_user) {
            return true;
        }
        budgets->give_back(Budget::api_connections, user);
        return false;
    }

    // The connection must be admitted.
    void add(std::shared_ptr<Closable> connection) {
        connections_.insert(std::move(connection));
        count([this](Server::Statistics& counted) { counted.connections = connections_.size(); });
    }

    void remove(const std::shared_ptr<Closable>& connection, const Caller& caller) {
        if (connections_.erase(connection) != 0) {
            budgets->give_back(Budget::api_connections, user_of(caller));
            count([this](Server::Statistics& counted) { counted.connections = connections_.size(); });
        }
    }

    const std::set<std::shared_ptr<Closable>>& connections() const { return connections_; }

    template <class Change>
    void count(Change change) {
        const std::lock_guard lock(statistics_mutex_);
        change(statistics_);
    }
    void count(uint64_t Server::Statistics::*number) {
        count([&](Server::Statistics& counted) { ++(counted.*number); });
    }
    // Any thread.
    Server::Statistics statistics() const {
        const std::lock_guard lock(statistics_mutex_);
        return statistics_;
    }

    boost::asio::io_context& loop;
    std::shared_ptr<Gate> gate;
    PostTask post;
    Handler handler;
    ServerLimits limits;
    std::shared_ptr<Budgets> budgets;
    AnswerPlaces places;
    MemoryTrim trim;

private:
    std::set<std::shared_ptr<Closable>> connections_;
    mutable std::mutex statistics_mutex_;
    Server::Statistics statistics_;
};

// Serves requests from the socket until either side closes it.
void serve(boost::asio::generic::stream_protocol::socket socket, const Caller& caller, bool check_host,
           const std::shared_ptr<ServerState>& state);

}  // namespace ttmem::daemon::http
