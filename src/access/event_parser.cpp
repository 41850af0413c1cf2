// SPDX-License-Identifier: Apache-2.0
#include "access/event_parser.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace ttmem::access {

EventParser::FeedResult EventParser::feed(std::string_view text, const TakeEvent& take) {
    assert(take);
    while (!text.empty()) {
        if (std::exchange(after_return_, false) && text.front() == '\n') {
            text.remove_prefix(1);  // a line may end with CR LF
            continue;
        }
        // Not find_first_of(), which is slow: a line may have a megabyte.
        const size_t line_feed = std::min(text.find('\n'), text.size());
        const size_t end = std::min(text.substr(0, line_feed).find('\r'), line_feed);
        if (line_.size() + event_.data.size() + end > most_bytes_) {
            return FeedResult::is_too_long;
        }
        line_ += text.substr(0, end);
        assert(line_.size() + event_.data.size() <= most_bytes_);
        if (end == text.size()) {
            break;
        }
        after_return_ = text[end] == '\r';
        text.remove_prefix(end + 1);
        if (!end_line(take)) {
            return FeedResult::was_stopped;
        }
    }
    return FeedResult::wants_more;
}

bool EventParser::end_line(const TakeEvent& take) {
    if (line_.empty()) {
        return end_event(take);
    }
    const size_t colon = std::min(line_.find(':'), line_.size());
    const std::string_view field = std::string_view(line_).substr(0, colon);
    std::string_view value = std::string_view(line_).substr(std::min(colon + 1, line_.size()));
    if (value.starts_with(' ')) {
        value.remove_prefix(1);
    }
    if (field == "data") {
        event_.data.append(value).push_back('\n');
    } else if (field == "event") {
        event_.event = value;
    } else if (field == "id" && value.find('\0') == std::string_view::npos) {
        event_.id = value;
    }  // other fields, and comments (with an empty field), are ignored
    line_.clear();
    return true;
}

bool EventParser::end_event(const TakeEvent& take) {
    bool goes_on = true;
    if (!event_.data.empty()) {
        assert(event_.data.back() == '\n');
        event_.data.pop_back();  // the newline after the last line is not part of the data
        if (event_.event.empty()) {
            event_.event = "message";
        }
        goes_on = take(event_);
    }
    event_.event.clear();
    event_.data.clear();  // the id is kept
    return goes_on;
}

}  // namespace ttmem::access
