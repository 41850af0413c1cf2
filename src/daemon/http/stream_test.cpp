// SPDX-License-Identifier: Apache-2.0

// Server-sent events, and the end of the server.

#include <functional>

#include "daemon/http/server_test_support.hpp"
#include "daemon/http/stream_buffer.hpp"
#include "tests/support/wait.hpp"

namespace ttmem::daemon::http {
namespace {

class StreamTest : public ServerTest {
protected:
    std::shared_ptr<StreamWriter> begin_stream(RawClient& client) {
        EXPECT_TRUE(client.send(kLater));
        return inbox_.take().responder->begin_stream();
    }
    Push begin(RawClient& client) { return push_to(begin_stream(client)); }
};

TEST_F(StreamTest, SendsPushedTextInOrder) {
    start_echo();
    RawClient client(path());
    const auto push = begin(client);
    const std::string head = client.read_to("\r\n\r\n");
    EXPECT_NE(head.find("200 OK"), std::string::npos);
    EXPECT_NE(head.find("Content-Type: text/event-stream\r\n"), std::string::npos);
    EXPECT_NE(head.find("Cache-Control: no-store\r\n"), std::string::npos);
    for (int i = 0; i < 1000; ++i) {
        ASSERT_TRUE(push("data: " + std::to_string(i) + "\n\n"));
    }
    for (int i = 0; i < 1000; ++i) {
        ASSERT_EQ(client.read_to("\n\n"), "data: " + std::to_string(i) + "\n\n");
    }
}

TEST_F(StreamTest, HasNoIdleLimit) {
    ServerLimits limits;
    limits.idle = std::chrono::milliseconds(500);
    start_echo(limits);
    RawClient client(path());
    const auto push = begin(client);
    client.read_to("\r\n\r\n");
    RawClient silent(path());  // its deadline is set later than that of the stream
    EXPECT_EQ(silent.read_to_end(), "");
    EXPECT_TRUE(push("data: x\n\n"));
    EXPECT_EQ(client.read_to("\n\n"), "data: x\n\n");
}

TEST_F(StreamTest, NoticesThatTheReaderHasGone) {
    start_echo();
    RawClient client(path());
    const auto push = begin(client);
    client.read_to("\r\n\r\n");
    client.close();
    // The server notices without a push.
    EXPECT_TRUE(test::wait_until([&] { return statistics().connections == 0; }));
    EXPECT_FALSE(push("data: x\n\n"));
}

TEST_F(StreamTest, DisconnectsAReaderWithTooMuchWaiting) {
    ServerLimits limits;
    limits.stream_bytes = 100'000;
    start_echo(limits);
    RawClient client(path());
    const auto push = begin(client);
    const std::string text(10'000, 'x');
    size_t pushed = 0;
    while (push(text)) {
        ASSERT_LT(++pushed, 10'000u) << "100 MB wait";
    }
    EXPECT_TRUE(test::wait_until([&] { return statistics().connections == 0; }));
    EXPECT_LT(client.read_to_end().size(), pushed * text.size() + 1000);
    EXPECT_TRUE(client.is_ended());
    EXPECT_FALSE(push(text));
}

TEST_F(StreamTest, DisconnectsAReaderThatReadsNothing) {
    ServerLimits limits;
    limits.idle = std::chrono::milliseconds(500);
    limits.stream_bytes = size_t{64} << 20;
    start_echo(limits);
    RawClient client(path());
    const auto push = begin(client);
    ASSERT_TRUE(
        push(std::string(size_t{8} << 20, 'x')));  // more than the kernel buffers, less than the limit
    EXPECT_TRUE(test::wait_until([&] { return statistics().connections == 0; }));
    EXPECT_FALSE(push("x"));
}

TEST_F(StreamTest, OneTextMayExceedTheLimit) {
    ServerLimits limits;
    limits.stream_bytes = 1000;
    start_echo(limits);
    RawClient client(path());
    const auto push = begin(client);
    ASSERT_TRUE(push(std::string(3'000'000, 'x')));
    client.read_to("\r\n\r\n");
    EXPECT_EQ(client.read_bytes(3'000'000).size(), 3'000'000u);
}

TEST_F(StreamTest, EndsWithItsLastPushAndLosesNothing) {
    start_echo();
    RawClient client(path());
    auto push = begin(client);
    auto copy = push;
    push = nullptr;
    EXPECT_TRUE(copy(std::string(1'000'000, 'x')));
    copy = nullptr;
    client.read_to("\r\n\r\n");
    EXPECT_EQ(client.read_to_end().size(), 1'000'000u);
    EXPECT_TRUE(client.is_ended());
    client.close();
    EXPECT_TRUE(test::wait_until([&] { return statistics().connections == 0; }));
}

TEST_F(StreamTest, HeadReturnsTheHeadOfAStream) {
    start_echo();
    RawClient client(path());
    ASSERT_TRUE(client.send("HEAD /later HTTP/1.1\r\nHost: localhost\r\n\r\n"));
    const auto push = push_to(inbox_.take().responder->begin_stream());
    EXPECT_NE(client.read_to("\r\n\r\n").find("text/event-stream"), std::string::npos);
    EXPECT_EQ(client.read_to_end(), "");
    EXPECT_FALSE(push("data: x\n\n"));
}

TEST_F(StreamTest, EndsWithTheServer) {
    start_echo();
    RawClient client(path());
    const auto push = begin(client);
    client.read_to("\r\n\r\n");
    on_loop([this] {
        server_->stop();
        return 0;
    });
    EXPECT_FALSE(push("data: x\n\n"));
    client.read_to_end();
    EXPECT_TRUE(client.is_ended());
    stop();
    EXPECT_FALSE(push("data: x\n\n"));
}

TEST_F(StreamTest, ManyThreadsMayPushWhileTheReaderLeaves) {
    start_echo();
    for (int round = 0; round < 20; ++round) {
        RawClient client(path());
        const auto push = begin(client);
        std::vector<std::thread> threads;
        for (int i = 0; i < 3; ++i) {
            threads.emplace_back([push] {
                while (push("data: x\n\n")) {
                }
            });
        }
        client.read_bytes(10'000);
        client.close();
        for (auto& thread : threads) {
            thread.join();
        }
    }
    EXPECT_TRUE(test::wait_until([&] { return statistics().connections == 0; }));
}

TEST_F(StreamTest, RespondersMayOutliveTheServerAndItsLoop) {
    start_echo();
    std::vector<RawClient> clients;
    std::vector<Inbox::Item> items;
    for (int i = 0; i < 4; ++i) {
        clients.emplace_back(path());
        ASSERT_TRUE(clients.back().send(kLater));
        items.push_back(inbox_.take());
    }
    const auto push = push_to(items[3].responder->begin_stream());
    stop();
    items[0].responder->send({});
    EXPECT_FALSE(push_to(items[1].responder->begin_stream())("data: x\n\n"));
    items.clear();  // one stays unanswered
    EXPECT_FALSE(push("data: x\n\n"));
    for (RawClient& client : clients) {
        client.read_to_end();
        EXPECT_TRUE(client.is_ended());
    }
}

TEST_F(StreamTest, RespondersMayBeUsedWhileTheServerStops) {
    for (int round = 0; round < 20; ++round) {
        start_echo();
        RawClient first(path());
        RawClient second(path());
        ASSERT_TRUE(first.send(kLater));
        ASSERT_TRUE(second.send(kLater));
        std::thread answering([one = inbox_.take(), two = inbox_.take()]() mutable {
            const auto push = push_to(one.responder->begin_stream());
            two.responder->send({});
            while (push("data: x\n\n")) {
            }
        });
        stop();
        answering.join();
    }
}

TEST_F(StreamTest, AServerMayBeDestroyedBeforeItsLoopRuns) {
    boost::asio::io_context loop;
    Server server(loop, post_task(), {});
    ASSERT_TRUE(server.listen_unix(path()));
    EXPECT_TRUE(RawClient(path()).is_connected());
}

TEST_F(StreamTest, AStreamIsBusyUntilItsReaderHasTakenEverything) {
    start_echo();
    RawClient client(path());
    const auto stream = begin_stream(client);
    EXPECT_EQ(stream->readiness(), StreamWriter::Readiness::ready);
    ASSERT_TRUE(stream->push(std::make_shared<const std::string>(size_t{4} << 20, 'x')));
    EXPECT_EQ(stream->readiness(), StreamWriter::Readiness::busy);
    client.read_to("\r\n\r\n");
    EXPECT_EQ(client.read_bytes(size_t{4} << 20).size(), size_t{4} << 20);
    EXPECT_TRUE(test::wait_until([&] { return stream->readiness() == StreamWriter::Readiness::ready; }));
    client.close();
    EXPECT_TRUE(test::wait_until([&] { return stream->readiness() == StreamWriter::Readiness::gone; }));
}

struct StreamBufferTest : testing::Test {
    static SharedText text(std::string value) {
        return std::make_shared<const std::string>(std::move(value));
    }
    static std::string value(const SharedText& text) { return text ? *text : "(none)"; }

    std::shared_ptr<Budgets> budgets = std::make_shared<Budgets>();
    StreamBuffer buffer{10, budgets, 1000};
};

TEST_F(StreamBufferTest, ReportsWhenTheConnectionMustBeWoken) {
    EXPECT_EQ(buffer.push(text("1234")), StreamBuffer::PushResult::queued);  // the head is being written
    EXPECT_EQ(value(buffer.take()), "1234");
    EXPECT_EQ(buffer.push(text("5")), StreamBuffer::PushResult::queued);
    EXPECT_EQ(value(buffer.take()), "5");
    EXPECT_EQ(buffer.take(), nullptr);
    EXPECT_EQ(buffer.push(text("6")), StreamBuffer::PushResult::must_wake);
    EXPECT_EQ(buffer.push(text("7")), StreamBuffer::PushResult::queued);
    EXPECT_EQ(value(buffer.take()), "6");
    EXPECT_EQ(value(buffer.take()), "7");
    buffer.close();
    EXPECT_EQ(buffer.push(text("8")), StreamBuffer::PushResult::closed);
}

TEST_F(StreamBufferTest, TextInFlightCountsTowardsTheLimit) {
    EXPECT_EQ(buffer.push(text(std::string(10, 'x'))), StreamBuffer::PushResult::queued);
    EXPECT_EQ(buffer.take()->size(), 10u);
    EXPECT_EQ(buffer.push(text("y")), StreamBuffer::PushResult::queued);
    EXPECT_EQ(buffer.push(text("z")), StreamBuffer::PushResult::overflow);
    EXPECT_EQ(buffer.push(text("z")), StreamBuffer::PushResult::closed);
}

TEST_F(StreamBufferTest, WaitingTextsOfAUserKeepItsOtherStreamsBusy) {
    const uint64_t share = budgets->limit(Budget::stream_bytes).per_user;
    StreamBuffer other(10, budgets, 1000);
    const StreamBuffer of_another_user(10, budgets, 1001);
    buffer.push(text(std::string(share + 1, 'x')));
    EXPECT_EQ(budgets->used_by(Budget::stream_bytes, 1000), share);
    EXPECT_EQ(other.readiness(), StreamWriter::Readiness::busy);
    EXPECT_EQ(of_another_user.readiness(), StreamWriter::Readiness::ready);
    EXPECT_EQ(other.push(text("y")), StreamBuffer::PushResult::queued) << "it waits uncounted";
    other.close();
    buffer.close();
    EXPECT_EQ(budgets->used_by(Budget::stream_bytes, 1000), 0u);
    EXPECT_EQ(buffer.readiness(), StreamWriter::Readiness::gone);
    EXPECT_EQ(budgets->uses()[static_cast<size_t>(Budget::stream_bytes)].refused, 0u);
}

}  // namespace
}  // namespace ttmem::daemon::http
