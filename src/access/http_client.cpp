// SPDX-License-Identifier: Apache-2.0
#include "access/http_client.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/beast/core/buffers_range.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/descriptor.hpp"
#include "base/unix_socket.hpp"

namespace ttmem::access {

namespace asio = boost::asio;
namespace beast = boost::beast;
using base::Error;
using boost::system::error_code;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

namespace {

constexpr size_t kMostOfAnEvent = size_t{256} << 20;  // the first event of a stream is a whole view
constexpr size_t kMostOfARefusal = size_t{64} << 10;

// A connected socket with a deadline. It implements the stream interface of Beast.
class Wire {
public:
    explicit Wire(base::Descriptor socket) : socket_(std::move(socket)) {}

    void set_deadline(steady_clock::time_point deadline) { deadline_ = deadline; }

    // No further request follows: the daemon ends what it sends.
    void end_sending() { shutdown(socket_.get(), SHUT_WR); }

    // Waiting ends with operation_aborted when this descriptor is readable.
    void set_until(int descriptor) { until_ = descriptor; }

    template <class Buffers>
    size_t read_some(const Buffers& buffers, error_code& error) {
        for (const asio::mutable_buffer buffer : beast::buffers_range_ref(buffers)) {
            if (buffer.size() != 0) {
                return read(buffer.data(), buffer.size(), error);
            }
        }
        error = {};
        return 0;
    }

    template <class Buffers>
    size_t read_some(const Buffers& buffers) {
        error_code error;
        const size_t count = read_some(buffers, error);
        if (error) {
            throw boost::system::system_error(error);
        }
        return count;
    }

    void write(std::string_view text, error_code& error) {
        error = {};
        while (!text.empty()) {
            const ssize_t count = send(socket_.get(), text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
            if (count >= 0) {
                text.remove_prefix(static_cast<size_t>(count));
            } else if (errno != EINTR && !(errno == EAGAIN && wait(POLLOUT, error))) {
                error = error ? error : error_code(errno, boost::system::system_category());
                return;
            }
        }
    }

private:
    size_t read(void* data, size_t size, error_code& error) {
        error = {};
        while (true) {
            const ssize_t count = recv(socket_.get(), data, size, MSG_DONTWAIT);
            if (count > 0) {
                return static_cast<size_t>(count);
            }
            if (count == 0) {
                error = asio::error::eof;
            } else if (errno == EINTR || (errno == EAGAIN && wait(POLLIN, error))) {
                continue;
            } else if (!error) {
                error = error_code(errno, boost::system::system_category());
            }
            return 0;
        }
    }

    bool wait(short what, error_code& error) {
        const auto left = std::chrono::ceil<milliseconds>(deadline_ - steady_clock::now());
        std::array<pollfd, 2> ready = {{{socket_.get(), what, 0}, {until_, POLLIN, 0}}};
        // Wait one second at a time, so that any deadline fits into an int.
        const auto turn = std::clamp(left, milliseconds(0), milliseconds(1000));
        const int count = poll(ready.data(), ready.size(), static_cast<int>(turn.count()));
        if (count > 0 && ready[1].revents != 0) {
            error = asio::error::operation_aborted;
            return false;
        }
        if (count == 0 && steady_clock::now() >= deadline_) {
            error = asio::error::timed_out;
            return false;
        }
        return true;
    }

    base::Descriptor socket_;
    int until_ = -1;  // poll() ignores negative descriptors
    steady_clock::time_point deadline_;
};

std::string daemon_at(const std::filesystem::path& socket) { return "the daemon at " + socket.string(); }

tl::unexpected<Error> connect_error(const std::filesystem::path& socket, int number) {
    if (number == ENOENT || number == ECONNREFUSED || number == ENOTDIR) {
        return base::error(Error::Code::gone,
                           "no daemon answers at " + socket.string() +
                               " (start it with 'systemctl start ttmemd', or ttmemd by hand)");
    }
    if (number == EAGAIN) {
        return base::error(Error::Code::failed,
                           daemon_at(socket) + " accepts no connection (it hangs, or has too many clients)");
    }
    return base::error(Error::Code::failed,
                       "can't reach " + daemon_at(socket) + ": " + std::strerror(number));
}

// Connecting waits only if the daemon's queue is full, and no longer than `patience`.
base::Expected<Wire> connect_to(const std::filesystem::path& path, milliseconds patience) {
    const base::UnixAddress address(path.c_str());
    if (!address.is_valid()) {
        return connect_error(path, ENAMETOOLONG);
    }
    base::Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!socket) {
        return connect_error(path, errno);
    }
    const auto bounded = std::max(patience, milliseconds(1));  // 0 would mean no limit
    const timeval limit{bounded.count() / 1000, bounded.count() % 1000 * 1000};
    setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    if (!address.connect(socket.get())) {
        return connect_error(path, errno);
    }
    return Wire(std::move(socket));
}

tl::unexpected<Error> read_error(const std::filesystem::path& socket, const error_code& error,
                                 milliseconds limit) {
    if (error == asio::error::timed_out) {
        return base::error(Error::Code::failed, daemon_at(socket) + " has not answered for " +
                                                    std::to_string(limit.count()) +
                                                    " ms (it hangs, or the host is very busy)");
    }
    if (error == beast::http::error::end_of_stream || error == beast::http::error::partial_message ||
        error == asio::error::connection_reset || error == asio::error::broken_pipe ||
        error == asio::error::eof) {
        return base::error(Error::Code::failed, daemon_at(socket) +
                                                    " closed the connection early (it was stopped, or cut a "
                                                    "connection that was too slow; try again)");
    }
    if (error.category() == make_error_code(beast::http::error::end_of_stream).category()) {
        return base::error(Error::Code::refused,
                           "the server at " + socket.string() + " does not speak HTTP: " + error.message());
    }
    return base::error(Error::Code::failed, "can't read from " + daemon_at(socket) + ": " + error.message());
}

base::Expected<Wire> ask(const std::filesystem::path& socket, const std::string& target,
                         const std::string& fields, milliseconds limit) {
    const auto is_bad = [](char c) { return static_cast<unsigned char>(c) <= ' ' || c == '\x7f'; };
    if (std::any_of(target.begin(), target.end(), is_bad)) {
        return base::error(Error::Code::failed,
                           "'" + target + "' is not a valid request (escape its values)");
    }
    const auto deadline = steady_clock::now() + limit;
    auto wire = connect_to(socket, limit);
    if (!wire) {
        return wire;
    }
    wire->set_deadline(deadline);
    error_code error;
    wire->write("GET " + target + " HTTP/1.1\r\nHost: localhost\r\n" + fields + "\r\n", error);
    // A daemon with too many connections refuses and closes the connection before it reads the request.
    if (error && error != asio::error::broken_pipe && error != asio::error::connection_reset) {
        return read_error(socket, error, limit);
    }
    return wire;
}

// The body of an answer of any length, piece by piece.
class BodyReader {
public:
    explicit BodyReader(Wire& wire) : wire_(wire) {
        parser_.body_limit(boost::none);
        beast::http::read_header(wire_, buffer_, parser_, error);
    }

