// SPDX-License-Identifier: Apache-2.0
#include "daemon/http/response_text.hpp"

#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/http/chunk_encode.hpp>
#include <boost/beast/http/serializer.hpp>
#include <cassert>

namespace ttmem::daemon::http {

namespace beast = boost::beast;
using beast::http::field;

ResponseHead make_head(unsigned status, const std::string& content_type) {
    ResponseHead head(static_cast<beast::http::status>(status), 11);
    head.set(field::server, "ttmemd");
    head.set(field::content_type, content_type);
    head.set(field::cache_control, "no-store");
    head.set("X-Content-Type-Options", "nosniff");
    head.set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'");
    head.set("Cross-Origin-Opener-Policy", "same-origin");
    head.set("Cross-Origin-Resource-Policy", "same-origin");
    head.set("Referrer-Policy", "no-referrer");
    return head;
}

std::string to_text(const ResponseHead& head) {
    beast::http::response_serializer<beast::http::empty_body> serializer(head);
    serializer.split(true);  // the head alone, without the last chunk of an empty body
    std::string text;
    boost::system::error_code error;
    serializer.next(error, [&](boost::system::error_code& /*error*/, const auto& buffers) {
        text = beast::buffers_to_string(buffers);
    });
    assert(!error && text.ends_with("\r\n\r\n"));
    return text;
}

std::string to_chunk(const std::string& piece) {
    assert(!piece.empty());
    return beast::buffers_to_string(beast::http::make_chunk(boost::asio::buffer(piece)));
}

std::string last_chunk() { return beast::buffers_to_string(beast::http::make_chunk_last()); }

}  // namespace ttmem::daemon::http
