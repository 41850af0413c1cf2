// SPDX-License-Identifier: Apache-2.0

// Tests against the daemon's own server, and against listeners that misbehave.

#include "access/http_client.hpp"

#include <sys/eventfd.h>
#include <sys/stat.h>

#include <memory>
#include <string>
#include <thread>

#include "daemon/http/query.hpp"
#include "daemon/http/server_test_support.hpp"
#include "tests/support/child.hpp"
#include "view/questions/url.hpp"

namespace ttmem::access {
namespace {

using base::Error;
using daemon::http::Request;
using daemon::http::Response;
using std::chrono::milliseconds;
using HttpAnswerSide = std::shared_ptr<daemon::http::Responder>;

constexpr milliseconds kLong{60'000};  // only a safety limit for a broken test
constexpr milliseconds kShort{50};     // for waits that are expected to time out

class HttpClient : public daemon::http::ServerTest {};

TEST_F(HttpClient, GetsStatusAndBody) {
    start_echo();
    const auto answer = http_get(path(), "/a?b=" + view::escape_url("ttnn::matmul x&y=z%"), kLong);
    ASSERT_TRUE(answer) << answer.error().text;
    EXPECT_EQ(answer->status, 200u);
    EXPECT_EQ(answer->body, "/a,b=ttnn::matmul x&y=z%");
}

TEST_F(HttpClient, AnErrorOfTheDaemonIsAnAnswer) {
    start([](const Request&, const HttpAnswerSide& answer) {
        answer->send(Response::error(view::ApiError::not_found, "no such page"));
    });
    const auto answer = http_get(path(), "/a", kLong);
    ASSERT_TRUE(answer) << answer.error().text;
    EXPECT_EQ(answer->status, 404u);
    EXPECT_EQ(answer->body, "{\"error\":\"no such page\",\"code\":\"not_found\"}\n");
}

TEST_F(HttpClient, ADownloadEndsWhenItsReaderAsksForThat) {
    std::thread sender;
    start([&sender](const Request&, const HttpAnswerSide& answer) {
        sender = std::thread([stream = answer->begin_stream(daemon::http::StreamKind::download)] {
            while (!stream->is_end_wanted() &&
                   stream->push(std::make_shared<const std::string>("some\0bytes", 10))) {
                std::this_thread::yield();
            }
            stream->push(std::make_shared<const std::string>("the end"));
        });
    });
    const base::Descriptor until(eventfd(0, EFD_CLOEXEC));
    std::string all;
    const auto take = [&](std::string_view bytes) {
        all += bytes;
        if (all.size() > 1000) {
            eventfd_write(until.get(), 1);
        }
        return base::Expected<void>();
    };
    const auto answer = http_download(path(), "/", take, until.get(), kLong);
    sender.join();
    ASSERT_TRUE(answer) << answer.error().text;
    EXPECT_EQ(answer->status, 200u);
    EXPECT_TRUE(all.ends_with("the end"));
    EXPECT_EQ(all.substr(0, 10), std::string("some\0bytes", 10));
}

TEST_F(HttpClient, ADownloadEndsWithTheErrorOfWhoTakesIt) {
    start_echo();
    const auto failing = [](std::string_view) -> base::Expected<void> {
        return base::error(Error::Code::failed, "the disk is full");
    };
    const auto answer = http_download(path(), "/a", failing, -1, kLong);
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().text, "the disk is full");
}

TEST_F(HttpClient, TakesBodiesOfAnySizeAndKind) {
    constexpr size_t kPiece = 1'000'000;
    start([](const Request& request, const HttpAnswerSide& answer) {
        Response response;
        response.body.assign(20 * kPiece, 'x');
        if (request.target.path == "/pieces") {
            response.body.clear();
            response.more = [left = 20]() mutable { return left-- > 0 ? std::string(kPiece, 'x') : ""; };
        }
        answer->send(std::move(response));
    });
    for (const char* target : {"/whole", "/pieces"}) {
        const auto answer = http_get(path(), target, kLong);
        ASSERT_TRUE(answer) << answer.error().text;
        EXPECT_TRUE(answer->body == std::string(20 * kPiece, 'x')) << target;
    }
}

TEST_F(HttpClient, HearsThatThereAreTooManyConnections) {
    daemon::http::ServerLimits limits;
    limits.connections = 0;
    start_echo(limits);
    const auto answer = http_get(path(), "/a", kLong);
    ASSERT_TRUE(answer) << answer.error().text;
    EXPECT_EQ(answer->status, 503u);
}

TEST_F(HttpClient, AMissingDaemonIsGone) {
    const auto missing = http_get(path(), "/a", kLong);
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().code, Error::Code::gone);
    EXPECT_NE(missing.error().text.find(path().string()), std::string::npos);
    const base::Descriptor dead(socket(AF_UNIX, SOCK_STREAM, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path().c_str(), sizeof address.sun_path - 1);
    ASSERT_EQ(bind(dead.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    const auto refused = http_get(path(), "/a", kLong);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Error::Code::gone);
    const auto stream = http_stream(path(), "/a", "", [](const ServerSentEvent&) { return true; });
    ASSERT_FALSE(stream);
    EXPECT_EQ(stream.error().code, Error::Code::gone);
}

TEST_F(HttpClient, ASocketThatIsNotForThisUserIsNotGone) {
    if (geteuid() != 0) {
        GTEST_SKIP() << "root alone can take rights away and be another user";
    }
    start_echo();
    ASSERT_EQ(chmod(path().c_str(), 0600), 0);
    test::expect_passes_in_child([&] {
        ASSERT_EQ(setresuid(4242, 4242, 4242), 0);
        const auto answer = http_get(path(), "/a", kLong);
        ASSERT_FALSE(answer);
        EXPECT_EQ(answer.error().code, Error::Code::failed);
        EXPECT_NE(answer.error().text.find("Permission denied"), std::string::npos) << answer.error().text;
    });
}

TEST_F(HttpClient, WaitsNoLongerThanItWants) {
    start_echo();
    const auto answer = http_get(path(), "/later", kShort);
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, Error::Code::failed);
    EXPECT_NE(answer.error().text.find("50 ms"), std::string::npos) << answer.error().text;
}

TEST_F(HttpClient, ADripOfBytesDoesNotExtendTheDeadline) {
    start([](const Request&, const HttpAnswerSide& answer) {
        Response response;
        response.more = [] { return std::string("x"); };  // endless
        answer->send(std::move(response));
    });
    const auto answer = http_get(path(), "/a", kShort);
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, Error::Code::failed);
}

// Accepts one connection, reads the request, sends `text` and closes.
class Listening {
public:
    Listening(const std::filesystem::path& path, std::string text, int backlog = 1)
        : socket_(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
        EXPECT_EQ(bind(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
        EXPECT_EQ(listen(socket_.get(), backlog), 0);
        if (!text.empty()) {
            thread_ = std::thread([this, text = std::move(text)] {
                const base::Descriptor peer(accept(socket_.get(), nullptr, nullptr));
                std::array<char, 4096> request{};
                EXPECT_GT(recv(peer.get(), request.data(), request.size(), 0), 0);
                EXPECT_EQ(send(peer.get(), text.data(), text.size(), MSG_NOSIGNAL),
                          static_cast<ssize_t>(text.size()));
            });
        }
    }
    ~Listening() {
        if (thread_.joinable()) {
            thread_.join();
        }
    }
    Listening(const Listening&) = delete;
    Listening& operator=(const Listening&) = delete;

private:
    base::Descriptor socket_;
    std::thread thread_;
};

TEST_F(HttpClient, AnAnswerThatIsCutIsNone) {
    for (const char* text : {"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345", "HTTP/1.1 200 OK\r\nCont",
                             "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n"}) {
        const Listening listening(path(), text);
        const auto answer = http_get(path(), "/a", kLong);
        ASSERT_FALSE(answer) << text;
        EXPECT_EQ(answer.error().code, Error::Code::failed);
        EXPECT_NE(answer.error().text.find("closed the connection early"), std::string::npos)
            << answer.error().text;
        std::filesystem::remove(path());
    }
}

TEST_F(HttpClient, AResponseThatIsNotHttpIsRefused) {
    const Listening listening(path(), "SSH-2.0-OpenSSH_9.2\r\n\r\n");
    const auto answer = http_get(path(), "/a", kLong);
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, Error::Code::refused);
}

TEST_F(HttpClient, AFullQueueIsWaitedForNoLongerThanTheDeadline) {
    const Listening listening(path(), "", 0);
    const daemon::http::RawClient first(path());  // fills the queue
    ASSERT_TRUE(first.is_connected());
    const auto answer = http_get(path(), "/a", kShort);
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, Error::Code::failed);
    EXPECT_NE(answer.error().text.find("accepts no connection"), std::string::npos) << answer.error().text;
}

TEST_F(HttpClient, ATargetCantSmuggleAHeader) {
    for (const char* target : {"/a HTTP/1.1\r\nX: y", "/a b", "/\n"}) {
        EXPECT_FALSE(http_get(path(), target, kLong)) << target;
    }
}

TEST_F(HttpClient, StreamsEventsUntilItHasEnough) {
    start([](const Request& request, const HttpAnswerSide& answer) {
        const auto push = push_to(answer->begin_stream());
        push(": heartbeat\n\n");
        push("id: 1\nevent: from\ndata: " + request.last_event_id + "\n\n");
        push("id: 2\ndata: two\n\ndata: three\n\n");
    });
    std::vector<std::string> seen;
    const auto result = http_stream(
        path(), "/stream", "77",
        [&](const ServerSentEvent& event) {
            seen.push_back(event.event + " " + event.id + " " + event.data);
            return seen.size() < 2;
        },
        kLong);
    EXPECT_TRUE(result) << result.error().text;
    EXPECT_EQ(seen, (std::vector<std::string>{"from 1 77", "message 2 two"}));
}

TEST_F(HttpClient, AStreamThatEndsIsGone) {
    start(
        [](const Request&, const HttpAnswerSide& answer) { push_to(answer->begin_stream())("data: x\n\n"); });
    int taken = 0;
    const auto result = http_stream(
        path(), "/stream", "", [&](const ServerSentEvent&) { return ++taken > 0; }, kLong);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, Error::Code::gone);
    EXPECT_EQ(taken, 1);
}

