// SPDX-License-Identifier: Apache-2.0
#pragma once

// The questions that ttmemd answers (docs/API.md). What pools tell is answered on the loop, at once; what takes a pass over
// ledgers is answered by the workers, so that no asker waits for another's list.

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <list>
#include <memory>
#include <string>

#include "daemon/chronicle.hpp"
#include "daemon/feed.hpp"
#include "daemon/http/message.hpp"
#include "daemon/post_mortems.hpp"
#include "daemon/roster.hpp"
#include "daemon/viewer.hpp"

namespace ttmem::daemon {

class Api {
public:
    struct Parts {
        boost::asio::io_context& loop;
        boost::asio::any_io_executor workers;
        const Roster& roster;
        Chronicle& chronicle;
        const PostMortems& post_mortems;
        AccessRules rules;
        std::function<void(view::SelfView&)> describe_self;  // what only the program knows
    };

    explicit Api(Parts parts);

    // On the loop.
    void handle(http::Request request, const std::shared_ptr<http::Answer>& answer);
    void stop();

private:
    struct Question;
    struct Route;
    static const std::vector<Route>& routes();

    view::View look(census::Depth depth) const;
    view::SelfView look_at_self() const;  // on the loop
    base::Expected<census::Census> open_to(const Question& question, std::optional<uint32_t> pid) const;

    http::Response health(const Question& question) const;
    http::Response self(const Question& question) const;
    http::Response status(const Question& question) const;
    http::Response processes(const Question& question) const;
    http::Response allocations(const Question& question) const;
    http::Response map(const Question& question) const;
    http::Response cores(const Question& question) const;
    http::Response programs(const Question& question) const;
    http::Response failures(const Question& question) const;
    http::Response post_mortems(const Question& question) const;
    http::Response history(const Question& question) const;
    http::Response events(const Question& question) const;

    void send_metrics(const Question& question, const std::shared_ptr<http::Answer>& answer) const;

    // A reader of events that wants each as it happens.
    struct EventReader {
        http::Answer::Push push;
        Viewer viewer;
        uint64_t next = 0;
    };
    void stream_views(const Question& question, http::Answer& answer);
    void stream_events(const Question& question, http::Answer& answer);
    void feed_event_readers();

    Parts parts_;
    Feed feed_;
    boost::asio::steady_timer event_timer_;
    std::list<EventReader> event_readers_;
    int quiet_rounds_ = 0;
    bool stopping_ = false;
};

}  // namespace ttmem::daemon
