// SPDX-License-Identifier: Apache-2.0
#include "page/document.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ttmem::page {
namespace {

using testing::HasSubstr;

TEST(Document, DataAreInsideAndNoNameEndsTheirElement) {
    EXPECT_EQ(
        document_with(R"({"a":"</script><b>"})", {"<head>", "</head>"}),
        R"(<head><script type="application/json" id="ttmem-data">{"a":"\u003c/script>\u003cb>"}</script></head>)");
}

TEST(Document, ABuildWithoutThePageMakesNone) { EXPECT_EQ(document_with("{}", {}), ""); }

TEST(Document, ThePageIsWholeOrLeftOut) {
    EXPECT_EQ(sent_document().gzip.empty(), document_parts().before.empty());
    if (!sent_document().gzip.empty()) {
        EXPECT_THAT(std::string(sent_document().policy), HasSubstr("script-src 'sha256-"));
        EXPECT_THAT(document_with("{}"), HasSubstr("<!doctype html>"));
        EXPECT_THAT(document_with("{}"), testing::Not(HasSubstr("/v1/status?scan=false\" as=\"fetch")));
    }
}

}  // namespace
}  // namespace ttmem::page
