// SPDX-License-Identifier: Apache-2.0
#include "daemon/classic_streams.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>

#include "daemon/classic_connection.hpp"

namespace ttmem::daemon {

namespace asio = boost::asio;

namespace {

// A socket holds about 280 messages of 144 bytes, and a client that finds it full waits; but while one waits, others can send. So
// the streams together are to be found less than a third full, and where they are fuller they are looked at again at once.
constexpr size_t kSocketBytes = size_t{280} * sources::classic_wire::kLongest;
constexpr auto kFirstPace = std::chrono::microseconds(100);
constexpr auto kQuickest = std::chrono::microseconds(20);
constexpr auto kSlowest = std::chrono::microseconds(2000);

bool is_much(size_t taken, size_t streams) { return taken > streams * kSocketBytes / 3; }
bool is_little(size_t taken, size_t streams) { return taken < streams * kSocketBytes / 6; }

}  // namespace

ClassicWire::Streams::Streams(asio::io_context& loop)
    : loop_(loop), next_look_(thread_), buffer_(kBufferBytes) {}

ClassicWire::Streams::~Streams() {
    thread_.stop();
    thread_.join();
}

void ClassicWire::Streams::add(std::shared_ptr<Connection> connection) {
    asio::post(thread_, [this, connection = std::move(connection)]() mutable {
        streams_.push_back(std::move(connection));
        if (streams_.size() == 1) {
            pace_ = kFirstPace;
            look_later();
        }
    });
}

void ClassicWire::Streams::look_later() {
    next_look_.expires_after(pace_);
    next_look_.async_wait([this](boost::system::error_code cancelled) {
        if (!cancelled) {
            look();
        }
    });
}

// As soon as everything else that waits has had its turn.
void ClassicWire::Streams::look_at_once() {
    asio::post(thread_, [this] { look(); });
}

void ClassicWire::Streams::look() {
    size_t taken = 0;
    std::erase_if(streams_, [&](const auto& connection) {
        const std::optional<size_t> its = connection->read_in_passing(buffer_);
        if (!its) {
            asio::post(loop_, [connection] { connection->come_back(); });
        }
        taken += its.value_or(0);
        return !its;
    });
    if (streams_.empty()) {
        return;
    }
    if (is_much(taken, streams_.size())) {
        pace_ = std::max(pace_ / 2, kQuickest);
        look_at_once();
    } else {
        pace_ = is_little(taken, streams_.size()) ? std::min(pace_ * 5 / 4, kSlowest) : pace_;
        look_later();
    }
}

}  // namespace ttmem::daemon
