// SPDX-License-Identifier: Apache-2.0
#pragma once

// A server on real sockets, with threads for its loop and its workers.

#include <gtest/gtest.h>
#include <stdlib.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <future>
#include <memory>
#include <mutex>
#include <thread>

#include "daemon/http/raw_client_test_support.hpp"
#include "daemon/http/server.hpp"

namespace ttmem::daemon::http {

inline const std::string kRequest = "GET /a HTTP/1.1\r\nHost: localhost\r\n\r\n";
inline const std::string kLater = "GET /later HTTP/1.1\r\nHost: localhost\r\n\r\n";

// Sends text to a stream, which ends with the last copy.
using Push = std::function<bool(std::string)>;
inline Push push_to(std::shared_ptr<StreamWriter> stream) {
    return [stream = std::move(stream)](std::string text) {
        return stream->push(std::make_shared<const std::string>(std::move(text)));
    };
}

// Requests that the handler has received and the test has not answered yet.
class Inbox {
public:
    struct Item {
        Request request;
        std::shared_ptr<Responder> responder;
    };

    void put(Request request, std::shared_ptr<Responder> responder) {
        const std::lock_guard lock(mutex_);
        items_.push_back({std::move(request), std::move(responder)});
        wake_.notify_one();
    }

    Item take() {
        std::unique_lock lock(mutex_);
        if (!wake_.wait_for(lock, std::chrono::milliseconds(RawClient::kLimitMs),
                            [&] { return !items_.empty(); })) {
            ADD_FAILURE() << "no request came";
            return {};
        }
        Item item = std::move(items_.front());
        items_.pop_front();
        return item;
    }

private:
    std::mutex mutex_;
    std::condition_variable wake_;
    std::deque<Item> items_;
};

class ServerTest : public testing::Test {
protected:
    ServerTest() {
        std::string name = (std::filesystem::temp_directory_path() / "ttmem-http-XXXXXX").string();
        directory_ = mkdtemp(name.data());
        std::filesystem::permissions(directory_, std::filesystem::perms(0755));
    }
    ~ServerTest() override {
        stop();
        std::filesystem::remove_all(directory_);
    }

    std::filesystem::path path() const { return directory_ / "api.sock"; }

    PostTask post_task() {
        return [this](User user, FairWorkers::Task task) { workers_.post(user, std::move(task)); };
    }

    // Serves `handler` on a Unix socket and on a port of 127.0.0.1.
    void start(Handler handler, ServerLimits limits = {}) {
        loop_ = std::make_unique<boost::asio::io_context>();
        server_ = std::make_unique<Server>(*loop_, post_task(), std::move(handler), limits, budgets_);
        const auto listening = server_->listen_unix(path());
        ASSERT_TRUE(listening) << listening.error().text;
        const auto port = server_->listen_tcp("127.0.0.1", 0);
        ASSERT_TRUE(port) << port.error().text;
        port_ = *port;
        thread_ = std::thread([this] {
            const auto guard = boost::asio::make_work_guard(*loop_);
            loop_->run();
        });
    }

    // Answers each request with its path and parameters. Requests for /later go to the inbox, for the test to answer.
    void start_echo(ServerLimits limits = {}) {
        start(
            [this](Request request, std::shared_ptr<Responder> responder) {
                if (request.target.path == "/later") {
                    return inbox_.put(std::move(request), std::move(responder));
                }
                Response response;
                response.body = request.target.path;
                for (const auto& [key, value] : request.target.query) {
                    response.body += "," + key + "=" + value;
                }
                responder->send(std::move(response));
            },
            limits);
    }

    template <class Call>
    auto on_loop(Call call) {
        std::packaged_task<decltype(call())()> task(std::move(call));
        auto result = task.get_future();
        boost::asio::post(*loop_, std::move(task));
        return result.get();
    }

    Server::Statistics statistics() {
        return on_loop([this] { return server_->statistics(); });
    }

    // Stops server, loop and worker in this order, as the daemon does.
    void stop() {
        if (thread_.joinable()) {
            on_loop([this] {
                server_->stop();
                return 0;
            });
            loop_->stop();
            thread_.join();
        }
        server_.reset();
        loop_.reset();
    }

    RawClient::Reply get(const std::string& request) {
        RawClient client(path());
        EXPECT_TRUE(client.send(request));
        return client.read_reply();
    }

    std::filesystem::path directory_;
    std::shared_ptr<Budgets> budgets_ = std::make_shared<Budgets>();
    FairWorkers workers_{3};  // several, so that a wrong server could make two pieces at once
    std::unique_ptr<boost::asio::io_context> loop_;
    std::unique_ptr<Server> server_;
    std::thread thread_;
    Inbox inbox_;
    uint16_t port_ = 0;
};

}  // namespace ttmem::daemon::http
