// SPDX-License-Identifier: Apache-2.0
#include "access/event_parser.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>
#include <vector>

namespace ttmem::access {

static bool operator==(const ServerSentEvent& a, const ServerSentEvent& b) {
    return a.event == b.event && a.id == b.id && a.data == b.data;
}

static std::ostream& operator<<(std::ostream& out, const ServerSentEvent& event) {
    return out << event.event << " #" << event.id << " '" << event.data << "'";
}

namespace {

using testing::ElementsAre;
using FeedResult = EventParser::FeedResult;

std::vector<ServerSentEvent> events_in(std::string_view text, size_t step) {
    std::vector<ServerSentEvent> events;
    EventParser parser(1000);
    for (size_t at = 0; at < text.size(); at += step) {
        EXPECT_EQ(parser.feed(text.substr(at, step),
                              [&](const ServerSentEvent& event) {
                                  events.push_back(event);
                                  return true;
                              }),
                  FeedResult::wants_more);
    }
    return events;
}

TEST(EventParser, TakesEventsApartHoweverTheyAreCut) {
    const std::string_view text =
        ": heartbeat\n\nevent: view\nid: 7\ndata: {\"a\":\ndata:  1}\n\n"
        "data:x\n\n"
        "event: none\n\n"
        "unknown: y\nid: 8\ndata\n\n"
        "data: unfinished\n";
    for (size_t step = 1; step <= text.size(); ++step) {
        EXPECT_THAT(events_in(text, step),
                    ElementsAre(ServerSentEvent{"view", "7", "{\"a\":\n 1}"},
                                ServerSentEvent{"message", "7", "x"}, ServerSentEvent{"message", "8", ""}));
    }
}

TEST(EventParser, KnowsAllThreeLineEnds) {
    const std::string_view text = "data: a\r\n\r\ndata: b\r\rdata: c\n\r\ndata: d\r\n\n";
    for (size_t step = 1; step <= text.size(); ++step) {
        EXPECT_THAT(events_in(text, step),
                    ElementsAre(ServerSentEvent{"message", "", "a"}, ServerSentEvent{"message", "", "b"},
                                ServerSentEvent{"message", "", "c"}, ServerSentEvent{"message", "", "d"}));
    }
}

TEST(EventParser, StopsWhenTheCallbackReturnsFalse) {
    EventParser parser(1000);
    int taken = 0;
    EXPECT_EQ(parser.feed("data: 1\n\ndata: 2\n\n", [&](const ServerSentEvent&) { return ++taken == 0; }),
              FeedResult::was_stopped);
    EXPECT_EQ(taken, 1);
}

TEST(EventParser, GivesUpOnAnEventWithoutAnEnd) {
    const auto take = [](const ServerSentEvent&) { return true; };
    EventParser one_line(100);
    EXPECT_EQ(one_line.feed(std::string(100, 'x'), take), FeedResult::wants_more);
    EXPECT_EQ(one_line.feed("x", take), FeedResult::is_too_long);
    EventParser many_lines(100);
    FeedResult fed = FeedResult::wants_more;
    for (int i = 0; i < 100 && fed == FeedResult::wants_more; ++i) {
        fed = many_lines.feed("data: xxxxx\n", take);
    }
    EXPECT_EQ(fed, FeedResult::is_too_long);
}

}  // namespace
}  // namespace ttmem::access
