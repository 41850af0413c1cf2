// SPDX-License-Identifier: Apache-2.0
#include "access/event_parser.hpp"

#include <algorithm>
#include <utility>

namespace ttmem::access {

EventParser::Fed EventParser::feed(std::string_view text, const TakeEvent& take) {
    while (!text.empty()) {
        if (std::exchange(after_return_, false) && text.front() == '\n') {
            text.remove_prefix(1);  // a line may end in both
            continue;
        }
        const size_t end = std::min(text.find_first_of("\r\n"), text.size());
        if (line_.size() + data_.size() + end > most_bytes_) {
            return Fed::is_too_long;
        }
        line_ += text.substr(0, end);
        if (end == text.size()) {
            break;
        }
        after_return_ = text[end] == '\r';
        text.remove_prefix(end + 1);
        if (!end_line(take)) {
            return Fed::was_stopped;
        }
    }
    return Fed::wants_more;
}

bool EventParser::end_line(const TakeEvent& take) {
    const std::string line = std::exchange(line_, {});
    if (line.empty()) {
        Event event;
        event.id = id_;
        event.data = std::exchange(data_, {});
        if (const std::string name = std::exchange(name_, {}); !name.empty()) {
            event.event = name;
        }
        if (event.data.empty()) {
            return true;
        }
        event.data.pop_back();  // the line end after the last line is none of it
        return take(event);
    }
    const size_t colon = std::min(line.find(':'), line.size());
    const std::string_view field = std::string_view(line).substr(0, colon);
    std::string_view value = std::string_view(line).substr(std::min(colon + 1, line.size()));
    if (value.starts_with(' ')) {
        value.remove_prefix(1);
    }
    if (field == "data") {
        data_.append(value).push_back('\n');
    } else if (field == "event") {
        name_ = value;
    } else if (field == "id" && value.find('\0') == std::string_view::npos) {
        id_ = value;
    }
    return true;  // others, and comments, whose field is empty, mean nothing here
}

}  // namespace ttmem::access
