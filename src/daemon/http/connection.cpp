// SPDX-License-Identifier: Apache-2.0
#include "daemon/http/connection.hpp"

#include <algorithm>
#include <boost/asio/write.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/read.hpp>
#include <cassert>

#include "daemon/http/host.hpp"
#include "daemon/http/origin.hpp"
#include "daemon/http/responder.hpp"

namespace ttmem::daemon::http {

namespace asio = boost::asio;
namespace beast = boost::beast;
using boost::system::error_code;

namespace {

// The caller must read this much within the idle limit.
constexpr size_t kSlice = size_t{64} << 10;

// Read and dropped from a caller that keeps sending after its last response.
constexpr size_t kMaxDiscarded = size_t{1} << 20;
constexpr size_t kDiscardBuffer = size_t{4} << 10;

// The memory of larger responses goes back to the system.
constexpr uint64_t kLargeResponse = uint64_t{8} << 20;

std::string_view as_view(beast::string_view text) { return {text.data(), text.size()}; }

}  // namespace

Connection::Connection(Socket socket, Caller caller, bool check_host, std::shared_ptr<ServerState> state)
    : state_(std::move(state)),
      caller_(std::move(caller)),
      check_host_(check_host),
      socket_(std::move(socket)),
      deadline_(state_->loop) {}

// A step that fails, such as because memory ran out, ends this connection and nothing else.
template <class Step>
void Connection::run(Step step) {
    try {
        step();
    } catch (...) {
        state_->count(&Server::Statistics::failures);
        close();
    }
}

// --- the request ---

void Connection::read_request() {
    parser_.emplace();
    parser_->header_limit(state_->limits.header_bytes);
    set_deadline(state_->limits.idle);
    beast::http::async_read_header(socket_, buffer_, *parser_,
                                   [self = shared_from_this()](error_code error, size_t) {
                                       self->run([&] { self->on_header(error); });
                                   });
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
        close();  // the caller has gone
    } else {
        reject_malformed(error);
    }
}

void Connection::reject_malformed(error_code error) {
    keep_alive_ = false;
    is_head_ = false;
    if (error == beast::http::error::header_limit) {
        respond(Response::error(
            view::ApiError::head_too_long,
            "the request header is longer than " + std::to_string(state_->limits.header_bytes) + " bytes"));
    } else if (error == beast::http::error::body_limit) {
        respond(Response::error(view::ApiError::body_not_accepted, "request bodies are not accepted"));
    } else {
        respond(Response::error(view::ApiError::bad_request, "not an HTTP/1.1 request: " + error.message()));
    }
}

void Connection::reject_method() {
    Response response = Response::error(view::ApiError::bad_method, "only GET and HEAD are supported");
    ResponseHead head = make_head(response.status, response.content_type);
    head.set(beast::http::field::allow, "GET, HEAD");
    respond(std::move(head), std::move(response));
}

void Connection::on_request() {
    using beast::http::field;
    state_->count(&Server::Statistics::requests);
    const auto& message = parser_->get();
    const bool has_body = parser_->chunked() || parser_->content_length().value_or(0) != 0;
    // HTTP/1.0 gets one response per connection. A body is not read, so no request can follow it.
    keep_alive_ = message.keep_alive() && message.version() == 11 && !has_body;
    is_head_ = message.method() == beast::http::verb::head;
    if (message.method() != beast::http::verb::get && !is_head_) {
        return reject_method();
    }
    if (has_body) {
        return respond(Response::error(view::ApiError::body_not_accepted, "request bodies are not accepted"));
    }
    const auto hosts = message.count(field::host);
    if (hosts > 1 || (hosts == 0 && message.version() == 11)) {
        return respond(
            Response::error(view::ApiError::bad_request, "an HTTP/1.1 request needs exactly one Host field"));
    }
    if (check_host_ && hosts == 1 && !is_loopback_host(std::string(message[field::host]))) {
        return respond(Response::error(view::ApiError::forbidden,
                                       "Host '" + std::string(message[field::host]) +
                                           "' is not accepted (use localhost, 127.0.0.1 or [::1])"));
    }
    const RequestOrigin origin = origin_of(
        {as_view(message[field::origin]), as_view(message[field::host]), as_view(message["Sec-Fetch-Site"]),
         as_view(message["Sec-Fetch-Mode"]), as_view(message["Sec-Fetch-Dest"])});
    if (origin == RequestOrigin::foreign) {
        return respond(
            Response::error(view::ApiError::forbidden, "requests of other sites' pages are not accepted"));
    }
    auto target = parse_target(std::string(message.target()));
    if (!target) {
        return respond(Response::error(view::ApiError::bad_request, target.error().text));
    }
    Request request{std::move(*target), caller_, std::string(message["Last-Event-ID"])};
    request.browser = {as_view(message[field::accept]).find("text/html") != std::string_view::npos,
                       as_view(message[field::accept_encoding]).find("gzip") != std::string_view::npos,
                       origin == RequestOrigin::foreign_navigation};
    const std::string authorization(message[field::authorization]);
    if (beast::iequals(authorization.substr(0, 7), "Bearer ")) {
        request.caller.bearer_token = authorization.substr(7);
    }
    auto responder =
        std::make_shared<ConnectionResponder>(weak_from_this(), *state_, ServerState::user_of(caller_));
    await(responder);
    try {
        state_->handler(std::move(request), std::move(responder));
    } catch (...) {
        // The destroyed responder sends an error.
    }
}

