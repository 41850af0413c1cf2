// SPDX-License-Identifier: Apache-2.0

// Server-sent events, and the end of everything.

#include <functional>

#include "daemon/http/flow.hpp"
#include "daemon/http/server_test_support.hpp"
#include "tests/support/wait.hpp"

namespace ttmem::daemon::http {
namespace {

class StreamTest : public ServerTest {
protected:
    Answer::Push begin(RawClient& client) {
        EXPECT_TRUE(client.send(kLater));
        return inbox_.take().answer->begin_stream();
    }
};

TEST_F(StreamTest, SendsWhatIsPushedInOrder) {
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

TEST_F(StreamTest, HasNoIdleCut) {
    Limits limits;
    limits.idle = std::chrono::milliseconds(500);
    start_echo(limits);
    RawClient client(path());
    const auto push = begin(client);
    client.read_to("\r\n\r\n");
    RawClient silent(path());  // whose deadline is set later than any of the stream's
    EXPECT_EQ(silent.read_to_end(), "");
    EXPECT_TRUE(push("data: x\n\n"));
    EXPECT_EQ(client.read_to("\n\n"), "data: x\n\n");
}

TEST_F(StreamTest, NoticesThatTheReaderIsGone) {
    start_echo();
    RawClient client(path());
    const auto push = begin(client);
    client.read_to("\r\n\r\n");
    client.close();
    // Without a push: the server itself notices.
    EXPECT_TRUE(test::wait_until([&] { return counts().connections == 0; }));
    EXPECT_FALSE(push("data: x\n\n"));
}

TEST_F(StreamTest, CutsAReaderForWhomTooMuchWaits) {
    Limits limits;
    limits.stream_bytes = 100'000;
    start_echo(limits);
    RawClient client(path());
    const auto push = begin(client);
    const std::string text(10'000, 'x');
    size_t pushed = 0;
    while (push(text)) {
        ASSERT_LT(++pushed, 10'000u) << "100 MB wait";
    }
    EXPECT_TRUE(test::wait_until([&] { return counts().connections == 0; }));
    EXPECT_LT(client.read_to_end().size(), pushed * text.size() + 1000);
    EXPECT_TRUE(client.is_ended());
    EXPECT_FALSE(push(text));
}

TEST_F(StreamTest, CutsAReaderThatTakesNothing) {
    Limits limits;
    limits.idle = std::chrono::milliseconds(500);
    limits.stream_bytes = size_t{64} << 20;
    start_echo(limits);
    RawClient client(path());
    const auto push = begin(client);
    ASSERT_TRUE(push(std::string(size_t{8} << 20, 'x')));  // more than the kernel takes, less than may wait
    EXPECT_TRUE(test::wait_until([&] { return counts().connections == 0; }));
    EXPECT_FALSE(push("x"));
}

TEST_F(StreamTest, OneLongTextGetsThrough) {
    Limits limits;
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
    EXPECT_TRUE(test::wait_until([&] { return counts().connections == 0; }));
}

TEST_F(StreamTest, HeadOfAStreamIsItsHeader) {
    start_echo();
    RawClient client(path());
    ASSERT_TRUE(client.send("HEAD /later HTTP/1.1\r\nHost: localhost\r\n\r\n"));
    const auto push = inbox_.take().answer->begin_stream();
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
    EXPECT_TRUE(test::wait_until([&] { return counts().connections == 0; }));
}

TEST_F(StreamTest, AnswersThatComeAfterTheServerAndItsLoopHarmNobody) {
    start_echo();
    std::vector<RawClient> clients;
    std::vector<Inbox::Item> items;
    for (int i = 0; i < 4; ++i) {
        clients.emplace_back(path());
        ASSERT_TRUE(clients.back().send(kLater));
        items.push_back(inbox_.take());
    }
    const auto push = items[3].answer->begin_stream();
    stop();
    items[0].answer->send({});
    EXPECT_FALSE(items[1].answer->begin_stream()("data: x\n\n"));
    items.clear();  // and one goes unanswered
    EXPECT_FALSE(push("data: x\n\n"));
    for (RawClient& client : clients) {
        client.read_to_end();
        EXPECT_TRUE(client.is_ended());
    }
}

TEST_F(StreamTest, AnswersMayComeWhileTheServerStops) {
    for (int round = 0; round < 20; ++round) {
        start_echo();
        RawClient first(path());
        RawClient second(path());
        ASSERT_TRUE(first.send(kLater));
        ASSERT_TRUE(second.send(kLater));
        std::thread answering([one = inbox_.take(), two = inbox_.take()]() mutable {
            const auto push = one.answer->begin_stream();
            two.answer->send({});
            while (push("data: x\n\n")) {
            }
        });
        stop();
        answering.join();
    }
}

TEST_F(StreamTest, AServerMayGoWithoutItsLoopEverRunning) {
    boost::asio::io_context loop;
    Server server(loop, worker_.get_executor(), {});
    ASSERT_TRUE(server.listen_unix(path()));
    EXPECT_TRUE(RawClient(path()).is_connected());
}

TEST(Flow, TellsTheOneWhoMustWake) {
    Flow flow(10);
    EXPECT_EQ(flow.push("1234"), Flow::Pushed::waits);  // the header is under way
    EXPECT_EQ(flow.take(), "1234");
    EXPECT_EQ(flow.push("5"), Flow::Pushed::waits);
    EXPECT_EQ(flow.take(), "5");
    EXPECT_EQ(flow.take(), std::nullopt);
    EXPECT_EQ(flow.push("6"), Flow::Pushed::wakes);
    EXPECT_EQ(flow.push("7"), Flow::Pushed::waits);
    EXPECT_EQ(flow.take(), "67");
    flow.end();
    EXPECT_EQ(flow.push("8"), Flow::Pushed::gone);
}

TEST(Flow, CountsWhatIsOnItsWayAsWaiting) {
    Flow flow(10);
    EXPECT_EQ(flow.push(std::string(10, 'x')), Flow::Pushed::waits);
    EXPECT_EQ(flow.take()->size(), 10u);
    EXPECT_EQ(flow.push("y"), Flow::Pushed::waits);
    EXPECT_EQ(flow.push("z"), Flow::Pushed::cut);
    EXPECT_EQ(flow.push("z"), Flow::Pushed::gone);
}

}  // namespace
}  // namespace ttmem::daemon::http
