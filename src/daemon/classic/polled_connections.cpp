// SPDX-License-Identifier: Apache-2.0
#include "daemon/classic/polled_connections.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <cassert>

#include "daemon/classic/connection.hpp"

namespace ttmem::daemon {

namespace asio = boost::asio;

namespace {

// A socket holds about 280 messages of 144 bytes. A client that finds it full blocks, though others can send meanwhile. The
// interval is chosen so that the sockets together are less than a third full; if they are fuller, they are polled again at once.
constexpr size_t kSocketBytes = size_t{280} * sources::classic_wire::kLongest;
constexpr auto kFirstInterval = std::chrono::microseconds(100);
constexpr auto kShortestInterval = std::chrono::microseconds(20);
constexpr auto kLongestInterval = std::chrono::microseconds(2000);

bool is_full(size_t received, size_t connections) { return received > connections * kSocketBytes / 3; }
bool is_nearly_empty(size_t received, size_t connections) {
    return received < connections * kSocketBytes / 6;
}

}  // namespace

ClassicWire::PolledConnections::PolledConnections(asio::io_context& loop)
    : loop_(loop), poll_timer_(thread_), buffer_(kBufferBytes) {}

ClassicWire::PolledConnections::~PolledConnections() {
    thread_.stop();
    thread_.join();
}

void ClassicWire::PolledConnections::add(std::shared_ptr<ClientConnection> connection) {
    asio::post(thread_, [this, connection = std::move(connection)]() mutable {
        connections_.push_back(std::move(connection));
        if (connections_.size() == 1) {
            interval_ = kFirstInterval;
            poll_later();
        }
    });
}

void ClassicWire::PolledConnections::poll_later() {
    assert(interval_ >= kShortestInterval && interval_ <= kLongestInterval);
    poll_timer_.expires_after(interval_);
    poll_timer_.async_wait([this](boost::system::error_code cancelled) {
        if (!cancelled) {
            poll();
        }
    });
}

// After all other calls that wait on this thread.
void ClassicWire::PolledConnections::poll_at_once() {
    asio::post(thread_, [this] { poll(); });
}

void ClassicWire::PolledConnections::poll() {
    assert(!connections_.empty());
    size_t received = 0;
    std::erase_if(connections_, [&](const auto& connection) {
        const std::optional<size_t> bytes = connection->poll(buffer_);
        if (!bytes) {
            asio::post(loop_, [connection] { connection->return_to_loop(); });
        }
        received += bytes.value_or(0);
        return !bytes;
    });
    if (connections_.empty()) {
        return;
    }
    if (is_full(received, connections_.size())) {
        interval_ = std::max(interval_ / 2, kShortestInterval);
        poll_at_once();
    } else {
        interval_ = is_nearly_empty(received, connections_.size())
                        ? std::min(interval_ * 5 / 4, kLongestInterval)
                        : interval_;
        poll_later();
    }
}

}  // namespace ttmem::daemon
