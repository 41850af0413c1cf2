// SPDX-License-Identifier: Apache-2.0
#pragma once

// Server-sent events, out of bytes that come in pieces of any size.

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace ttmem::access {

struct Event {
    std::string event;  // "message" where it says nothing else
    std::string id;     // of this one, or of the last before it that had one
    std::string data;
};

// Says false when it has enough.
using TakeEvent = std::function<bool(const Event&)>;

class EventParser {
public:
    enum class Fed {
        wants_more,
        was_stopped,  // by who takes the events
        is_too_long,  // one event: nobody sends such
    };

    explicit EventParser(size_t most_bytes) : most_bytes_(most_bytes) {}

    Fed feed(std::string_view text, const TakeEvent& take);

private:
    bool end_line(const TakeEvent& take);
    bool end_event(const TakeEvent& take);

    // What one event has taken serves the next: they may have a megabyte each.
    size_t most_bytes_;
    std::string line_;
    bool after_return_ = false;
    Event event_;
};

}  // namespace ttmem::access
