// SPDX-License-Identifier: Apache-2.0

// Requests and responses. Streams, pieces and listening have their own files.

#include "daemon/http/server.hpp"

#include "daemon/http/host.hpp"
#include "daemon/http/server_test_support.hpp"
#include "tests/support/wait.hpp"

namespace ttmem::daemon::http {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kShort{500};  // passes during a test, and suffices for a request on a busy machine

const std::string kEnd = " HTTP/1.1\r\nHost: localhost\r\n\r\n";

TEST_F(ServerTest, AnswersAGetOverBothSockets) {
    start_echo();
    RawClient local(path());
    ASSERT_TRUE(local.send("GET /a?b=%41&c=d" + kEnd));
    const auto answer = local.read_reply();
    EXPECT_EQ(answer.status(), 200u);
    EXPECT_EQ(answer.body, "/a,b=A,c=d");
    EXPECT_TRUE(answer.has("Content-Type: application/json\r\n"));
    EXPECT_TRUE(answer.has("Cache-Control: no-store\r\n"));
    RawClient remote(port_);
    ASSERT_TRUE(remote.send("GET /a" + kEnd));
    EXPECT_EQ(remote.read_reply().body, "/a");
}

TEST_F(ServerTest, AConnectionStaysOpenForTheNextRequest) {
    start_echo();
    RawClient client(path());
    for (const char* name : {"/1", "/2", "/3"}) {
        ASSERT_TRUE(client.send("GET " + std::string(name) + kEnd));
        EXPECT_EQ(client.read_reply().body, name);
    }
    EXPECT_EQ(statistics().connections, 1u);
    EXPECT_EQ(statistics().requests, 3u);
}

TEST_F(ServerTest, PipelinedRequestsAreAnsweredInOrder) {
    start_echo();
    RawClient client(path());
    std::string many;
    for (int i = 0; i < 100; ++i) {
        many += "GET /" + std::to_string(i) + kEnd;
    }
    ASSERT_TRUE(client.send(many + "GET /later" + kEnd + "GET /last" + kEnd));
    for (int i = 0; i < 100; ++i) {
        EXPECT_EQ(client.read_reply().body, "/" + std::to_string(i));
    }
    Response response;
    response.body = "now";
    inbox_.take().responder->send(response);
    EXPECT_EQ(client.read_reply().body, "now");
    EXPECT_EQ(client.read_reply().body, "/last");
}

TEST_F(ServerTest, CloseIsHonoured) {
    start_echo();
    RawClient client(path());
    ASSERT_TRUE(client.send("GET /a HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"));
    EXPECT_TRUE(client.read_reply().has("Connection: close\r\n"));
    EXPECT_EQ(client.read_to_end(), "");
    EXPECT_TRUE(client.is_ended());
}

TEST_F(ServerTest, Http10GetsOneResponsePerConnection) {
    start_echo();
    RawClient client(path());
    ASSERT_TRUE(client.send("GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"));
    EXPECT_EQ(client.read_reply().body, "/a");
    EXPECT_EQ(client.read_to_end(), "");
    EXPECT_TRUE(client.is_ended());
}

TEST_F(ServerTest, HeadReturnsTheLengthWithoutTheBody) {
    start_echo();
    RawClient client(path());
    ASSERT_TRUE(client.send("HEAD /abc" + kEnd + "GET /next" + kEnd));
    const auto answer = client.read_reply(true);
    EXPECT_EQ(answer.status(), 200u);
    EXPECT_TRUE(answer.has("Content-Length: 4\r\n"));
    EXPECT_EQ(client.read_reply().body, "/next");
}

TEST_F(ServerTest, OtherMethodsAreRejectedWithTheAllowedOnes) {
    start_echo();
    RawClient client(path());
    for (const char* method : {"POST", "DELETE", "OPTIONS", "BREW"}) {
        ASSERT_TRUE(client.send(std::string(method) + " /a" + kEnd));
        const auto answer = client.read_reply();
        EXPECT_EQ(answer.status(), 405u) << method;
        EXPECT_TRUE(answer.has("Allow: GET, HEAD\r\n"));
        EXPECT_EQ(answer.body, "{\"error\":\"only GET and HEAD are supported\",\"code\":\"bad_method\"}\n");
    }
    ASSERT_TRUE(client.send("GET /still-here" + kEnd));
    EXPECT_EQ(client.read_reply().body, "/still-here");
}

TEST_F(ServerTest, ABodyIsRejectedAndTheResponseArrives) {
    start_echo();
    for (const char* fields :
         {"Content-Length: 300000", "Transfer-Encoding: chunked", "Content-Length: 99999999999"}) {
        RawClient client(port_);
        ASSERT_TRUE(client.send("GET /a HTTP/1.1\r\nHost: localhost\r\n" + std::string(fields) + "\r\n\r\n" +
                                std::string(300'000, 'x')));
        const auto answer = client.read_reply();
        EXPECT_EQ(answer.status(), 413u) << fields;
        EXPECT_EQ(answer.body.find("{\"error\":"), 0u);
        EXPECT_EQ(client.read_to_end(), "");  // no request is read from the body
    }
}

TEST_F(ServerTest, ALongHeaderIsRejected) {
    start_echo();
    const auto with_field = [&](size_t bytes) {
        return get("GET /a HTTP/1.1\r\nHost: localhost\r\nX: " + std::string(bytes, 'x') + "\r\n\r\n")
            .status();
    };
    EXPECT_EQ(with_field(8 * 1024 - 64), 200u);
    EXPECT_EQ(with_field(8 * 1024), 431u);
    EXPECT_EQ(with_field(200'000), 431u);
    EXPECT_EQ(get("GET /" + std::string(9'000, 'x') + kEnd).status(), 431u);
}

TEST_F(ServerTest, MalformedRequestsGet400) {
    start_echo();
    for (const std::string& text : {
             std::string("nonsense\r\n\r\n"),
             std::string("GET /a HTTP/2.0\r\nHost: localhost\r\n\r\n"),
             std::string("GET /a HTTP/1.1\r\n\r\n"),
             std::string("GET /a HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"),
             std::string("GET http://localhost/a HTTP/1.1\r\nHost: localhost\r\n\r\n"),
             std::string("GET /a?b=%zz HTTP/1.1\r\nHost: localhost\r\n\r\n"),
             std::string("GET /a HTTP/1.1\r\nHost: localhost\r\nbro ken: x\r\n\r\n"),
         }) {
        const auto answer = get(text);
        EXPECT_EQ(answer.status(), 400u) << text;
        EXPECT_EQ(answer.body.find("{\"error\":"), 0u) << text;
    }
}

TEST_F(ServerTest, ErrorsAreValidJsonForAnyText) {
    EXPECT_EQ(Response::error(view::ApiError::bad_request, "a \"b\" \xff").body,
              "{\"error\":\"a \\\"b\\\" \xef\xbf\xbd\",\"code\":\"bad_request\"}\n");
}

TEST_F(ServerTest, LoopbackAndTheUnixSocketAcceptLoopbackHostsOnly) {
    start_echo();
    const auto status = [&](const std::string& host) {
        RawClient client(port_);
        EXPECT_TRUE(client.send("GET /a HTTP/1.1\r\nHost: " + host + "\r\n\r\n"));
        return client.read_reply().status();
    };
    EXPECT_EQ(status("localhost:9479"), 200u);
    EXPECT_EQ(status("127.0.0.1"), 200u);
    EXPECT_EQ(status("[::1]:80"), 200u);
    EXPECT_EQ(status("evil.example:9479"), 403u);
    EXPECT_EQ(status(""), 403u);
    // Through ssh -L, web pages reach the Unix socket.
    EXPECT_EQ(get("GET /a HTTP/1.1\r\nHost: evil.example\r\n\r\n").status(), 403u);
}

TEST_F(ServerTest, APageOfAnotherSiteGetsNothing) {
    start_echo();
    const auto status = [&](const std::string& fields) {
        return get("GET /a HTTP/1.1\r\nHost: localhost:8000\r\n" + fields + "\r\n").status();
    };
    EXPECT_EQ(status("Origin: http://localhost:8000\r\n"), 200u);
    EXPECT_EQ(status("Origin: http://localhost:8001\r\n"), 403u);
    EXPECT_EQ(status("Sec-Fetch-Site: same-origin\r\n"), 200u);
    EXPECT_EQ(status("Sec-Fetch-Site: cross-site\r\n"), 403u);
    EXPECT_EQ(
        status("Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n"),
        200u)
        << "the handler decides";
}

TEST_F(ServerTest, TheHostCheckCanBeDisabled) {
    ServerLimits limits;
    limits.check_host = false;
    start_echo(limits);
    RawClient client(port_);
    ASSERT_TRUE(client.send("GET /a HTTP/1.1\r\nHost: node7.example\r\n\r\n"));
    EXPECT_EQ(client.read_reply().status(), 200u);
}

TEST(Host, RecognisesLoopbackNames) {
    for (const char* host : {"localhost", "LocalHost:1", "127.0.0.1:65535", "[::1]", "[::1]:9479"}) {
        EXPECT_TRUE(is_loopback_host(host)) << host;
    }
    for (const char* host :
         {"", ":80", "localhost.evil.example", "evil.example", "127.0.0.1.evil.example", "::1", "[::1",
          "[::1]x:80", "localhost:80:x", "localhost:evil", "127.0.0.2", "[::2]"}) {
        EXPECT_FALSE(is_loopback_host(host)) << host;
    }
}

TEST_F(ServerTest, PassesOnTokenAndLastEventId) {
    start_echo();
    RawClient client(port_);
    ASSERT_TRUE(
        client.send("GET /later HTTP/1.1\r\nHost: localhost\r\nauthorization: bearer "
                    "s3cret\r\nLast-Event-ID: 77\r\n\r\n"));
    const auto item = inbox_.take();
    EXPECT_FALSE(item.request.caller.is_local);
    EXPECT_EQ(item.request.caller.bearer_token, "s3cret");
    EXPECT_EQ(item.request.last_event_id, "77");
}

TEST_F(ServerTest, AnUnansweredRequestGetsAnError) {
    start([](const Request&, const std::shared_ptr<Responder>&) {});
    EXPECT_EQ(get("GET /a" + kEnd).status(), 500u);
}

TEST_F(ServerTest, AHandlerThatThrowsCostsOneResponse) {
    start([](const Request& request, const std::shared_ptr<Responder>& responder) {
        if (request.target.path == "/throw") {
            throw std::runtime_error("on purpose");
        }
        responder->send({});
    });
    RawClient client(path());
    ASSERT_TRUE(client.send("GET /throw" + kEnd + "GET /a" + kEnd));
    EXPECT_EQ(client.read_reply().status(), 500u);
    EXPECT_EQ(client.read_reply().status(), 200u);
}

TEST_F(ServerTest, AResponseIsSentOnce) {
    start_echo();
    RawClient client(path());
    ASSERT_TRUE(client.send("GET /later" + kEnd + "GET /a" + kEnd));
    {
        const auto item = inbox_.take();
        Response response;
        response.body = "first";
        item.responder->send(response);
        item.responder->send(response);
        EXPECT_FALSE(push_to(item.responder->begin_stream())("data: x\n\n"));
    }
    EXPECT_EQ(client.read_reply().body, "first");
    EXPECT_EQ(client.read_reply().body, "/a");
}

TEST_F(ServerTest, CallersThatSendNothingOrTooSlowlyAreDisconnected) {
    ServerLimits limits;
    limits.idle = kShort;
    start_echo(limits);
    RawClient silent(path());
    RawClient slow(path());
    RawClient satisfied(path());
    ASSERT_TRUE(slow.send("GET /a HTTP/1.1\r\nHo"));
    ASSERT_TRUE(satisfied.send("GET /a" + kEnd));
    EXPECT_EQ(satisfied.read_reply().body, "/a");
    for (RawClient* client : {&silent, &slow, &satisfied}) {
        EXPECT_EQ(client->read_to_end(), "");
        EXPECT_TRUE(client->is_ended());
    }
    EXPECT_EQ(statistics().connections, 0u);
}

TEST_F(ServerTest, CallersThatDoNotReadTheirResponseAreDisconnected) {
    ServerLimits limits;
    limits.idle = kShort;
    start_echo(limits);
    RawClient client(path());
    ASSERT_TRUE(client.send("GET /later" + kEnd));
    Response response;
    response.body.assign(size_t{8} << 20, 'x');
    inbox_.take().responder->send(response);
    EXPECT_TRUE(test::wait_until([&] { return statistics().connections == 0; }));
    EXPECT_LT(client.read_to_end().size(), response.body.size());
}

TEST_F(ServerTest, ThereIsNoDeadlineWhileTheHandlerWorks) {
    ServerLimits limits;
    limits.idle = kShort;
    start_echo(limits);
    RawClient client(path());
    ASSERT_TRUE(client.send("GET /later" + kEnd));
    const auto item = inbox_.take();
    RawClient silent(path());  // its deadline is set later
    EXPECT_EQ(silent.read_to_end(), "");
    EXPECT_EQ(statistics().connections, 1u);
    item.responder->send({});
    EXPECT_EQ(client.read_reply().status(), 200u);
}

TEST_F(ServerTest, ACallerMayLeaveBeforeItsResponse) {
    start_echo();
    RawClient client(path());
    ASSERT_TRUE(client.send("GET /later" + kEnd));
    const auto item = inbox_.take();
    client.close();
    Response response;
    response.body.assign(100'000, 'x');
    item.responder->send(response);
    EXPECT_EQ(get("GET /a" + kEnd).body, "/a");
    EXPECT_TRUE(test::wait_until([&] { return statistics().connections == 0; }));
}

}  // namespace
}  // namespace ttmem::daemon::http
