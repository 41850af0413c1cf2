// SPDX-License-Identifier: Apache-2.0

// Long answers, made piece by piece.

#include <sched.h>

#include <mutex>
#include <set>
#include <stdexcept>

#include "daemon/http/server_test_support.hpp"
#include "tests/support/wait.hpp"

namespace ttmem::daemon::http {
namespace {

// Makes `count` pieces of `size` bytes and keeps book on it.
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
        return [this](const Request& /*request*/, const std::shared_ptr<Answer>& answer) {
            Response response;
            response.body = first;
            response.more = [this] { return make(); };
            answer->send(std::move(response));
        };
    }
};

class PiecesTest : public ServerTest {
protected:
    ~PiecesTest() override {
        stop();
        worker_.join();
    }

    // Lives longer than what uses it.
    Maker& make_maker(size_t pieces, size_t bytes, const std::string& before) {
        maker_ = std::make_unique<Maker>(pieces, bytes, before);
        return *maker_;
    }

    std::unique_ptr<Maker> maker_;
};

TEST_F(PiecesTest, PiecesArriveAsOneBodyAndTheConnectionStays) {
    Maker& maker = make_maker(3, 5, "head");
    start(maker.handler());
    RawClient client(path());
    ASSERT_TRUE(client.send(kRequest + kRequest));
    const auto answer = client.read_answer();
    EXPECT_TRUE(answer.has("Transfer-Encoding: chunked\r\n"));
    EXPECT_FALSE(answer.has("Content-Length"));
    EXPECT_EQ(answer.body, maker.all());
    EXPECT_EQ(client.read_answer().body, "head");  // the maker has no more
}

TEST_F(PiecesTest, PiecesAreMadeOnTheWorkerOneAtATime) {
    Maker& maker = make_maker(200, 100, "");
    start(maker.handler());
    EXPECT_EQ(get(kRequest).body, maker.all());
    const std::lock_guard lock(maker.mutex);
    EXPECT_EQ(maker.threads.count(thread_.get_id()), 0u);
    EXPECT_EQ(maker.most_at_once, 1u);
}

TEST_F(PiecesTest, WithoutPiecesAnEmptyBodyIsStillABody) {
    Maker& maker = make_maker(0, 0, "");
    start(maker.handler());
    const auto answer = get(kRequest);
    EXPECT_EQ(answer.status(), 200u);
    EXPECT_EQ(answer.body, "");
    EXPECT_FALSE(answer.has("(cut)"));
}

TEST_F(PiecesTest, Http10GetsPiecesUntilTheEnd) {
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
    EXPECT_TRUE(client.read_answer(true).has("Transfer-Encoding: chunked\r\n"));
    EXPECT_EQ(maker.made_now(), 0u);
    ASSERT_TRUE(client.send(kRequest));
    EXPECT_EQ(client.read_answer().body, maker.all());
}

TEST_F(PiecesTest, ASlowReaderHoldsBackTheMaking) {
    Maker& maker = make_maker(1000, 64 * 1024, "");
    start(maker.handler());
    RawClient client(path());
    ASSERT_TRUE(client.send(kRequest));
    EXPECT_FALSE(client.read_to("\r\n\r\n").empty());
    // The kernel's buffers fill, and then nothing is made: seen when many turns of loop and worker change nothing.
    size_t before = 0;
    ASSERT_TRUE(test::wait_until([&] {
        const size_t now = maker.made_now();
        for (int i = 0; i < 100; ++i) {
            std::promise<void> turn;
            boost::asio::post(worker_, [&] { turn.set_value(); });
            turn.get_future().wait();
            counts();
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

TEST_F(PiecesTest, AMakerThatFailsLeavesAnAnswerWithoutItsEnd) {
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
}

TEST_F(PiecesTest, PiecesInTheMakingAtTheEndGoNowhere) {
    std::promise<void> making;
    std::promise<void> go_on;
    auto going_on = go_on.get_future().share();
    start([&](const Request& /*request*/, const std::shared_ptr<Answer>& answer) {
        Response response;
        response.more = [&making, going_on] {
            making.set_value();
            going_on.wait();
            return std::string("too late");
        };
        answer->send(std::move(response));
    });
    RawClient client(path());
    ASSERT_TRUE(client.send(kRequest));
    making.get_future().wait();
    stop();
    go_on.set_value();
    worker_.join();
    EXPECT_EQ(client.read_to_end().find("too late"), std::string::npos);
    EXPECT_TRUE(client.is_ended());
}

}  // namespace
}  // namespace ttmem::daemon::http
