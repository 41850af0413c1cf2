// SPDX-License-Identifier: Apache-2.0

// Long responses that are made in pieces.

#include <sched.h>
#include <unistd.h>

#include <mutex>
#include <new>
#include <set>
#include <stdexcept>

#include "daemon/http/server_test_support.hpp"
#include "tests/support/wait.hpp"

namespace ttmem::daemon::http {
namespace {

// Makes `count` pieces of `size` bytes and records how.
struct Maker {
    Maker(size_t pieces, size_t bytes, std::string before)
        : count(pieces), size(bytes), first(std::move(before)) {}

    size_t count;
    size_t size;
    std::string first;
    size_t throws_at = SIZE_MAX;

    std::mutex mutex;
    size_t made = 0;
    size_t at_once = 0;
    size_t most_at_once = 0;
    std::set<std::thread::id> threads;

    std::string make() {
        {
            const std::lock_guard lock(mutex);
            most_at_once = std::max(most_at_once, ++at_once);
            threads.insert(std::this_thread::get_id());
        }
        sched_yield();
        const std::lock_guard lock(mutex);
        --at_once;
        if (made == throws_at) {
            throw std::runtime_error("on purpose");
        }
        return made == count ? "" : std::string(size, static_cast<char>('a' + made++ % 26));
    }

    std::string all() {
        std::string text = first;
        for (size_t i = 0; i < count; ++i) {
            text.append(size, static_cast<char>('a' + i % 26));
        }
        return text;
    }

    size_t made_now() {
        const std::lock_guard lock(mutex);
        return made;
    }

    Handler handler() {
        return [this](const Request& /*request*/, const std::shared_ptr<Responder>& responder) {
            Response response;
            response.body = first;
            response.more = [this] { return make(); };
            responder->send(std::move(response));
        };
    }
};

class PiecesTest : public ServerTest {
protected:
    ~PiecesTest() override {
        stop();
        workers_.stop();
    }

    // The maker outlives the server.
    Maker& make_maker(size_t pieces, size_t bytes, const std::string& before) {
        maker_ = std::make_unique<Maker>(pieces, bytes, before);
        return *maker_;
    }

