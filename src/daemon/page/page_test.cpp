// SPDX-License-Identifier: Apache-2.0
#include "daemon/page/page.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace ttmem::daemon {
namespace {

using testing::HasSubstr;

constexpr std::array kAssets{
    PageAsset{"/", "text/html; charset=utf-8", "<!doctype html>", false},
    PageAsset{"/assets/page-1.js", "text/javascript", "\x1f\x8b", true},
};

http::Request request(const std::string& path, http::BrowserRequest browser) {
    return {{path, {}}, {}, "", browser};
}

std::string field(const http::Response& response, const std::string& name) {
    for (const auto& [key, value] : response.fields) {
        if (key == name) {
            return value;
        }
    }
    return "";
}

TEST(Page, ANavigationToAnyViewGetsTheDocument) {
    for (const char* path : {"/", "/chip/3", "/memory/map"}) {
        const auto response = page_response(request(path, {true, true, false}), kAssets);
        ASSERT_TRUE(response) << path;
        EXPECT_EQ(response->status, 200u);
        EXPECT_EQ(response->body, "<!doctype html>");
        EXPECT_EQ(field(*response, "Cache-Control"), "no-cache");
        EXPECT_THAT(field(*response, "Content-Security-Policy"), HasSubstr("default-src 'none'"));
        EXPECT_THAT(field(*response, "Content-Security-Policy"),
                    HasSubstr("require-trusted-types-for 'script'"));
        EXPECT_THAT(field(*response, "Content-Security-Policy"), testing::Not(HasSubstr("unsafe")));
    }
}

TEST(Page, AProgramThatIsNoBrowserGetsNoDocument) {
    EXPECT_FALSE(page_response(request("/", {false, true, false}), kAssets));
    EXPECT_FALSE(page_response(request("/v1/statsu", {false, true, false}), kAssets));
}

TEST(Page, FilesAreKeptForEverAndCompressed) {
    const auto response = page_response(request("/assets/page-1.js", {false, true, false}), kAssets);
    ASSERT_TRUE(response);
    EXPECT_EQ(response->content_type, "text/javascript");
    EXPECT_EQ(field(*response, "Content-Encoding"), "gzip");
    EXPECT_THAT(field(*response, "Cache-Control"), HasSubstr("immutable"));
    EXPECT_EQ(page_response(request("/assets/page-1.js", {}), kAssets)->status, 406u);
    EXPECT_EQ(page_response(request("/assets/page-0.js", {true, true, false}), kAssets)->status, 404u);
}

TEST(Page, ABuildWithoutThePageSaysSo) {
    const auto response = page_response(request("/", {true, true, false}), {});
    ASSERT_TRUE(response);
    EXPECT_EQ(response->status, 404u);
    EXPECT_THAT(response->body, HasSubstr("built without the page"));
}

}  // namespace
}  // namespace ttmem::daemon
