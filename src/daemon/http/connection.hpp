// SPDX-License-Identifier: Apache-2.0
#pragma once

// One connection: reads a request, gives it to the handler, writes the answer, and so on. Private to src/daemon/http,
// and the one place that knows Beast.

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

#include "daemon/http/core.hpp"
#include "daemon/http/flow.hpp"

namespace ttmem::daemon::http {

class Connection : public Closable, public std::enable_shared_from_this<Connection> {
public:
    using Socket = boost::asio::generic::stream_protocol::socket;

    Connection(Socket socket, Caller caller, bool check_host, std::shared_ptr<Core> core);

    void read_request();
    void answer(Response response) { answer(std::move(response), ""); }
    void begin_stream(std::shared_ptr<Flow> flow);
    void pump();            // the flow has something
    void end_stream();      // nobody will push any more
    void close() override;  // at once, whatever is under way

private:
    using Parser = boost::beast::http::request_parser<boost::beast::http::empty_body>;

    void on_header(boost::system::error_code error);
    void on_request();
    void refuse_broken(boost::system::error_code error);
    void answer(Response response, const std::string& more_fields);
    void next_piece();
    void on_piece(std::string piece, bool has_failed);
    void write(std::string text, std::function<void()> then);
    void write_slice();
    void end_answer();
    void finish();
    void discard();
    void set_deadline(std::chrono::milliseconds after);
    void clear_deadline();

    std::shared_ptr<Core> core_;
    Caller caller_;
    bool check_host_;
    Socket socket_;
    boost::asio::steady_timer deadline_;
    bool is_closed_ = false;

    // Of the request.
    boost::beast::flat_buffer buffer_;  // may hold the beginning of the next one
    std::optional<Parser> parser_;
    bool keep_alive_ = false;
    bool is_head_ = false;

    // Of the answer.
    std::shared_ptr<Pieces> pieces_;
    bool is_chunked_ = false;
    std::string out_;
    size_t sent_ = 0;
    std::function<void()> then_;

    // Of a stream, and of the end.
    std::shared_ptr<Flow> flow_;
    bool is_stream_ending_ = false;
    bool is_discarding_ = false;
    size_t discarded_ = 0;
    std::vector<char> rubbish_;
};

}  // namespace ttmem::daemon::http
