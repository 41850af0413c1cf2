// SPDX-License-Identifier: Apache-2.0
#include "daemon/api/event_stream.hpp"

#include <gtest/gtest.h>

namespace ttmem::daemon {
namespace {

TEST(EventStream, BeginsWithTheNextEventUnlessOneIsNamed) {
    const view::EventQuery plain = EventStream::first_query({}, 41, "");
    EXPECT_EQ(plain.since, 42u);
    EXPECT_FALSE(plain.stream) << "what was before is not missed";
    const view::EventQuery since = EventStream::first_query({.since = 7}, 41, "");
    EXPECT_EQ(since.since, 7u);
    EXPECT_TRUE(since.stream);
    const view::EventQuery resumed = EventStream::first_query({.since = 7}, 41, "20");
    EXPECT_EQ(resumed.since, 21u);
    EXPECT_TRUE(resumed.stream);
    EXPECT_EQ(EventStream::first_query({.last = 5}, 41, "").since, std::nullopt);
}

TEST(EventStream, TheLargestNumberDoesNotBeginAtTheOldestEvent) {
    const std::string largest = std::to_string(UINT64_MAX);
    EXPECT_EQ(EventStream::first_query({}, 41, largest).since, UINT64_MAX);
    EXPECT_EQ(EventStream::first_query({.since = UINT64_MAX}, 41, "").since, UINT64_MAX);
    EXPECT_EQ(EventStream::first_query({}, 41, largest + "0").since, 42u) << "it is no number";
}

TEST(EventStream, AMessageIsShortWhateverIsAskedFor) {
    EXPECT_LE(EventStream::first_query({.limit = 0}, 41, "").limit, 1000u);
    EXPECT_LE(*EventStream::first_query({.last = 65'536}, 41, "").last, 1000u);
    EXPECT_EQ(*EventStream::first_query({.last = 5}, 41, "").last, 5u);
}

}  // namespace
}  // namespace ttmem::daemon