void Connection::make_later(uint64_t places, std::function<void()> make) {
    if (is_closed_) {
        return;
    }
    is_large_ = places > 1;
    const User user = ServerState::user_of(caller_);
    state_->places.enter(this, user, places,
                         [&post = state_->post, user, make = std::move(make)] { post(user, make); });
}

// If whoever makes the response is gone without one, because memory ran out on its thread, the connection must not wait forever.
void Connection::await(std::weak_ptr<const void> maker) {
    maker_ = std::move(maker);
    is_awaiting_ = true;
    ++awaited_;
    set_deadline(state_->limits.idle);
}

void Connection::check_maker() {
    if (!maker_.expired()) {
        return set_deadline(state_->limits.idle);
    }
    // What it made may be in the queue of the loop. This call comes after it.
    asio::post(state_->loop, [self = shared_from_this(), awaited = awaited_] {
        if (self->is_awaiting_ && self->awaited_ == awaited) {
            self->close();
        }
    });
}

// --- the response ---

void Connection::respond(Response response) {
    run([&] {
        ResponseHead head = make_head(response.status, response.content_type);
        for (const auto& [name, value] : response.fields) {
            head.set(name, value);
        }
        respond(std::move(head), std::move(response));
    });
}

void Connection::respond(ResponseHead head, Response response) {
    if (is_closed_) {
        return;
    }
    assert(!pieces_ && !then_);  // a responder is used once, and the next request is read after its response
    is_awaiting_ = false;
    response_bytes_ = 0;
    is_chunked_ = response.more && parser_->get().version() == 11;
    if (is_chunked_) {
        head.chunked(true);
    } else if (!response.more) {
        head.content_length(response.body.size());
    }
    head.keep_alive(keep_alive_);
    std::string text = to_text(head);
    if (response.more) {
        pieces_ = std::make_shared<Pieces>(std::move(response.more));
    }
    if (is_head_) {
        return write(std::move(text), [this] { end_response(); });
    }
    if (!pieces_) {
        return write(text + response.body, [this] { end_response(); });
    }
    if (!response.body.empty()) {
        text += is_chunked_ ? to_chunk(response.body) : response.body;
    }
    write(std::move(text), [this] { make_next_piece(); });
}

void Connection::make_next_piece() {
    const auto token = std::make_shared<char>();  // gone when the task is
    await(token);
    state_->post(ServerState::user_of(caller_),
                 [connection = weak_from_this(), gate = state_->gate, pieces = pieces_, token] {
                     if (!gate->is_open()) {
                         return;
                     }
                     std::string piece;
                     try {
                         piece = (*pieces)();
                     } catch (...) {
                         gate->post([connection] {
                             if (const auto alive = connection.lock()) {
                                 alive->close();  // the caller notices that the end of the body is missing
                             }
                         });
                         throw;  // the worker counts it
                     }
                     gate->post([connection, piece = std::move(piece)]() mutable {
                         if (const auto alive = connection.lock()) {
                             alive->run([&] { alive->on_piece(std::move(piece)); });
                         }
                     });
                 });
}

void Connection::on_piece(std::string piece) {
    if (is_closed_) {
        return;
    }
    is_awaiting_ = false;
    if (!piece.empty()) {
        return write(is_chunked_ ? to_chunk(piece) : std::move(piece), [this] { make_next_piece(); });
    }
    drop_pieces();
    if (is_chunked_) {
        return write(last_chunk(), [this] { end_response(); });
    }
    end_response();
}

// What the pieces are made from is large. A worker destroys it.
void Connection::drop_pieces() {
    if (pieces_) {
        state_->post(ServerState::user_of(caller_), [pieces = std::exchange(pieces_, nullptr)] {});
    }
}

void Connection::write(std::string text, std::function<void()> then) {
    write(std::make_shared<const std::string>(std::move(text)), std::move(then));
}

// Calls `then` on the loop when all of `text` is sent. `then` is a member, so it must not hold a pointer that owns this object.
void Connection::write(SharedText text, std::function<void()> then) {
    assert(!then_ && text && !text->empty());
    out_ = std::move(text);
    sent_ = 0;
    then_ = std::move(then);
    write_slice();
}

