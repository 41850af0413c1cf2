// SPDX-License-Identifier: Apache-2.0
#include "daemon/host_watch.hpp"

#include <boost/asio/post.hpp>
#include <chrono>
#include <future>
#include <memory>

namespace ttmem::daemon {

namespace {

constexpr auto kLookEvery = std::chrono::milliseconds(1500);
constexpr auto kWaitAtStart = std::chrono::seconds(2);

}  // namespace

void HostWatch::start() {
    const auto looked = std::make_shared<std::promise<void>>();
    boost::asio::post(thread_, [this, looked] {
        look();
        looked->set_value();
    });
    looked->get_future().wait_for(kWaitAtStart);
}

void HostWatch::look() {
    roster_.set_host(host_.look());
    next_.expires_after(kLookEvery);
    next_.async_wait([this](boost::system::error_code error) {
        if (!error) {
            look();
        }
    });
}

void HostWatch::stop() {
    thread_.stop();
    thread_.join();
}

}  // namespace ttmem::daemon
