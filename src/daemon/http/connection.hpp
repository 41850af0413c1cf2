// SPDX-License-Identifier: Apache-2.0
#pragma once

// One connection: reads a request, passes it to the handler, writes the response, and repeats. Private to src/daemon/http.

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/http/response_text.hpp"
#include "daemon/http/server_state.hpp"
#include "daemon/http/stream_buffer.hpp"

namespace ttmem::daemon::http {

class Connection : public Closable, public std::enable_shared_from_this<Connection> {
public:
    using Socket = boost::asio::generic::stream_protocol::socket;

    Connection(Socket socket, Caller caller, bool check_host, std::shared_ptr<ServerState> state);

    void read_request();
    void make_later(uint64_t places, std::function<void()> make);
    void respond(Response response);
    void begin_stream(std::shared_ptr<StreamBuffer> stream);
    // Sends what the stream buffer holds.
    void pump_stream();
    // No more text will be pushed.
    void end_stream();
    // Closes at once, even during a read or write.
    void close() override;

private:
    using Parser = boost::beast::http::request_parser<boost::beast::http::empty_body>;

    void on_header(boost::system::error_code error);
    void on_request();
    void reject_malformed(boost::system::error_code error);
    void reject_method();
    void respond(ResponseHead head, Response response);
    void send_stream_head();
    void make_next_piece();
    void on_piece(std::string piece);
    void drop_pieces();
    void write(std::string text, std::function<void()> then);
    void write(SharedText text, std::function<void()> then);
    void write_slice();
    void end_response();
    void leave_place();
    void await(std::weak_ptr<const void> maker);
    void check_maker();
    template <class Step>
    void run(Step step);
    void linger();
    void discard_input();
    void set_deadline(std::chrono::milliseconds after);
    void clear_deadline();

    std::shared_ptr<ServerState> state_;
    Caller caller_;
    bool check_host_;
    Socket socket_;
    boost::asio::steady_timer deadline_;
    bool is_closed_ = false;

    // The request. The buffer may hold the beginning of the next one.
    boost::beast::flat_buffer buffer_;
    std::optional<Parser> parser_;
    bool keep_alive_ = false;
    bool is_head_ = false;

    // The response. Not more than one write is under way.
    std::shared_ptr<Pieces> pieces_;
    bool is_chunked_ = false;
    bool is_large_ = false;        // its memory goes back to the system
    uint64_t response_bytes_ = 0;  // sent so far
    SharedText out_;
    size_t sent_ = 0;
    std::function<void()> then_;

    // Who makes what is sent next; expired: it has been posted to the loop, or nobody will make it.
    std::weak_ptr<const void> maker_;
    bool is_awaiting_ = false;
    uint64_t awaited_ = 0;  // counts what was awaited

    // A stream, and the end of the connection.
    std::shared_ptr<StreamBuffer> stream_;
    bool is_stream_ending_ = false;
    bool is_discarding_ = false;
    size_t discarded_ = 0;
    std::vector<char> discard_buffer_;
};

}  // namespace ttmem::daemon::http