void Connection::write_slice() {
    set_deadline(state_->limits.idle);
    const auto slice = asio::buffer(out_->data() + sent_, std::min(out_->size() - sent_, kSlice));
    // The text lives as long as the write, even if the connection closes meanwhile.
    asio::async_write(socket_, slice,
                      [self = shared_from_this(), text = out_](error_code error, size_t length) {
                          self->run([&] {
                              if (self->is_closed_) {
                                  return;
                              }
                              if (error) {
                                  return self->close();
                              }
                              self->sent_ += length;
                              self->response_bytes_ += length;
                              if (self->sent_ < self->out_->size()) {
                                  return self->write_slice();
                              }
                              self->clear_deadline();
                              self->out_ = nullptr;
                              std::exchange(self->then_, nullptr)();
                          });
                      });
}

void Connection::end_response() {
    drop_pieces();
    leave_place();
    if (keep_alive_) {
        read_request();
    } else {
        linger();
    }
}

void Connection::leave_place() {
    if (state_->places.leave(this)) {
        state_->trim.answer_ended(std::exchange(is_large_, false) || response_bytes_ > kLargeResponse);
    }
}

// --- the stream ---

void Connection::begin_stream(std::shared_ptr<StreamBuffer> stream) {
    if (is_closed_) {
        return stream->close();
    }
    is_awaiting_ = false;
    stream_ = std::move(stream);
    run([this] { send_stream_head(); });
}

void Connection::send_stream_head() {
    keep_alive_ = false;  // the stream ends with the connection
    const bool is_download = stream_->kind() == StreamKind::download;
    ResponseHead head = make_head(200, is_download ? "application/octet-stream" : "text/event-stream");
    head.keep_alive(false);
    if (is_head_) {
        std::exchange(stream_, nullptr)->close();
        return write(to_text(head), [this] { end_response(); });
    }
    discard_input();  // a pending read notices that the caller has gone
    write(to_text(head), [this] { pump_stream(); });
}

void Connection::pump_stream() {
    if (is_closed_ || stream_ == nullptr) {
        return;
    }
    run([this] {
        if (auto text = stream_->take()) {
            return write(std::move(text), [this] { pump_stream(); });
        }
        if (is_stream_ending_) {
            linger();
        }
    });
}

void Connection::end_stream() {
    is_stream_ending_ = true;
    if (stream_ != nullptr && !then_) {
        pump_stream();
    }
}

// --- the end ---

// If the socket were closed while the caller still sends, the caller's kernel would drop the response that it has not read yet.
// So only the sending side is shut down, and input is read and dropped for a while.
void Connection::linger() {
    error_code ignored;
    socket_.shutdown(Socket::shutdown_send, ignored);
    set_deadline(state_->limits.linger);
    if (!is_discarding_) {
        discard_input();
    }
}

void Connection::discard_input() {
    is_discarding_ = true;
    discard_buffer_.resize(kDiscardBuffer);
    socket_.async_read_some(asio::buffer(discard_buffer_), [self = shared_from_this()](error_code error,
                                                                                       size_t length) {
        self->discarded_ += length;
        if (self->is_closed_) {
            return;
        }
        const bool is_download = self->stream_ != nullptr && self->stream_->kind() == StreamKind::download;
        if (error == asio::error::eof && is_download && !self->is_stream_ending_) {
            return self->stream_->want_end();
        }
        if (error || self->discarded_ > kMaxDiscarded) {
            return self->close();
        }
        self->run([&] { self->discard_input(); });
    });
}

void Connection::close() {
    if (std::exchange(is_closed_, true)) {
        return;
    }
    const auto self = shared_from_this();
    if (stream_ != nullptr) {
        stream_->close();
    }
    error_code ignored;
    socket_.close(ignored);
    deadline_.cancel();
    state_->remove(self, caller_);
    try {
        drop_pieces();
        leave_place();
    } catch (...) {
        // Out of memory: the pieces are destroyed here, or an answer that waited for the place fails.
    }
}

void Connection::set_deadline(std::chrono::milliseconds after) {
    deadline_.expires_after(after);
    deadline_.async_wait([self = shared_from_this()](error_code error) {
        // The deadline may have been moved after this call was queued.
        if (!error && self->deadline_.expiry() <= std::chrono::steady_clock::now()) {
            self->is_awaiting_ ? self->run([&] { self->check_maker(); }) : self->close();
        }
    });
}

void Connection::clear_deadline() { deadline_.expires_at(std::chrono::steady_clock::time_point::max()); }

void serve(Connection::Socket socket, const Caller& caller, bool check_host,
           const std::shared_ptr<ServerState>& state) {
    std::shared_ptr<Connection> connection;
    try {
        connection = std::make_shared<Connection>(std::move(socket), caller, check_host, state);
        state->add(connection);
    } catch (...) {
        state->budgets->give_back(Budget::api_connections, ServerState::user_of(caller));
        throw;
    }
    try {
        connection->read_request();
    } catch (...) {
        connection->close();
        throw;
    }
}

}  // namespace ttmem::daemon::http
