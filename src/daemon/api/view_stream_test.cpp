// SPDX-License-Identifier: Apache-2.0
#include "daemon/api/view_stream.hpp"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <new>
#include <numeric>

namespace ttmem::daemon {
namespace {

view::View view_with(std::vector<uint32_t> pids, uint64_t used = 0) {
    view::View view{{"host", 1, view::OriginSource::daemon}, {}};
    view.figures.devices.emplace_back().memory[0].used = used;
    for (const uint32_t pid : pids) {
        view.figures.processes.emplace_back().pid = pid;
    }
    return view;
}

struct CollectingStream : http::StreamWriter {
    explicit CollectingStream(std::function<bool(const std::string&)> take_text)
        : take(std::move(take_text)) {}
    Readiness readiness() const override { return now; }
    bool push(http::SharedText text) override { return take(*text); }

    std::function<bool(const std::string&)> take;
    Readiness now = Readiness::ready;
};

struct ViewStreamTest : testing::Test {
    ViewStreamTest()
        : stream(loop, post(), [this] { return now; },
                 {std::chrono::milliseconds(1), std::chrono::hours(1)}) {}

    PostTask post() {
        return [this](User, FairWorkers::Task task) { boost::asio::post(loop, std::move(task)); };
    }
    static std::shared_ptr<CollectingStream> collect(std::vector<std::string>& into) {
        return std::make_shared<CollectingStream>([&into](const std::string& text) {
            if (!text.starts_with(":")) {
                into.push_back(text);
            }
            return true;
        });
    }
    // Runs the loop until a condition holds.
    void run_until(const std::function<bool()>& done) {
        while (!done()) {
            loop.run_one();
        }
    }

