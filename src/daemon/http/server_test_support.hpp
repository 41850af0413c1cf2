// SPDX-License-Identifier: Apache-2.0
#pragma once

// A real server on real sockets, whose loop and worker have threads of their own.

#include <gtest/gtest.h>
#include <stdlib.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
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

// What the handler got and the test has not answered yet.
class Inbox {
public:
    struct Item {
        Request request;
        std::shared_ptr<Answer> answer;
    };

    void put(Request request, std::shared_ptr<Answer> answer) {
        const std::lock_guard lock(mutex_);
        items_.push_back({std::move(request), std::move(answer)});
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

    // Answers with `handler`, on a Unix socket and on a port of 127.0.0.1.
    void start(Handler handler, Limits limits = {}) {
        loop_ = std::make_unique<boost::asio::io_context>();
        server_ = std::make_unique<Server>(*loop_, worker_.get_executor(), std::move(handler), limits);
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

    // Answers "/path?key=value," with the parts of the request, or as the test says later where the path is /later.
    void start_echo(Limits limits = {}) {
        start(
            [this](Request request, std::shared_ptr<Answer> answer) {
                if (request.target.path == "/later") {
                    return inbox_.put(std::move(request), std::move(answer));
                }
                Response response;
                response.body = request.target.path;
                for (const auto& [key, value] : request.target.query) {
                    response.body += "," + key + "=" + value;
                }
                answer->send(std::move(response));
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

    Server::Counts counts() {
        return on_loop([this] { return server_->counts(); });
    }

    // Ends server, loop and worker, in this order, as a daemon does.
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

    RawClient::Answer get(const std::string& request) {
        RawClient client(path());
        EXPECT_TRUE(client.send(request));
        return client.read_answer();
    }

    std::filesystem::path directory_;
    boost::asio::thread_pool worker_{2};  // so that two pieces could be made at once
    std::unique_ptr<boost::asio::io_context> loop_;
    std::unique_ptr<Server> server_;
    std::thread thread_;
    Inbox inbox_;
    uint16_t port_ = 0;
};

}  // namespace ttmem::daemon::http
