// SPDX-License-Identifier: Apache-2.0
#pragma once

// Events as server-sent events, while they happen.

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <list>
#include <memory>
#include <string>

#include "daemon/api/daemon_host.hpp"
#include "daemon/api/stream_rounds.hpp"
#include "daemon/http/message.hpp"
#include "view/questions/events.hpp"

namespace ttmem::daemon {

class EventStream {
public:
    EventStream(boost::asio::io_context& loop, PostTask post);

    // On the loop. `newest`: the number of the last event. `last_event_id`: of a stream that was cut; may be empty.
    void subscribe(std::shared_ptr<http::StreamWriter> stream, const DaemonHost& host,
                   const view::EventQuery& query, uint64_t newest, const std::string& last_event_id);
    void stop() { rounds_.stop(); }

    // The query of a new subscriber.
    static view::EventQuery first_query(const view::EventQuery& query, uint64_t newest,
                                        const std::string& last_event_id);

private:
    struct EventSubscriber {
        std::shared_ptr<http::StreamWriter> stream;  // null: it is gone
        DaemonHost host;
        view::EventQuery query;                        // what it gets next
        std::chrono::steady_clock::time_point next{};  // no message before
    };

    // On a worker.
    std::chrono::steady_clock::duration serve(std::list<EventSubscriber>& subscribers);
    // Returns whether the subscriber can get more at once.
    static bool serve(EventSubscriber& subscriber, bool is_heartbeat);

    std::chrono::steady_clock::time_point next_heartbeat_{};
    StreamRounds<EventSubscriber> rounds_;
};

}  // namespace ttmem::daemon