    boost::asio::io_context loop;
    view::View now = view_with({7});
    ViewStream stream;
};

std::string id_of(const std::string& message) {
    const size_t at = message.find("id: ") + 4;
    return message.substr(at, message.find('\n', at) - at);
}

TEST_F(ViewStreamTest, SendsTheWholeViewFirstAndThenChanges) {
    std::vector<std::string> messages;
    stream.subscribe(collect(messages), "");
    run_until([&] { return messages.size() == 1; });
    EXPECT_TRUE(messages[0].starts_with("event: view\n"));
    now = view_with({7, 8});
    run_until([&] { return messages.size() == 2; });
    EXPECT_TRUE(messages[1].starts_with("event: change\n"));
    EXPECT_NE(id_of(messages[0]), id_of(messages[1]));
}

TEST_F(ViewStreamTest, AReaderGetsNoMessageBeforeItsIntervalHasPassed) {
    std::vector<std::string> patient;
    std::vector<std::string> eager;
    stream.subscribe(collect(patient), "", std::chrono::hours(1));
    stream.subscribe(collect(eager), "");
    run_until([&] { return patient.size() == 1 && eager.size() == 1; });
    now = view_with({7, 8});
    run_until([&] { return eager.size() == 2; });
    EXPECT_EQ(patient.size(), 1u);
}

TEST_F(ViewStreamTest, ASubscriberThatReconnectsGetsTheChangesItMissed) {
    std::vector<std::string> first;
    stream.subscribe(collect(first), "");
    run_until([&] { return first.size() == 1; });
    now = view_with({7, 8});
    run_until([&] { return first.size() == 2; });
    std::vector<std::string> back;
    stream.subscribe(collect(back), id_of(first[0]));
    run_until([&] { return back.size() == 1; });
    EXPECT_TRUE(back[0].starts_with("event: change\n"));
    EXPECT_NE(back[0].find("\"pid\":8"), std::string::npos);
    EXPECT_EQ(back[0].find("\"pid\":7"), std::string::npos);
}

TEST_F(ViewStreamTest, AnUnknownIdGetsTheWholeView) {
    for (const char* id : {"", "1-1", "x", "-", "99999999999999999999-1"}) {
        std::vector<std::string> messages;
        stream.subscribe(collect(messages), id);
        run_until([&] { return messages.size() == 1; });
        EXPECT_TRUE(messages[0].starts_with("event: view\n")) << id;
    }
}

TEST_F(ViewStreamTest, ASlowReaderGetsAllChangesAtOnceWhenItIsReady) {
    std::vector<std::string> slow;
    std::vector<std::string> quick;
    const auto reader = collect(slow);
    stream.subscribe(reader, "");
    stream.subscribe(collect(quick), "");
    run_until([&] { return slow.size() == 1 && quick.size() == 1; });
    reader->now = http::StreamWriter::Readiness::busy;
    now = view_with({7, 8});
    run_until([&] { return quick.size() == 2; });
    now = view_with({7, 8, 9});
    run_until([&] { return quick.size() == 3; });
    EXPECT_EQ(slow.size(), 1u);
    reader->now = http::StreamWriter::Readiness::ready;
    run_until([&] { return slow.size() == 2; });
    EXPECT_NE(slow[1].find("\"pid\":8"), std::string::npos);
    EXPECT_NE(slow[1].find("\"pid\":9"), std::string::npos);
}

TEST_F(ViewStreamTest, AReaderForWhomTooMuchHappenedGetsTheWholeViewAgain) {
    std::vector<std::string> slow;
    std::vector<std::string> quick;
    const auto reader = collect(slow);
    stream.subscribe(reader, "");
    stream.subscribe(collect(quick), "");
    run_until([&] { return slow.size() == 1 && quick.size() == 1; });
    reader->now = http::StreamWriter::Readiness::busy;
    for (uint32_t round = 0; round < 3; ++round) {
        std::vector<uint32_t> pids(2500);
        std::iota(pids.begin(), pids.end(), 100 + round * 10'000);
        now = view_with(pids);
        run_until([&, size = quick.size()] { return quick.size() > size; });
    }
    reader->now = http::StreamWriter::Readiness::ready;
    run_until([&] { return slow.size() == 2; });
    EXPECT_TRUE(slow[1].starts_with("event: view\n"));
}

TEST_F(ViewStreamTest, ARoundThatFailsIsFollowedByTheNext) {
    int reads = 0;
    const PostTask post_and_catch = [this](User, FairWorkers::Task task) {
        boost::asio::post(loop, [task = std::move(task)]() mutable {
            try {
                task();
            } catch (...) {
            }
        });
    };
    ViewStream failing(loop, post_and_catch,
                       [&] {
                           if (++reads == 1) {
                               throw std::bad_alloc();
                           }
                           return now;
                       },
                       {std::chrono::milliseconds(1), std::chrono::hours(1)});
    std::vector<std::string> messages;
    failing.subscribe(collect(messages), "");
    run_until([&] { return messages.size() == 1; });
    EXPECT_EQ(reads, 2);
}

TEST_F(ViewStreamTest, SendsHeartbeatsWhereNothingChanges) {
    ViewStream quick(loop, post(), [this] { return now; },
                     {std::chrono::milliseconds(1), std::chrono::milliseconds(1)});
    int heartbeats = 0;
    int messages = 0;
    quick.subscribe(std::make_shared<CollectingStream>([&](const std::string& text) {
                        (text == ": alive\n\n" ? heartbeats : messages) += 1;
                        return true;
                    }),
                    "");
    run_until([&] { return heartbeats == 3; });
    EXPECT_EQ(messages, 1);
}

TEST_F(ViewStreamTest, ReadsNothingWithoutSubscribers) {
    int reads = 0;
    ViewStream lonely(loop, post(),
                      [&] {
                          ++reads;
                          return now;
                      },
                      {std::chrono::milliseconds(1), std::chrono::hours(1)});
    lonely.subscribe(std::make_shared<CollectingStream>([](const std::string&) { return false; }), "");
    loop.run();  // ends, because there is nothing more to do
    EXPECT_EQ(reads, 1);
}

TEST_F(ViewStreamTest, ReadsNothingWhileNoSubscriberIsDue) {
    int reads = 0;
    int rounds = 0;
    ViewStream counting(
        loop,
        [&](User, FairWorkers::Task task) {
            ++rounds;
            boost::asio::post(loop, std::move(task));
        },
        [&] {
            ++reads;
            return view_with({7}, static_cast<uint64_t>(reads));
        },
        {std::chrono::milliseconds(1), std::chrono::hours(1)});
    std::vector<std::string> patient;
    counting.subscribe(collect(patient), "", std::chrono::hours(1));
    run_until([&] { return rounds == 20; });
    EXPECT_EQ(reads, 1);
    EXPECT_EQ(patient.size(), 1u);
    // Somebody who comes later does not wait for the others.
    std::vector<std::string> late;
    counting.subscribe(collect(late), "");
    run_until([&] { return late.size() == 1; });
    EXPECT_EQ(reads, 2);
}

TEST_F(ViewStreamTest, AMessageIsOneLineOfData) {
    std::vector<std::string> messages;
    stream.subscribe(collect(messages), "");
    run_until([&] { return messages.size() == 1; });
    now = view_with({7, 8});
    run_until([&] { return messages.size() == 2; });
    for (const std::string& message : messages) {
        EXPECT_EQ(std::count(message.begin(), message.end(), '\n'), 4) << message;
    }
}

}  // namespace
}  // namespace ttmem::daemon
