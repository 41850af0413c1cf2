// SPDX-License-Identifier: Apache-2.0

// The events do not depend on how the stream is cut into pieces, and none exceeds the limit. The first byte of an
// input is the length of the pieces.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "access/event_parser.hpp"

namespace {

constexpr size_t kMostBytes = 64;

std::string events_in(std::string_view text, size_t step) {
    ttmem::access::EventParser parser(kMostBytes);
    std::string events;
    while (!text.empty()) {
        const std::string_view piece = text.substr(0, step);
        text.remove_prefix(piece.size());
        const auto fed = parser.feed(piece, [&](const ttmem::access::ServerSentEvent& event) {
            if (event.data.size() > kMostBytes) {
                fprintf(stderr, "an event of %zu bytes\n", event.data.size());
                abort();
            }
            events += event.event + '\0' + event.id + '\0' + event.data + '\0';
            return true;
        });
        if (fed != ttmem::access::EventParser::FeedResult::wants_more) {
            return events + "too long";
        }
    }
    return events;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (size == 0) {
        return 0;
    }
    const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
    if (events_in(text, std::max<size_t>(1, data[0])) != events_in(text, std::string_view::npos)) {
        fprintf(stderr, "the cut of the pieces changes the events\n");
        abort();
    }
    return 0;
}