TEST_F(HttpClient, AnEventComesAtOnceAndSilenceHasItsLimit) {
    start_echo();
    std::thread pushing([this] {
        const auto item = inbox_.take();
        const auto push = push_to(item.responder->begin_stream());
        push("data: x\n\n");
        while (push("") && statistics().connections != 0) {  // the stream stays open until the caller ends it
            sched_yield();
        }
    });
    int taken = 0;
    const auto result = http_stream(
        path(), "/later", "", [&](const ServerSentEvent&) { return ++taken > 0; }, milliseconds(500));
    pushing.join();
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, Error::Code::failed);
    EXPECT_NE(result.error().text.find("has not answered for"), std::string::npos) << result.error().text;
    EXPECT_EQ(taken, 1);
}

TEST_F(HttpClient, AStreamIsLeftAsSoonAsItIsEnough) {
    start_echo();
    const base::Descriptor enough(eventfd(0, EFD_CLOEXEC));
    std::thread pushing([this] {
        const auto item = inbox_.take();
        const auto push = push_to(item.responder->begin_stream());
        push("data: x\n\n");
        while (push("") && statistics().connections != 0) {  // the stream is silent but open
            sched_yield();
        }
    });
    const auto take = [&](const ServerSentEvent&) {
        eventfd_write(enough.get(), 1);
        return true;
    };
    const auto result = http_stream(path(), "/later", "", take, kLong, enough.get());
    pushing.join();
    EXPECT_TRUE(result) << result.error().text;
}

TEST_F(HttpClient, AStreamThatIsRefusedSaysWhy) {
    start([](const Request&, const HttpAnswerSide& answer) {
        answer->send(Response::error(view::ApiError::forbidden, "not for you"));
    });
    const auto result = http_stream(
        path(), "/stream", "", [](const ServerSentEvent&) { return true; }, kLong);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, Error::Code::refused);
    EXPECT_NE(result.error().text.find("403 to /stream: {\"error\":\"not for you\",\"code\":\"forbidden\"}"),
              std::string::npos)
        << result.error().text;
}

TEST(Escape, WhatItEscapesIsReadBackByTheDaemon) {
    std::string all;
    for (int byte = 1; byte < 256; ++byte) {
        all += static_cast<char>(byte);
    }
    const auto target = daemon::http::parse_target("/a?x=" + view::escape_url(all));
    ASSERT_TRUE(target);
    EXPECT_EQ(target->query.at("x"), all);
    EXPECT_EQ(view::escape_url("aZ09-._~"), "aZ09-._~");
}

}  // namespace
}  // namespace ttmem::access
