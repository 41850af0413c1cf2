// SPDX-License-Identifier: Apache-2.0
#pragma once

// Parses server-sent events from a stream of bytes, in pieces of any size.

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace ttmem::access {

struct ServerSentEvent {
    std::string event;  // "message" by default
    std::string id;     // the id of this event, or of the last event that had one
    std::string data;
};

// Returns false to stop.
using TakeEvent = std::function<bool(const ServerSentEvent&)>;

class EventParser {
public:
    enum class FeedResult {
        wants_more,
        was_stopped,  // by the callback
        is_too_long,  // one event exceeds the limit, which no daemon sends
    };

    explicit EventParser(size_t most_bytes) : most_bytes_(most_bytes) {}

    FeedResult feed(std::string_view text, const TakeEvent& take);

private:
    bool end_line(const TakeEvent& take);
    bool end_event(const TakeEvent& take);

    // The buffers are reused from event to event, because an event may have a megabyte.
    size_t most_bytes_;
    std::string line_;
    bool after_return_ = false;
    ServerSentEvent event_;
};

}  // namespace ttmem::access
