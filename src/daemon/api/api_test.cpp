// SPDX-License-Identifier: Apache-2.0
#include "daemon/api/api.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <nlohmann/json.hpp>

#include "census/segment_test_support.hpp"
#include "daemon/watch/history_thread.hpp"
#include "page/document.hpp"
#include "view/json/json.hpp"
#include "view/questions/questions.hpp"

namespace ttmem::daemon {
namespace {

using nlohmann::json;
using testing::HasSubstr;

struct TestResponder : http::Responder {
    struct TestStream : http::StreamWriter {
        explicit TestStream(TestResponder& to) : responder(to) {}
        Readiness readiness() const override { return Readiness::ready; }
        bool push(http::SharedText text) override {
            responder.streamed += *text;
            return true;
        }
        TestResponder& responder;
    };

    void send(http::Response sent) override { response = std::move(sent); }
    void make_later(uint64_t wanted, std::function<void()> make) override {
        places = wanted;
        make();
    }
    std::shared_ptr<http::StreamWriter> begin_stream(http::StreamKind /*kind*/) override {
        is_stream = true;
        return std::make_shared<TestStream>(*this);
    }

    http::Response response;
    uint64_t places = 0;  // 0: it was answered on the loop
    bool is_stream = false;
    std::string streamed;
};

const http::Caller kRoot{true, 0, {}, ""};
const http::Caller kUser{true, 1000, {}, ""};
const http::Caller kTcp{};

// What direct reading knows of the same processes.
struct PlainHost : view::Host {
    explicit PlainHost(const ProcessTable& processes) : table(processes) {}
    view::Origin origin() const override { return view::read_here(); }
    census::Census census() const override { return table.census(); }
    const ProcessTable& table;
};

struct ApiTest : testing::Test {
    ApiTest() {
        EXPECT_EQ(pipe(log_pipe), 0);
        output.emplace(log_pipe[1]);
        event_log.emplace(*output, EventLogLevel::off);
        history_thread.emplace(thread.get_executor(), history, process_table, *event_log, kept);
        api.emplace(ApiDependencies{
            loop,
            [this](User, FairWorkers::Task task) { boost::asio::post(loop, std::move(task)); },
            {process_table, history, post_mortems, cards, kept, [](view::SelfView&) {}},
            recordings,
            AccessRules{},
            "1.2.3",
            0});
        segment.add_device(census::small_chip(0x10, 0));
        segment.add_set(1);
        segment.add(census::allocation(0, segment::AllocationKind::dram, 64, 40, 64));
        process_table.add(segment.process(7), {1, 1});
    }
    ~ApiTest() override {
        api->stop();
        recordings.stop();
        history_thread->stop();
        thread.join();
        output.reset();  // which may still write
        close(log_pipe[0]);
        close(log_pipe[1]);
    }

    std::shared_ptr<TestResponder> ask(const std::string& target, const http::Caller& caller = kRoot) {
        auto responder = std::make_shared<TestResponder>();
        api->handle({*http::parse_target(target), caller, ""}, responder);
        loop.restart();
        loop.poll();
        for (http::Response& response = responder->response; response.more;) {
            const std::string piece = response.more();
            response.body += piece;
            if (piece.empty()) {
                response.more = nullptr;
            }
        }
        return responder;
    }
    http::Response get(const std::string& target, const http::Caller& caller = kRoot) {
        return ask(target, caller)->response;
    }
    std::string error(const std::string& target, unsigned status, const http::Caller& caller = kRoot) {
        const http::Response response = get(target, caller);
        EXPECT_EQ(response.status, status) << target;
        return response.status == 200 ? "" : json::parse(response.body)["error"].get<std::string>();
    }

