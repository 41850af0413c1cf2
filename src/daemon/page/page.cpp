// SPDX-License-Identifier: Apache-2.0
#include "daemon/page/page.hpp"

namespace ttmem::daemon {

using http::Response;

namespace {

Response left_out() {
    return Response::error(
        view::ApiError::not_found,
        "this ttmemd was built without the page: npm could not be reached during the build "
        "(build it again where it can, or use 'ttmem top')");
}
}  // namespace

std::optional<Response> page_response(const http::Request& request, const page::SentDocument& document) {
    if (!request.browser.wants_document) {
        return std::nullopt;
    }
    if (document.gzip.empty()) {
        return left_out();
    }
    if (!request.browser.accepts_gzip) {
        return Response::error(view::ApiError::needs_gzip,
                               "the page is compressed: send 'Accept-Encoding: gzip'");
    }
    Response response;
    response.content_type = "text/html; charset=utf-8";
    response.body = document.gzip;
    response.fields.emplace_back("Cache-Control", "no-cache");
    response.fields.emplace_back("Content-Security-Policy", document.policy);
    response.fields.emplace_back("Content-Encoding", "gzip");
    response.fields.emplace_back("Vary", "Accept-Encoding");
    return response;
}

}  // namespace ttmem::daemon
