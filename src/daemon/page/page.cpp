// SPDX-License-Identifier: Apache-2.0
#include "daemon/page/page.hpp"

#include <algorithm>
#include <string>

namespace ttmem::daemon {

using http::Response;

namespace {

constexpr char kDocument[] = "/";
constexpr char kFolder[] = "/assets/";

// Scripts and styles come from this daemon only, and no text becomes a script.
constexpr char kPolicy[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src "
    "'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
    "trusted-types 'none'";

// The name of an asset contains the hash of its content.
constexpr char kForever[] = "public, max-age=31536000, immutable";

const PageAsset* find(std::span<const PageAsset> assets, std::string_view path) {
    const auto found = std::find_if(assets.begin(), assets.end(),
                                    [&](const PageAsset& asset) { return asset.path == path; });
    return found == assets.end() ? nullptr : &*found;
}

Response left_out() {
    return Response::error(
        404,
        "this ttmemd was built without the page: npm could not be reached during the build "
        "(build it again where it can, or use 'ttmem top')");
}

}  // namespace

std::optional<Response> page_response(const http::Request& request, std::span<const PageAsset> assets) {
    const std::string& path = request.target.path;
    const bool is_file = path.starts_with(kFolder);
    if (!is_file && !request.browser.wants_document) {
        return std::nullopt;
    }
    if (assets.empty()) {
        return left_out();
    }
    const PageAsset* const asset = find(assets, is_file ? std::string_view(path) : kDocument);
    if (asset == nullptr) {
        return Response::error(404, "no such file of the page: " + path + " (reload the page)");
    }
    if (asset->is_gzip && !request.browser.accepts_gzip) {
        return Response::error(406, "files of the page are compressed: send 'Accept-Encoding: gzip'");
    }
    Response response;
    response.content_type = asset->content_type;
    response.body = asset->bytes;
    response.fields.emplace_back("Cache-Control", is_file ? kForever : "no-cache");
    response.fields.emplace_back("Content-Security-Policy", kPolicy);
    if (asset->is_gzip) {
        response.fields.emplace_back("Content-Encoding", "gzip");
        response.fields.emplace_back("Vary", "Accept-Encoding");
    }
    return response;
}

}  // namespace ttmem::daemon