    std::unique_ptr<Maker> maker_;
};

TEST_F(PiecesTest, PiecesFormOneBodyAndTheConnectionStaysOpen) {
    Maker& maker = make_maker(3, 5, "head");
    start(maker.handler());
    RawClient client(path());
    ASSERT_TRUE(client.send(kRequest + kRequest));
    const auto answer = client.read_reply();
    EXPECT_TRUE(answer.has("Transfer-Encoding: chunked\r\n"));
    EXPECT_FALSE(answer.has("Content-Length"));
    EXPECT_EQ(answer.body, maker.all());
    EXPECT_EQ(client.read_reply().body, "head");  // the maker has no more
}

TEST_F(PiecesTest, PiecesAreMadeOnTheWorkerOneAtATime) {
    Maker& maker = make_maker(200, 100, "");
    start(maker.handler());
    EXPECT_EQ(get(kRequest).body, maker.all());
    const std::lock_guard lock(maker.mutex);
    EXPECT_EQ(maker.threads.count(thread_.get_id()), 0u);
    EXPECT_EQ(maker.most_at_once, 1u);
}

TEST_F(PiecesTest, NoPiecesMakeAnEmptyBody) {
    Maker& maker = make_maker(0, 0, "");
    start(maker.handler());
    const auto answer = get(kRequest);
    EXPECT_EQ(answer.status(), 200u);
    EXPECT_EQ(answer.body, "");
    EXPECT_FALSE(answer.has("(cut)"));
}

TEST_F(PiecesTest, Http10GetsPiecesUntilTheConnectionEnds) {
    Maker& maker = make_maker(3, 70'000, "head");
    start(maker.handler());
    const auto answer = get("GET /a HTTP/1.0\r\n\r\n");
    EXPECT_FALSE(answer.has("chunked"));
    EXPECT_EQ(answer.body, maker.all());
}

TEST_F(PiecesTest, HeadMakesNoPieces) {
    Maker& maker = make_maker(3, 5, "head");
    start(maker.handler());
    RawClient client(path());
    ASSERT_TRUE(client.send("HEAD /a HTTP/1.1\r\nHost: localhost\r\n\r\n"));
    EXPECT_TRUE(client.read_reply(true).has("Transfer-Encoding: chunked\r\n"));
    EXPECT_EQ(maker.made_now(), 0u);
    ASSERT_TRUE(client.send(kRequest));
    EXPECT_EQ(client.read_reply().body, maker.all());
}

TEST_F(PiecesTest, ASlowReaderDelaysTheNextPiece) {
    Maker& maker = make_maker(1000, 64 * 1024, "");
    start(maker.handler());
    RawClient client(path());
    ASSERT_TRUE(client.send(kRequest));
    EXPECT_FALSE(client.read_to("\r\n\r\n").empty());
    // No more pieces are made when the kernel's buffers are full: many turns of loop and worker then change nothing.
    size_t before = 0;
    ASSERT_TRUE(test::wait_until([&] {
        const size_t now = maker.made_now();
        for (int i = 0; i < 100; ++i) {
            std::promise<void> turn;
            workers_.post(kDaemonItself, [&] { turn.set_value(); });
            turn.get_future().wait();
            statistics();
        }
        return std::exchange(before, now) == maker.made_now() && now > 0;
    }));
    EXPECT_LT(before, 100u);  // 6.4 MB, far more than the kernel keeps for a Unix socket
    client.send(kRequest);
    std::string body;
    while (const size_t size = std::strtoul(client.read_to("\r\n").c_str(), nullptr, 16)) {
        body += client.read_bytes(size);
        client.read_bytes(2);
    }
    EXPECT_EQ(body, maker.all());
}

TEST_F(PiecesTest, AFailedPieceLeavesTheBodyWithoutItsEnd) {
    Maker& maker = make_maker(5, 5, "");
    maker.throws_at = 2;
    start(maker.handler());
    RawClient client(path());
    ASSERT_TRUE(client.send(kRequest));
    const std::string all = client.read_to_end();
    EXPECT_TRUE(client.is_ended());
    EXPECT_NE(all.find("5\r\nbbbbb\r\n"), std::string::npos);
    EXPECT_EQ(all.find("0\r\n\r\n"), std::string::npos);
    EXPECT_EQ(get("GET /a HTTP/1.1\r\n\r\n").status(), 400u);  // the server lives
    EXPECT_TRUE(test::wait_until([&] { return workers_.failed_tasks() == 1; }));
}

// Answers in flight: made, and not yet sent.
struct AnswersTest : PiecesTest {
    // Answers with more than the kernel buffers, so that an answer that is not read stays in flight.
    void start_long_answers() {
        start([this](const Request& request, const std::shared_ptr<Responder>& responder) {
            if (request.target.path == "/now") {
                return responder->send({200, "text/plain", "now", {}});
            }
            responder->make_later(request.target.path == "/large" ? 6 : 1, [this, responder] {
                {
                    const std::lock_guard lock(mutex_);
                    ++made_;
                }
                responder->send({200, "text/plain", std::string(size_t{4} << 20, 'x'), {}});
            });
        });
    }
    size_t made() {
        const std::lock_guard lock(mutex_);
        return made_;
    }

    std::mutex mutex_;
    size_t made_ = 0;
};

TEST_F(AnswersTest, ARequestBeyondTheUsersShareWaitsForAnEarlierAnswer) {
    start_long_answers();
    const uint64_t share = budgets_->limit(Budget::answers).per_user;
    std::vector<RawClient> clients;
    for (uint64_t i = 0; i < share + 2; ++i) {
        clients.emplace_back(path());
        ASSERT_TRUE(clients.back().send(kRequest));
    }
    ASSERT_TRUE(test::wait_until([&] { return made() == share; }));
    EXPECT_EQ(get("GET /now HTTP/1.1\r\nHost: localhost\r\n\r\n").body, "now") << "it needs no place";
    RawClient tcp(port_);
    ASSERT_TRUE(tcp.send(kRequest));
    EXPECT_EQ(tcp.read_reply().body.size(), size_t{4} << 20) << "another user has places of its own";
    EXPECT_EQ(made(), share + 1);
    EXPECT_EQ(clients[0].read_reply().body.size(), size_t{4} << 20);
    ASSERT_TRUE(test::wait_until([&] { return made() == share + 2; })) << "the first has left its place";
    clients[1].close();
    ASSERT_TRUE(test::wait_until([&] { return made() == share + 3; })) << "a closed connection leaves too";
    for (uint64_t i = 2; i < clients.size(); ++i) {
        EXPECT_EQ(clients[i].read_reply().body.size(), size_t{4} << 20);
    }
    EXPECT_TRUE(test::wait_until([&] { return budgets_->used_by(Budget::answers, getuid()) == 0; }));
    EXPECT_EQ(budgets_->uses()[static_cast<size_t>(Budget::answers)].refused, 0u);
}

TEST_F(AnswersTest, ASmallAnswerOvertakesALargeOneThatWaits) {
    start_long_answers();
    const std::string large = "GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n";
    RawClient first(path());
    RawClient second(path());
    ASSERT_TRUE(first.send(large));
    ASSERT_TRUE(test::wait_until([&] { return made() == 1; }));
    ASSERT_TRUE(second.send(large));
    EXPECT_EQ(get(kRequest).body.size(), size_t{4} << 20);
    EXPECT_EQ(made(), 2u);
    EXPECT_EQ(first.read_reply().body.size(), size_t{4} << 20);
    EXPECT_EQ(second.read_reply().body.size(), size_t{4} << 20);
}

TEST_F(AnswersTest, AnAnswerThatFailsIsAnErrorForItsCallerOnly) {
    start([](const Request& request, const std::shared_ptr<Responder>& responder) {
        responder->make_later(1, [responder, fails = request.target.path == "/fails"] {
            if (fails) {
                throw std::bad_alloc();
            }
            responder->send({200, "text/plain", "fine", {}});
        });
    });
    for (int i = 0; i < 20; ++i) {
        EXPECT_EQ(get("GET /fails HTTP/1.1\r\nHost: localhost\r\n\r\n").status(), 500u);
        EXPECT_EQ(get(kRequest).body, "fine");
    }
    EXPECT_TRUE(test::wait_until([&] { return workers_.failed_tasks() == 20; }));
}

TEST_F(PiecesTest, PiecesThatAreMadeAfterTheEndAreDropped) {
    std::promise<void> making;
    std::promise<void> go_on;
    auto going_on = go_on.get_future().share();
    start([&](const Request& /*request*/, const std::shared_ptr<Responder>& responder) {
        Response response;
        response.more = [&making, going_on] {
            making.set_value();
            going_on.wait();
            return std::string("too late");
        };
        responder->send(std::move(response));
    });
    RawClient client(path());
    ASSERT_TRUE(client.send(kRequest));
    making.get_future().wait();
    stop();
    go_on.set_value();
    workers_.stop();
    EXPECT_EQ(client.read_to_end().find("too late"), std::string::npos);
    EXPECT_TRUE(client.is_ended());
}

}  // namespace
}  // namespace ttmem::daemon::http