    int log_pipe[2];
    std::optional<LogWriter> output;
    std::optional<EventLog> event_log;
    census::TestSegment segment;
    ProcessTable process_table;
    PostMortems post_mortems;
    CardStore cards{{}, {}};
    HistoryKeeper kept{{{}, {.bytes = 0}, ""}, process_table, post_mortems, {}};
    boost::asio::io_context loop;
    boost::asio::thread_pool thread{1};
    history::EventHistory history{process_table.device_ids()};
    std::optional<HistoryThread> history_thread;
    RecordingStreams recordings{process_table, std::make_shared<Budgets>()};
    std::optional<Api> api;
};

// A query with every required parameter.
template <class Question>
typename Question::Query some_query() {
    typename Question::Query query;
    if constexpr (std::is_same_v<decltype(Question::Query::device), std::string>) {
        query.device = "0";
    }
    if constexpr (std::is_same_v<Question, view::FitCheck>) {
        query.size = 4096;
    }
    return query;
}

template <class Question>
requires(!requires(typename Question::Query query) { query.device; }) typename Question::Query some_query() {
    return {};
}

TEST_F(ApiTest, AnErrorHasACodeBesideItsText) {
    const auto code = [&](const std::string& target, unsigned status) {
        const http::Response response = get(target);
        EXPECT_EQ(response.status, status) << target;
        return json::parse(response.body).value("code", "");
    };
    EXPECT_EQ(code("/v1/nothing", 404), "unknown_address");
    EXPECT_EQ(code("/v1/map?device=77", 404), "not_found");
    EXPECT_EQ(code("/v1/status?colour=red", 400), "bad_request");
}

TEST_F(ApiTest, RecordingsOverTcpNeedTheToken) {
    EXPECT_THAT(error("/v1/recording", 403, {}), HasSubstr("need the daemon's token"));
    EXPECT_THAT(error("/v1/recording?nonsense=1", 400), HasSubstr("nonsense"));
}

TEST_F(ApiTest, EveryQuestionHasARouteThatRefusesUnknownParameters) {
    view::Questions::for_each([this]<class Question>() {
        const std::string target = view::target_of<Question>(some_query<Question>());
        const unsigned status = get(target).status;
        EXPECT_TRUE(status == 200 || (status == 404 && view::selector_of<Question>() == "pid")) << target;
        const char* const separator = target.find('?') == std::string::npos ? "?" : "&";
        EXPECT_THAT(error(target + separator + "colour=red", 400), HasSubstr("unknown parameter 'colour'"));
    });
    for (const char* path : {"/v1/health", "/v1/page", "/v1/stream", "/metrics"}) {
        EXPECT_THAT(error(std::string(path) + "?colour=red", 400), HasSubstr("unknown parameter 'colour'"));
    }
}

TEST_F(ApiTest, DirectReadingGivesTheSameAnswer) {
    const PlainHost host(process_table);
    size_t compared = 0;
    view::Questions::for_each([&]<class Question>() {
        const auto query = some_query<Question>();
        auto direct = Question::answer(host, query);
        if (!direct) {
            EXPECT_EQ(direct.error().text, view::needs_daemon().value().text);
            return;
        }
        ++compared;
        json expected = json::parse(view::to_json(*direct));
        json answer = json::parse(get(view::target_of<Question>(query)).body);
        for (json* document : {&expected, &answer}) {
            document->erase("time_ns");
            document->erase("source");
            document->erase("processes_missed");  // only a daemon counts them
            (*document)["age"] = "any";
        }
        const auto forget_ages = [](json& list) {
            for (json& one : list) {
                one.erase("time_ns");
                one.erase("age_ns");
                one.erase("oldest_age_ns");
            }
        };
        for (const char* list : {"allocations", "groups", "peaks"}) {
            if (expected.contains(list) && expected[list].is_array()) {
                forget_ages(expected[list]);
                forget_ages(answer[list]);
            }
        }
        if (expected.contains("maps")) {
            forget_ages(expected["maps"][0]["blocks"]);
            forget_ages(answer["maps"][0]["blocks"]);
        }
        EXPECT_EQ(answer, expected) << Question::kName;
    });
    EXPECT_EQ(compared, 14u);
}

TEST_F(ApiTest, AnUnknownAddressIsRefusedWithTheNearestOne) {
    EXPECT_THAT(error("/v1/statsu", 404), HasSubstr("did you mean /v1/status?"));
    EXPECT_THAT(error("/", 404), HasSubstr("/v1/allocations"));
}

TEST_F(ApiTest, TheSelectorChoosesTheQuestionOfAPath) {
    EXPECT_TRUE(json::parse(get("/v1/allocations").body).contains("next"));
    EXPECT_TRUE(json::parse(get("/v1/allocations?group=name").body).contains("groups"));
    EXPECT_THAT(error("/v1/allocations?grup=name", 400), HasSubstr("did you mean 'group'?"));
    EXPECT_TRUE(json::parse(get("/v1/post-mortems").body).contains("dropped"));
    EXPECT_THAT(error("/v1/post-mortems?pid=9", 404), HasSubstr("no post-mortem of a process 9"));
}

TEST_F(ApiTest, ANumberThatDoesNotFitIsRefused) {
    EXPECT_THAT(error("/v1/history?device=4294967296", 400), HasSubstr("0 to 4294967295"));
    EXPECT_THAT(error("/v1/processes?pid=4294967296", 400), HasSubstr("0 to 4294967295"));
}

TEST_F(ApiTest, OnlyHealthIsAnsweredOnTheLoop) {
    EXPECT_EQ(ask("/v1/health")->places, 0u);
    EXPECT_EQ(json::parse(get("/v1/health").body)["version"], "1.2.3");
    view::Questions::for_each([this]<class Question>() {
        EXPECT_NE(ask(view::target_of<Question>(some_query<Question>()))->places, 0u) << Question::kName;
    });
    EXPECT_EQ(ask("/metrics")->places, 1u);
    EXPECT_EQ(ask("/v1/status?scan=false")->places, 1u);
}

TEST_F(ApiTest, AnAnswerWithManyRowsTakesMostPlacesOfAUser) {
    EXPECT_EQ(ask("/v1/allocations?limit=1000")->places, 1u);
    EXPECT_GT(ask("/v1/allocations?limit=1001")->places, 4u);
    EXPECT_GT(ask("/v1/events?last=65536")->places, 4u);
    EXPECT_EQ(ask("/v1/events?limit=100000&last=5")->places, 1u);
    EXPECT_GT(ask("/metrics?processes=true")->places, 4u);
}

TEST_F(ApiTest, EventsOverTcpNeedTheToken) {
    EXPECT_THAT(error("/v1/events", 403, kTcp), HasSubstr("token"));
    EXPECT_THAT(error("/v1/events?stream=true", 403, kTcp), HasSubstr("token"));
    EXPECT_EQ(get("/v1/events", kUser).status, 200u) << "of the user's own processes";
}

TEST_F(ApiTest, AShortAnswerIsWholeAndALongOneIsWrittenWhileItIsSent) {
    auto responder = std::make_shared<TestResponder>();
    api->handle({*http::parse_target("/v1/processes"), kRoot, ""}, responder);
    EXPECT_FALSE(responder->response.more);
    for (uint32_t pid = 1000; pid < 1200; ++pid) {
        process_table.add(segment.process(pid), {pid, pid});
    }
    api->handle({*http::parse_target("/v1/processes"), kRoot, ""}, responder);
    EXPECT_TRUE(responder->response.more);
    EXPECT_LT(responder->response.body.size(), 150'000u);
    EXPECT_EQ(json::parse(get("/v1/processes").body)["processes"].size(), 201u);
}

TEST_F(ApiTest, TcpWithoutATokenGetsTotalsAndNoDetails) {
    view::Questions::for_each([this]<class Question>() {
        const bool is_detail = Question::kPermission == view::Permission::details;
        const unsigned status = get(view::target_of<Question>(some_query<Question>()), kTcp).status;
        EXPECT_EQ(status, is_detail ? 403u : 200u) << Question::kName;
    });
    EXPECT_EQ(get("/metrics", kTcp).status, 200u);
    EXPECT_THAT(error("/metrics?processes=true", 403, kTcp), HasSubstr("token"));
}

TEST_F(ApiTest, AnotherUsersProcessIsDeniedAndNamedWhereItIsLeftOut) {
    EXPECT_THAT(error("/v1/allocations?pid=7", 403, kUser), HasSubstr("process 7 belongs to root"));
    const json list = json::parse(get("/v1/allocations", kUser).body);
    EXPECT_EQ(list["allocations"].size(), 0u);
    EXPECT_EQ(list["inexact"][0]["pid"], 7);
    EXPECT_EQ(list["inexact"][0]["code"], "not_listed");
}

TEST_F(ApiTest, ATokenOfThePageShowsWhatItsUserMaySee) {
    const auto token_of = [&](const http::Caller& caller) {
        return json::parse(get("/v1/page", caller).body)["token"].get<std::string>();
    };
    const auto with_token = [](const std::string& token) { return http::Caller{false, 0, {}, token}; };
    EXPECT_EQ(json::parse(get("/v1/allocations", with_token(token_of(kRoot))).body)["allocations"].size(),
              1u);
    const http::Caller user = with_token(token_of(kUser));
    EXPECT_EQ(json::parse(get("/v1/allocations", user).body)["allocations"].size(), 0u);
    EXPECT_THAT(error("/v1/allocations?pid=7", 403, user), HasSubstr("process 7 belongs to root"));
    EXPECT_THAT(error("/v1/status", 401, with_token("0123456789abcdef")), HasSubstr("ttmem web"));
}

TEST_F(ApiTest, TokensOfThePageAreGivenOnTheUnixSocketOnly) {
    EXPECT_THAT(error("/v1/page", 403, kTcp), HasSubstr("ttmem web"));
    const std::string token = json::parse(get("/v1/page", kUser).body)["token"];
    EXPECT_EQ(get("/v1/page", {false, 0, {}, token}).status, 403u) << "a token gives no further one";
}

TEST_F(ApiTest, ALinkOfAnotherSiteOpensThePageAndNoData) {
    const auto status = [&](const std::string& target) {
        auto responder = std::make_shared<TestResponder>();
        api->handle({*http::parse_target(target), kRoot, "", {true, true, true}}, responder);
        return responder->response.status;
    };
    EXPECT_EQ(status("/v1/status"), 403u);
    EXPECT_EQ(status("/metrics"), 403u);
    EXPECT_EQ(status("/chip/0"), page::sent_document().gzip.empty() ? 404u : 200u);
}

TEST_F(ApiTest, StreamsBeginWithWhatWasAskedFor) {
    const auto view = ask("/v1/stream");
    EXPECT_TRUE(view->is_stream);
    EXPECT_THAT(view->streamed, HasSubstr("event: view\n"));
    EXPECT_TRUE(ask("/v1/events?stream=true&last=5")->is_stream);
    EXPECT_FALSE(ask("/v1/events?stream=false")->is_stream);
}

}  // namespace
}  // namespace ttmem::daemon
