// SPDX-License-Identifier: Apache-2.0
#pragma once

// The view as a stream: whole at first, then what has changed. Nothing is counted while nobody listens.
//
// Every state has a number; each device and process carries the number of the state in which it last changed. So a reader that
// was cut off and comes back with the number of the last state he saw gets exactly what changed since. What is gone is
// remembered for a while; whoever was away for longer gets the whole view again.

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/http/message.hpp"
#include "view/view.hpp"

namespace ttmem::daemon {

// The numbering of states: what changed from one to the next. Knows nothing of sockets.
class Changes {
public:
    // Takes the next view; true where anything but the time is new.
    bool take(const view::View& view);

    uint64_t number() const { return number_; }

    // The whole view, or what changed since a state, as one line of JSON.
    std::string whole() const { return whole_; }
    bool knows(uint64_t since) const { return since >= forgotten_ && since <= number_; }
    std::string since(uint64_t number) const;

private:
    struct Entry {
        std::string json;
        uint64_t changed = 0;
    };
    struct Gone {
        uint64_t number = 0;
        bool is_process = false;
        uint64_t id = 0;
    };
    static constexpr size_t kMostGone = 4096;

    uint64_t number_ = 0;
    uint64_t forgotten_ = 0;  // states before this one are not known any more
    std::string whole_;
    Entry head_;  // "exact" and "inexact"
    std::map<uint64_t, Entry> devices_;
    std::map<uint64_t, Entry> processes_;
    std::deque<Gone> gone_;
    census::Figures last_;
};

class Feed {
public:
    struct Pace {
        std::chrono::milliseconds least{250};         // between two views
        std::chrono::milliseconds heartbeat{10'000};  // where nothing changes
    };

    // `look` is called on the worker.
    Feed(boost::asio::io_context& loop, boost::asio::any_io_executor worker, std::function<view::View()> look,
         Pace pace);
    Feed(boost::asio::io_context& loop, boost::asio::any_io_executor worker, std::function<view::View()> look)
        : Feed(loop, std::move(worker), std::move(look), Pace{}) {}

    // On the loop. `last_event_id`: of the last message that this reader saw; may be empty. `interval`: how long he wants to be
    // left alone after a message.
    void subscribe(http::Answer::Push push, const std::string& last_event_id,
                   std::chrono::milliseconds interval = {});
    void stop();

private:
    struct Reader {
        http::Answer::Push push;
        std::optional<uint64_t> has;  // the state that it knows
        std::chrono::milliseconds interval{};
        std::chrono::steady_clock::time_point next{};  // no message before
    };

    void look_soon();
    void took(const view::View& view, std::chrono::steady_clock::duration cost);
    void send(Reader& reader);
    std::string id(uint64_t number) const;

    boost::asio::io_context& loop_;
    boost::asio::any_io_executor worker_;
    std::function<view::View()> look_;
    const Pace pace_;
    const uint64_t epoch_;  // numbers of another daemon mean nothing here
    boost::asio::steady_timer timer_;
    std::chrono::steady_clock::time_point next_heartbeat_;
    std::chrono::steady_clock::duration wait_;
    bool looking_ = false;
    bool stopping_ = false;
    Changes changes_;
    std::list<Reader> readers_;
};

}  // namespace ttmem::daemon
