// SPDX-License-Identifier: Apache-2.0
#include "daemon/api/view_stream.hpp"

#include <algorithm>
#include <utility>

#include "base/time.hpp"
#include "view/json/json.hpp"

namespace ttmem::daemon {

namespace asio = boost::asio;
using http::StreamWriter;
using std::chrono::steady_clock;

namespace {

// Where a view costs much there are fewer of them: a hundredth of one processor at most.
constexpr int kShareOfProcessor = 100;

}  // namespace

ViewStream::ViewStream(asio::io_context& loop, PostTask post, std::function<view::View()> read,
                       StreamIntervals intervals)
    : read_(std::move(read)),
      intervals_(intervals),
      epoch_(view::read_here().time_ns),
      rounds_(loop, std::move(post),
              [this](std::list<ViewSubscriber>& subscribers) { return serve(subscribers); }) {}

void ViewStream::subscribe(std::shared_ptr<StreamWriter> stream, const std::string& last_event_id,
                           std::chrono::milliseconds interval) {
    ViewSubscriber subscriber{std::move(stream), std::nullopt, interval, {}};
    const size_t dash = last_event_id.find('-');
    if (dash != std::string::npos && http::parse_number(last_event_id.substr(0, dash)) == epoch_) {
        subscriber.state = http::parse_number(last_event_id.substr(dash + 1));
    }
    rounds_.add(std::move(subscriber));
}

steady_clock::duration ViewStream::serve(std::list<ViewSubscriber>& subscribers) {
    const auto start = steady_clock::now();
    const uint64_t used_before = base::processor_ns();
    const bool is_due =
        start >= next_view_ &&
        std::any_of(subscribers.begin(), subscribers.end(), [&](const ViewSubscriber& subscriber) {
            return start >= subscriber.next &&
                   subscriber.stream->readiness() != StreamWriter::Readiness::busy;
        });
    if (is_due) {
        changes_.update(read_());
    }
    const bool is_heartbeat = start >= next_heartbeat_;
    if (is_heartbeat) {
        next_heartbeat_ = start + intervals_.heartbeat;
    }
    Messages messages;
    for (ViewSubscriber& subscriber : subscribers) {
        try {
            serve(subscriber, messages, is_due, is_heartbeat);
        } catch (...) {
            subscriber.stream = nullptr;  // out of memory: the stream of this subscriber ends
        }
    }
    if (is_due) {
        next_view_ = start + std::chrono::nanoseconds(base::processor_ns() - used_before) * kShareOfProcessor;
    }
    return intervals_.least;
}

void ViewStream::serve(ViewSubscriber& subscriber, Messages& messages, bool is_due, bool is_heartbeat) const {
    static const auto kHeartbeat = std::make_shared<const std::string>(": alive\n\n");
    const StreamWriter::Readiness readiness = subscriber.stream->readiness();
    if (readiness == StreamWriter::Readiness::busy) {
        return;  // it gets all changes at once when it has read what it has
    }
    const auto now = steady_clock::now();
    bool is_there = readiness == StreamWriter::Readiness::ready;
    const bool is_its_turn = is_there && is_due && now >= subscriber.next;
    if (is_its_turn) {
        // Views come at a pace of their own: half a view early is better than a whole one late.
        subscriber.next =
            now + std::max<steady_clock::duration>(subscriber.interval - intervals_.least / 2, {});
    }
    if (is_its_turn && subscriber.state != changes_.number()) {
        // What is gone is not remembered for ever. Numbers of a later state are not from this daemon.
        if (subscriber.state && !changes_.knows(*subscriber.state)) {
            subscriber.state.reset();
        }
        is_there = subscriber.stream->push(message_for(subscriber.state, messages));
        subscriber.state = changes_.number();
    }
    if (is_there && is_heartbeat) {
        is_there = subscriber.stream->push(kHeartbeat);
    }
    if (!is_there) {
        subscriber.stream = nullptr;
    }
}

http::SharedText ViewStream::message_for(std::optional<uint64_t> state, Messages& messages) const {
    http::SharedText& message = messages[state];
    if (!message) {
        message = std::make_shared<const std::string>(
            (state ? "event: change\nid: " : "event: view\nid: ") + std::to_string(epoch_) + "-" +
            std::to_string(changes_.number()) + "\ndata: " +
            (state ? view::JsonForm<view::ViewChange>::write_line(changes_.since(*state))
                   : view::JsonForm<view::View>::write_line(changes_.whole())) +
            "\n\n");
    }
    return message;
}

}  // namespace ttmem::daemon
