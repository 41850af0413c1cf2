// SPDX-License-Identifier: Apache-2.0
#include "daemon/api/event_stream.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

#include "view/json/json.hpp"

namespace ttmem::daemon {

namespace asio = boost::asio;
using http::StreamWriter;
using std::chrono::steady_clock;

namespace {

constexpr auto kRoundEvery = std::chrono::milliseconds(200);
constexpr auto kNextPageAfter = std::chrono::milliseconds(10);
constexpr auto kHeartbeatEvery = std::chrono::seconds(10);
// Of one message. The others stay in the history until the reader has taken it.
constexpr uint64_t kMostEventsPerMessage = 1'000;

}  // namespace

EventStream::EventStream(asio::io_context& loop, PostTask post)
    : rounds_(loop, std::move(post),
              [this](std::list<EventSubscriber>& subscribers) { return serve(subscribers); }) {}

view::EventQuery EventStream::first_query(const view::EventQuery& query, uint64_t newest,
                                          const std::string& last_event_id) {
    view::EventQuery first = query;
    first.limit = kMostEventsPerMessage;
    if (first.last) {
        first.last = std::min(*first.last, kMostEventsPerMessage);
    }
    // Events before the first message count as missed only for a subscriber that asked for them by number.
    first.stream = query.since.has_value();
    if (const auto last = http::parse_number(last_event_id)) {
        first.since = *last == UINT64_MAX ? *last : *last + 1;
        first.stream = true;
    } else if (!query.since && !query.last) {
        first.since = newest + 1;
    }
    return first;
}

void EventStream::subscribe(std::shared_ptr<StreamWriter> stream, const DaemonHost& host,
                            const view::EventQuery& query, uint64_t newest,
                            const std::string& last_event_id) {
    rounds_.add({std::move(stream), host, first_query(query, newest, last_event_id), {}});
}

steady_clock::duration EventStream::serve(std::list<EventSubscriber>& subscribers) {
    const auto now = steady_clock::now();
    const bool is_heartbeat = now >= next_heartbeat_;
    if (is_heartbeat) {
        next_heartbeat_ = now + kHeartbeatEvery;
    }
    bool has_more = false;
    for (EventSubscriber& subscriber : subscribers) {
        try {
            has_more = serve(subscriber, is_heartbeat) || has_more;
        } catch (...) {
            subscriber.stream = nullptr;  // out of memory: the stream of this subscriber ends
        }
    }
    return has_more ? kNextPageAfter : kRoundEvery;
}

bool EventStream::serve(EventSubscriber& subscriber, bool is_heartbeat) {
    assert(subscriber.stream);
    const StreamWriter::Readiness readiness = subscriber.stream->readiness();
    if (readiness == StreamWriter::Readiness::busy) {
        return false;  // the history keeps its events, or counts them as missed
    }
    if (readiness == StreamWriter::Readiness::gone) {
        subscriber.stream = nullptr;
        return false;
    }
    std::string text = is_heartbeat ? ": alive\n\n" : "";
    bool has_more = false;
    if (steady_clock::now() >= subscriber.next) {
        const auto page = subscriber.host.events(subscriber.query);
        assert(page);  // a daemon always has events
        if (page->missed != 0) {
            text += "event: missed\ndata: " + std::to_string(page->missed) + "\n\n";
        }
        if (page->hidden_events != 0) {
            text += "event: hidden\ndata: " + std::to_string(page->hidden_events) + "\n\n";
        }
        for (const view::EventView& event : page->events) {
            text += "event: event\nid: " + std::to_string(event.sequence) +
                    "\ndata: " + view::to_json(event) + "\n\n";
        }
        subscriber.query.since = page->next;
        subscriber.query.stream = true;
        has_more = !subscriber.query.last && page->events.size() == kMostEventsPerMessage;
        // Half a round early is better than a whole round late. A message goes on at once where it was cut.
        const auto interval = std::chrono::milliseconds(
            std::min<uint64_t>(subscriber.query.interval_ms.value_or(0), view::kLongestIntervalMs));
        subscriber.next =
            has_more ? steady_clock::time_point() : steady_clock::now() + interval - kRoundEvery / 2;
    }
    if (!text.empty() && !subscriber.stream->push(std::make_shared<const std::string>(std::move(text)))) {
        subscriber.stream = nullptr;
        return false;
    }
    return has_more;
}

}  // namespace ttmem::daemon