    bool has_more() const { return !error && !parser_.is_done() && refusal.size() < kMostOfARefusal; }
    unsigned status() const { return parser_.get().result_int(); }

    // The next piece, which is valid until the next call; may be empty. Of another status than 200 it is added to `refusal`.
    std::string_view next() {
        auto& body = parser_.get().body();
        body.data = bytes_.data();
        body.size = bytes_.size();
        beast::http::read_some(wire_, buffer_, parser_, error);
        if (error == beast::http::error::need_buffer) {
            error = {};
        }
        const std::string_view text(bytes_.data(), bytes_.size() - body.size);
        if (status() == 200) {
            return text;
        }
        refusal += text;
        return {};
    }

    error_code error;
    std::string refusal;

private:
    Wire& wire_;
    beast::flat_buffer buffer_;
    beast::http::response_parser<beast::http::buffer_body> parser_;
    std::array<char, 64 * 1024> bytes_{};
};

}  // namespace

base::Expected<HttpAnswer> http_get(const std::filesystem::path& socket, const std::string& target,
                                    milliseconds deadline) {
    auto wire = ask(socket, target, "Connection: close\r\n", deadline);
    if (!wire) {
        return tl::unexpected(wire.error());
    }
    beast::flat_buffer buffer;
    beast::http::response_parser<beast::http::string_body> parser;
    parser.body_limit(boost::none);
    error_code error;
    beast::http::read(*wire, buffer, parser, error);
    if (error) {
        return read_error(socket, error, deadline);
    }
    return HttpAnswer{parser.get().result_int(), std::move(parser.get().body())};
}

base::Expected<HttpAnswer> http_download(const std::filesystem::path& socket, const std::string& target,
                                         const TakeBytes& take, int until, milliseconds patience) {
    auto wire = ask(socket, target, "", patience);
    if (!wire) {
        return tl::unexpected(wire.error());
    }
    wire->set_until(until);
    BodyReader body(*wire);
    wire->set_deadline(steady_clock::time_point::max());
    while (body.has_more()) {
        const std::string_view text = body.next();
        if (body.error == asio::error::operation_aborted) {
            body.error = {};
            wire->set_until(-1);
            wire->set_deadline(steady_clock::now() + patience);
            wire->end_sending();
        }
        if (auto taken = text.empty() ? base::Expected<void>() : take(text); !taken) {
            return tl::unexpected(std::move(taken.error()));
        }
    }
    if (body.error) {
        return read_error(socket, body.error, patience);
    }
    return HttpAnswer{body.status(), std::move(body.refusal)};
}

base::Expected<void> http_stream(const std::filesystem::path& socket, const std::string& target,
                                 const std::string& last_event_id, const TakeEvent& take,
                                 milliseconds silence, int until) {
    std::string fields = "Accept: text/event-stream\r\n";
    if (!last_event_id.empty() && last_event_id.find_first_of("\r\n") == std::string::npos) {
        fields += "Last-Event-ID: " + last_event_id + "\r\n";
    }
    auto wire = ask(socket, target, fields, silence);
    if (!wire) {
        return tl::unexpected(wire.error());
    }
    wire->set_until(until);
    BodyReader body(*wire);
    EventParser events(kMostOfAnEvent);
    while (body.has_more()) {
        wire->set_deadline(steady_clock::now() + silence);
        const auto fed = events.feed(body.next(), take);
        if (fed == EventParser::FeedResult::was_stopped) {
            return {};
        }
        if (fed == EventParser::FeedResult::is_too_long) {
            return base::error(Error::Code::refused, daemon_at(socket) + " sends an event without an end");
        }
    }
    if (body.error == asio::error::operation_aborted) {
        return {};
    }
    if (body.error) {
        return read_error(socket, body.error, silence);
    }
    if (body.status() != 200) {
        body.refusal.erase(body.refusal.find_last_not_of('\n') + 1);
        return base::error(Error::Code::refused, daemon_at(socket) + " answers " +
                                                     std::to_string(body.status()) + " to " + target + ": " +
                                                     body.refusal);
    }
    return base::error(Error::Code::gone,
                       daemon_at(socket) + " has ended its stream (connect again to continue)");
}

}  // namespace ttmem::access
