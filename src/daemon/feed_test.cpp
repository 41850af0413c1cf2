// SPDX-License-Identifier: Apache-2.0
#include "daemon/feed.hpp"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <nlohmann/json.hpp>

namespace ttmem::daemon {
namespace {

using nlohmann::json;

view::View view_of(std::vector<uint32_t> pids, uint64_t used = 0) {
    view::View view{{"host", 1, "daemon"}, {}};
    view.figures.devices.emplace_back().memory[0].used = used;
    for (const uint32_t pid : pids) {
        view.figures.processes.emplace_back().pid = pid;
    }
    return view;
}

TEST(Changes, OfAViewThatIsTheSameButForItsTimeThereAreNone) {
    Changes changes;
    EXPECT_TRUE(changes.take(view_of({7})));
    view::View later = view_of({7});
    later.origin.time_ns = 2;
    EXPECT_FALSE(changes.take(later));
    EXPECT_EQ(changes.number(), 1u);
}

TEST(Changes, AreOnlyWhatChangedSince) {
    Changes changes;
    changes.take(view_of({7, 8}));
    changes.take(view_of({7, 8}, 100));
    const json since = json::parse(changes.since(1));
    EXPECT_EQ(since["devices"].size(), 1u);
    EXPECT_EQ(since["devices"][0]["memory"]["dram"]["used"], 100);
    EXPECT_EQ(since["processes"].size(), 0u);
    EXPECT_FALSE(since.contains("inexact")) << "that is as it was";
    EXPECT_EQ(json::parse(changes.since(0))["processes"].size(), 2u);
}

TEST(Changes, WhatIsGoneIsSaidUnlessItIsBack) {
    Changes changes;
    changes.take(view_of({7, 8}));
    changes.take(view_of({8}));
    EXPECT_EQ(json::parse(changes.since(1))["gone_processes"], json({7}));
    changes.take(view_of({7, 8}));
    EXPECT_EQ(json::parse(changes.since(1))["gone_processes"], json::array());
    EXPECT_EQ(json::parse(changes.since(2))["processes"][0]["pid"], 7);
}

TEST(Changes, AStateIsForgottenWithWhatWasGoneSince) {
    Changes changes;
    changes.take(view_of({1}));
    for (uint32_t pid = 2; pid < 6000; ++pid) {
        changes.take(view_of({pid}));
    }
    EXPECT_FALSE(changes.knows(1));
    EXPECT_TRUE(changes.knows(changes.number() - 100));
    EXPECT_FALSE(changes.knows(changes.number() + 1)) << "of another daemon";
}

struct FeedTest : testing::Test {
    FeedTest()
        : feed(loop, loop.get_executor(), [this] { return now; },
               {std::chrono::milliseconds(1), std::chrono::hours(1)}) {}

    http::Answer::Push collect(std::vector<std::string>& into) {
        return [&into](std::string text) {
            if (!text.starts_with(":")) {
                into.push_back(std::move(text));
            }
            return true;
        };
    }
    // Runs the loop until a condition holds.
    void run_until(const std::function<bool()>& done) {
        while (!done()) {
            loop.run_one();
        }
    }

    boost::asio::io_context loop;
    view::View now = view_of({7});
    Feed feed;
};

std::string id_of(const std::string& message) {
    const size_t at = message.find("id: ") + 4;
    return message.substr(at, message.find('\n', at) - at);
}

TEST_F(FeedTest, GivesTheWholeViewFirstAndThenWhatChanges) {
    std::vector<std::string> messages;
    feed.subscribe(collect(messages), "");
    run_until([&] { return messages.size() == 1; });
    EXPECT_TRUE(messages[0].starts_with("event: view\n"));
    now = view_of({7, 8});
    run_until([&] { return messages.size() == 2; });
    EXPECT_TRUE(messages[1].starts_with("event: change\n"));
    EXPECT_NE(id_of(messages[0]), id_of(messages[1]));
}

TEST_F(FeedTest, AReaderIsLeftAloneForAsLongAsItWants) {
    std::vector<std::string> patient;
    std::vector<std::string> eager;
    feed.subscribe(collect(patient), "", std::chrono::hours(1));
    feed.subscribe(collect(eager), "");
    run_until([&] { return patient.size() == 1 && eager.size() == 1; });
    now = view_of({7, 8});
    run_until([&] { return eager.size() == 2; });
    EXPECT_EQ(patient.size(), 1u);
}

TEST_F(FeedTest, AReaderThatComesBackGetsWhatItMissed) {
    std::vector<std::string> first;
    feed.subscribe(collect(first), "");
    run_until([&] { return first.size() == 1; });
    now = view_of({7, 8});
    run_until([&] { return first.size() == 2; });
    std::vector<std::string> back;
    feed.subscribe(collect(back), id_of(first[0]));
    run_until([&] { return back.size() == 1; });
    EXPECT_TRUE(back[0].starts_with("event: change\n"));
    EXPECT_NE(back[0].find("\"pid\":8"), std::string::npos);
    EXPECT_EQ(back[0].find("\"pid\":7"), std::string::npos);
}

TEST_F(FeedTest, AnIdOfAnotherDaemonOrNoneAtAllGivesTheWholeView) {
    for (const char* id : {"", "1-1", "x", "-", "99999999999999999999-1"}) {
        std::vector<std::string> messages;
        feed.subscribe(collect(messages), id);
        run_until([&] { return messages.size() == 1; });
        EXPECT_TRUE(messages[0].starts_with("event: view\n")) << id;
    }
}

TEST_F(FeedTest, AHeartbeatComesAlsoWhereNothingChanges) {
    Feed quick(loop, loop.get_executor(), [this] { return now; },
               {std::chrono::milliseconds(1), std::chrono::milliseconds(1)});
    int heartbeats = 0;
    int messages = 0;
    quick.subscribe(
        [&](const std::string& text) {
            (text == ": alive\n\n" ? heartbeats : messages) += 1;
            return true;
        },
        "");
    run_until([&] { return heartbeats == 3; });
    EXPECT_EQ(messages, 1);
}

TEST_F(FeedTest, NobodyIsLookedForWhenNobodyListens) {
    feed.subscribe([](const std::string&) { return false; }, "");
    loop.run();  // ends, as there is nothing more to do
    SUCCEED();
}

}  // namespace
}  // namespace ttmem::daemon
