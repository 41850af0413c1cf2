// SPDX-License-Identifier: Apache-2.0
#pragma once

// The view as server-sent events: whole at first, then what has changed. Nothing is computed while no subscriber is due.

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "daemon/api/stream_rounds.hpp"
#include "daemon/api/view_changes.hpp"
#include "daemon/http/message.hpp"

namespace ttmem::daemon {

class ViewStream {
public:
    struct StreamIntervals {
        std::chrono::milliseconds least{250};         // between two views
        std::chrono::milliseconds heartbeat{10'000};  // where nothing changes
    };

    // `read` is called on a worker.
    ViewStream(boost::asio::io_context& loop, PostTask post, std::function<view::View()> read,
               StreamIntervals intervals);
    ViewStream(boost::asio::io_context& loop, PostTask post, std::function<view::View()> read)
        : ViewStream(loop, std::move(post), std::move(read), StreamIntervals{}) {}

    // On the loop. `last_event_id`: of the last message that this subscriber got; may be empty. `interval`: least time between two
    // messages.
    void subscribe(std::shared_ptr<http::StreamWriter> stream, const std::string& last_event_id,
                   std::chrono::milliseconds interval = {});
    void stop() { rounds_.stop(); }

private:
    struct ViewSubscriber {
        std::shared_ptr<http::StreamWriter> stream;  // null: it is gone
        std::optional<uint64_t> state;               // the last that it got
        std::chrono::milliseconds interval{};
        std::chrono::steady_clock::time_point next{};  // no message before
    };
    // Most subscribers have the same state, so each message is written once.
    using Messages = std::map<std::optional<uint64_t>, http::SharedText>;

    // On a worker.
    std::chrono::steady_clock::duration serve(std::list<ViewSubscriber>& subscribers);
    void serve(ViewSubscriber& subscriber, Messages& messages, bool is_due, bool is_heartbeat) const;
    http::SharedText message_for(std::optional<uint64_t> state, Messages& messages) const;

    std::function<view::View()> read_;
    const StreamIntervals intervals_;
    const uint64_t epoch_;  // numbers of another daemon mean nothing here
    // Used by rounds only, which follow each other.
    std::chrono::steady_clock::time_point next_heartbeat_;
    std::chrono::steady_clock::time_point next_view_;  // none is read before
    ViewChanges changes_;
    StreamRounds<ViewSubscriber> rounds_;
};

}  // namespace ttmem::daemon
