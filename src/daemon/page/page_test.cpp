// SPDX-License-Identifier: Apache-2.0
#include "daemon/page/page.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace ttmem::daemon {
namespace {

using testing::HasSubstr;

constexpr page::SentDocument kDocument{"\x1f\x8b", "default-src 'none'; script-src 'sha256-1'"};

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
        const auto response = page_response(request(path, {true, true, false}), kDocument);
        ASSERT_TRUE(response) << path;
        EXPECT_EQ(response->status, 200u);
        EXPECT_EQ(response->body, kDocument.gzip);
        EXPECT_EQ(field(*response, "Content-Encoding"), "gzip");
        EXPECT_EQ(field(*response, "Cache-Control"), "no-cache");
        EXPECT_EQ(field(*response, "Content-Security-Policy"), kDocument.policy);
    }
    EXPECT_EQ(page_response(request("/", {true, false, false}), kDocument)->status, 406u);
}

TEST(Page, OnlyItsOwnScriptRuns) {
    const std::string policy(page::sent_document().policy);
    if (policy.empty()) {
        GTEST_SKIP() << "built without the page";
    }
    EXPECT_THAT(policy, HasSubstr("default-src 'none'"));
    EXPECT_THAT(policy, HasSubstr("require-trusted-types-for 'script'"));
    EXPECT_THAT(policy, HasSubstr("frame-ancestors 'none'"));
    EXPECT_THAT(policy, testing::Not(HasSubstr("unsafe")));
}

TEST(Page, AProgramThatIsNoBrowserGetsNoDocument) {
    EXPECT_FALSE(page_response(request("/", {false, true, false}), kDocument));
    EXPECT_FALSE(page_response(request("/v1/statsu", {false, true, false}), kDocument));
}

TEST(Page, ABuildWithoutThePageSaysSo) {
    const auto response = page_response(request("/", {true, true, false}), {});
    ASSERT_TRUE(response);
    EXPECT_EQ(response->status, 404u);
    EXPECT_THAT(response->body, HasSubstr("built without the page"));
}

}  // namespace
}  // namespace ttmem::daemon
