// SPDX-License-Identifier: Apache-2.0
#include "daemon/http/connection.hpp"

#include <algorithm>
#include <boost/asio/write.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/read.hpp>

#include "daemon/http/answer.hpp"
#include "daemon/http/host.hpp"
#include "daemon/http/wire_text.hpp"

namespace ttmem::daemon::http {

namespace asio = boost::asio;
namespace beast = boost::beast;
using boost::system::error_code;
using Clock = std::chrono::steady_clock;

namespace {

constexpr size_t kSlice = size_t{64} << 10;  // must be taken within the time limit
constexpr size_t kRubbish = size_t{1}
                            << 20;  // is read from a caller who was answered, that it may read the answer
constexpr size_t kRubbishAtOnce = size_t{4} << 10;

}  // namespace

Connection::Connection(Socket socket, Caller caller, bool check_host, std::shared_ptr<Core> core)
    : core_(std::move(core)),
      caller_(std::move(caller)),
      check_host_(check_host),
      socket_(std::move(socket)),
      deadline_(core_->loop) {}

// --- the request ---

void Connection::read_request() {
    parser_.emplace();
    parser_->header_limit(core_->limits.header_bytes);
    set_deadline(core_->limits.idle);
    beast::http::async_read_header(
        socket_, buffer_, *parser_,
        [self = shared_from_this()](error_code error, size_t) { self->on_header(error); });
}

void Connection::on_header(error_code error) {
    if (is_closed_) {
        return;
    }
    clear_deadline();
    if (!error) {
        on_request();
    } else if (error.category() != make_error_code(beast::http::error::end_of_stream).category() ||
               error == beast::http::error::end_of_stream || error == beast::http::error::partial_message) {
        close();  // nobody is left to be told
    } else {
        refuse_broken(error);
    }
}

void Connection::refuse_broken(error_code error) {
    keep_alive_ = false;
    is_head_ = false;
    if (error == beast::http::error::header_limit) {
        answer(Response::error(
            431, "the header is longer than " + std::to_string(core_->limits.header_bytes) + " bytes"));
    } else if (error == beast::http::error::body_limit) {
        answer(Response::error(413, "a request has no body here"));
    } else {
        answer(Response::error(400, "this is no HTTP/1.1 request: " + error.message()));
    }
}

void Connection::on_request() {
    using beast::http::field;
    ++core_->counts.requests;
    const auto& message = parser_->get();
    const bool has_body = parser_->chunked() || parser_->content_length().value_or(0) != 0;
    // Who speaks HTTP/1.0 gets one answer a connection; a body is not read, so no request can follow it.
    keep_alive_ = message.keep_alive() && message.version() == 11 && !has_body;
    is_head_ = message.method() == beast::http::verb::head;
    if (message.method() != beast::http::verb::get && !is_head_) {
        return answer(Response::error(405, "only GET and HEAD are answered here"), "Allow: GET, HEAD\r\n");
    }
    if (has_body) {
        return answer(Response::error(413, "a request has no body here"));
    }
    const auto hosts = message.count(field::host);
    if (hosts > 1 || (hosts == 0 && message.version() == 11)) {
        return answer(Response::error(400, "a request of HTTP/1.1 has one Host"));
    }
    if (check_host_ && hosts == 1 && !is_loopback_host(std::string(message[field::host]))) {
        return answer(Response::error(403, "asked for as '" + std::string(message[field::host]) +
                                               "', but answers as localhost, 127.0.0.1 and [::1] only"));
    }
    auto target = parse_target(std::string(message.target()));
    if (!target) {
        return answer(Response::error(400, target.error().text));
    }
    Request request{std::move(*target), caller_, std::string(message["Last-Event-ID"])};
    const std::string authorization(message[field::authorization]);
    if (beast::iequals(authorization.substr(0, 7), "Bearer ")) {
        request.caller.bearer_token = authorization.substr(7);
    }
    try {
        core_->handler(std::move(request), std::make_shared<PendingAnswer>(weak_from_this(), core_->gate,
                                                                           core_->limits.stream_bytes));
    } catch (...) {
        // The answer that was dropped says that something went wrong.
    }
}

// --- the answer ---

void Connection::answer(Response response, const std::string& more_fields) {
    if (is_closed_) {
        return;
    }
    std::string text = head_text(response.status, response.content_type) + more_fields;
    is_chunked_ = response.more && parser_->get().version() == 11;
    if (is_chunked_) {
        text += "Transfer-Encoding: chunked\r\n";
    } else if (!response.more) {
        text += length_text(response.body.size());
    }
    text += keep_alive_ ? "\r\n" : "Connection: close\r\n\r\n";
    if (is_head_) {
        return write(std::move(text), [this] { end_answer(); });
    }
    if (!response.more) {
        return write(text + response.body, [this] { end_answer(); });
    }
    pieces_ = std::make_shared<Pieces>(std::move(response.more));
    if (!response.body.empty()) {
        text += is_chunked_ ? chunk(response.body) : response.body;
    }
    write(std::move(text), [this] { next_piece(); });
}

void Connection::next_piece() {
    asio::post(core_->worker, [connection = weak_from_this(), gate = core_->gate, pieces = pieces_] {
        if (!gate->is_open()) {
            return;
        }
        std::string piece;
        bool has_failed = false;
        try {
            piece = (*pieces)();
        } catch (...) {
            has_failed = true;
        }
        gate->post([connection, piece = std::move(piece), has_failed]() mutable {
            if (const auto alive = connection.lock()) {
                alive->on_piece(std::move(piece), has_failed);
            }
        });
    });
}

void Connection::on_piece(std::string piece, bool has_failed) {
    if (is_closed_) {
        return;
    }
    if (has_failed) {
        return close();  // the end is missing, and thus the caller knows
    }
    if (!piece.empty()) {
        return write(is_chunked_ ? chunk(piece) : std::move(piece), [this] { next_piece(); });
    }
    pieces_.reset();
    if (is_chunked_) {
        return write("0\r\n\r\n", [this] { end_answer(); });
    }
    end_answer();
}

// `then` is called on the loop when all of it is sent. It is kept here, so it captures nothing that keeps this alive.
void Connection::write(std::string text, std::function<void()> then) {
    out_ = std::move(text);
    sent_ = 0;
    then_ = std::move(then);
    write_slice();
}

void Connection::write_slice() {
    set_deadline(core_->limits.idle);
    const auto slice = asio::buffer(out_.data() + sent_, std::min(out_.size() - sent_, kSlice));
    asio::async_write(socket_, slice, [self = shared_from_this()](error_code error, size_t length) {
        if (self->is_closed_) {
            return;
        }
        if (error) {
            return self->close();
        }
        self->sent_ += length;
        if (self->sent_ < self->out_.size()) {
            return self->write_slice();
        }
        self->clear_deadline();
        self->out_ = {};
        std::exchange(self->then_, nullptr)();
    });
}

void Connection::end_answer() {
    if (keep_alive_) {
        read_request();
    } else {
        finish();
    }
}

// --- the stream ---

void Connection::begin_stream(std::shared_ptr<Flow> flow) {
    if (is_closed_) {
        return flow->end();
    }
    keep_alive_ = false;  // the end of the connection is the end of the stream
    const std::string text = head_text(200, "text/event-stream") + "Connection: close\r\n\r\n";
    if (is_head_) {
        flow->end();
        return write(text, [this] { end_answer(); });
    }
    flow_ = std::move(flow);
    discard();  // that is how the caller's end is noticed
    write(text, [this] { pump(); });
}

void Connection::pump() {
    if (is_closed_ || flow_ == nullptr) {
        return;
    }
    if (auto text = flow_->take()) {
        return write(std::move(*text), [this] { pump(); });
    }
    if (is_stream_ending_) {
        finish();
    }
}

void Connection::end_stream() {
    is_stream_ending_ = true;
    if (flow_ != nullptr && !then_) {
        pump();
    }
}

// --- the end ---

// Closing while the caller still sends would make its kernel throw away the answer that it has not read yet. So it is
// told that there is no more, and what it sends is read and dropped, for a while.
void Connection::finish() {
    error_code ignored;
    socket_.shutdown(Socket::shutdown_send, ignored);
    set_deadline(core_->limits.linger);
    if (!is_discarding_) {
        discard();
    }
}

void Connection::discard() {
    is_discarding_ = true;
    rubbish_.resize(kRubbishAtOnce);
    socket_.async_read_some(asio::buffer(rubbish_),
                            [self = shared_from_this()](error_code error, size_t length) {
                                self->discarded_ += length;
                                if (self->is_closed_) {
                                    return;
                                }
                                if (error || self->discarded_ > kRubbish) {
                                    return self->close();
                                }
                                self->discard();
                            });
}

void Connection::close() {
    if (std::exchange(is_closed_, true)) {
        return;
    }
    const auto self = shared_from_this();
    if (flow_ != nullptr) {
        flow_->end();
    }
    error_code ignored;
    socket_.close(ignored);
    deadline_.cancel();
    core_->remove(self, caller_);
}

void Connection::set_deadline(std::chrono::milliseconds after) {
    deadline_.expires_after(after);
    deadline_.async_wait([self = shared_from_this()](error_code error) {
        // A deadline that was moved while this call was under way is no more to be kept.
        if (!error && self->deadline_.expiry() <= Clock::now()) {
            self->close();
        }
    });
}

void Connection::clear_deadline() { deadline_.expires_at(Clock::time_point::max()); }

void serve(Connection::Socket socket, const Caller& caller, bool check_host,
           const std::shared_ptr<Core>& core) {
    const auto connection = std::make_shared<Connection>(std::move(socket), caller, check_host, core);
    core->add(connection, caller);
    connection->read_request();
}

}  // namespace ttmem::daemon::http
