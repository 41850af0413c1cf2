// SPDX-License-Identifier: Apache-2.0
#pragma once

// Gives the memory of large answers back to the system when none is in flight any more. The allocator alone would keep it.
// Private to src/daemon/http, and used on the loop.

#include <malloc.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <utility>

#include "daemon/post_task.hpp"

namespace ttmem::daemon::http {

class MemoryTrim {
public:
    // `is_idle`: no answer is in flight. The trim itself takes milliseconds and runs on a worker.
    MemoryTrim(boost::asio::io_context& loop, PostTask post, std::function<bool()> is_idle)
        : post_(std::move(post)), is_idle_(std::move(is_idle)), timer_(loop) {}

    // After each answer.
    void answer_ended(bool was_large) {
        is_wanted_ = is_wanted_ || was_large;
        if (!is_wanted_ || is_pending_ || !is_idle_()) {
            return;
        }
        is_pending_ = true;
        const auto now = std::chrono::steady_clock::now();
        timer_.expires_at(std::max(now + kPause, last_ + kMostOften));
        timer_.async_wait([this](boost::system::error_code error) {
            is_pending_ = false;
            if (!error && is_idle_()) {
                is_wanted_ = false;
                last_ = std::chrono::steady_clock::now();
                post_(kDaemonItself, [] { malloc_trim(0); });
            }
        });
    }

    void stop() { timer_.cancel(); }

private:
    static constexpr std::chrono::milliseconds kPause{100};  // the last answer is destroyed on a worker
    static constexpr std::chrono::seconds kMostOften{1};

    PostTask post_;
    std::function<bool()> is_idle_;
    boost::asio::steady_timer timer_;
    std::chrono::steady_clock::time_point last_{};
    bool is_wanted_ = false;
    bool is_pending_ = false;
};

}  // namespace ttmem::daemon::http
