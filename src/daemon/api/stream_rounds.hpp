// SPDX-License-Identifier: Apache-2.0
#pragma once

// Serves the subscribers of a stream in rounds, one after the other, on the workers. The loop only keeps the list.

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cassert>
#include <chrono>
#include <functional>
#include <iterator>
#include <list>
#include <memory>
#include <utility>

#include "daemon/http/message.hpp"
#include "daemon/post_task.hpp"

namespace ttmem::daemon {

template <class Subscriber>  // has the member `stream`, which is null when the subscriber has gone
class StreamRounds {
public:
    using Duration = std::chrono::steady_clock::duration;
    // Serves all subscribers on a worker. Returns the pause until the next round.
    using Serve = std::function<Duration(std::list<Subscriber>&)>;

    StreamRounds(boost::asio::io_context& loop, PostTask post, Serve serve)
        : loop_(loop), post_(std::move(post)), serve_(std::move(serve)), timer_(loop) {}

    // On the loop. A round follows at once, unless the pause after the last one is not over.
    void add(Subscriber subscriber) {
        assert(subscriber.stream);
        subscribers_.push_back(std::move(subscriber));
        if (!is_running_ && !is_pausing_) {
            pause();
        }
    }

    void stop() {
        stopping_ = true;
        timer_.cancel();
        subscribers_.clear();
    }

private:
    struct Round {
        std::list<Subscriber> subscribers;
        Duration pause{};
    };
    static constexpr std::chrono::seconds kCheckEvery{1};

    void begin() {
        assert(!is_running_ && !stopping_);
        const auto round = std::make_shared<Round>(Round{subscribers_, {}});
        is_running_ = true;
        current_ = round;
        check_later();
        post_(kDaemonItself, [this, round] {
            round->pause = serve_(round->subscribers);
            boost::asio::post(loop_, [this, round] { end(*round); });
        });
    }

    // A round that fails because memory ran out does not end. It is followed by the next one.
    void check_later() {
        timer_.expires_after(kCheckEvery);
        timer_.async_wait([this](boost::system::error_code error) {
            if (error || stopping_ || !is_running_) {
                return;
            }
            if (!current_.expired()) {
                return check_later();
            }
            is_running_ = false;
            begin();
        });
    }

    void end(Round& round) {
        is_running_ = false;
        if (stopping_) {
            return;
        }
        // Subscribers that came meanwhile are behind those that were served.
        assert(subscribers_.size() >= round.subscribers.size());
        const auto rest =
            std::next(subscribers_.begin(), static_cast<std::ptrdiff_t>(round.subscribers.size()));
        round.subscribers.splice(round.subscribers.end(), subscribers_, rest, subscribers_.end());
        subscribers_ = std::move(round.subscribers);
        subscribers_.remove_if([](const Subscriber& subscriber) { return !subscriber.stream; });
        next_ = std::chrono::steady_clock::now() + round.pause;
        timer_.cancel();
        if (!subscribers_.empty()) {
            pause();
        }
    }

    void pause() {
        if (std::chrono::steady_clock::now() >= next_) {
            return begin();
        }
        is_pausing_ = true;
        timer_.expires_at(next_);
        timer_.async_wait([this](boost::system::error_code /*error*/) {
            is_pausing_ = false;
            if (!stopping_ && !is_running_ && !subscribers_.empty()) {
                begin();
            }
        });
    }

    boost::asio::io_context& loop_;
    PostTask post_;
    Serve serve_;
    boost::asio::steady_timer timer_;
    std::list<Subscriber> subscribers_;
    std::weak_ptr<Round> current_;
    std::chrono::steady_clock::time_point next_{};
    bool is_running_ = false;
    bool is_pausing_ = false;
    bool stopping_ = false;
};

}  // namespace ttmem::daemon
