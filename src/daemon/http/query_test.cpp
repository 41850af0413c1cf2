// SPDX-License-Identifier: Apache-2.0
#include "daemon/http/query.hpp"

#include <gtest/gtest.h>

namespace ttmem::daemon::http {
namespace {

TEST(Query, SplitsATargetIntoPathAndParameters) {
    const auto target = parse_target("/v1/allocations?device=0&name=ttnn%3A%3Amatmul+x&empty=&flag&");
    ASSERT_TRUE(target);
    EXPECT_EQ(target->path, "/v1/allocations");
    EXPECT_EQ(target->query, (std::map<std::string, std::string>{
                                 {"device", "0"}, {"name", "ttnn::matmul x"}, {"empty", ""}, {"flag", ""}}));
}

TEST(Query, RejectsMalformedTargets) {
    for (const char* text :
         {"", "x", "?a=b", "/a?b=%", "/a?b=%4", "/a?b=%zz", "/%00", "/a?b=1&b=2", "/a?=%1"}) {
        EXPECT_FALSE(parse_target(text)) << text;
    }
}

TEST(Query, APlusInThePathStaysAPlus) { EXPECT_EQ(parse_target("/a+b")->path, "/a+b"); }

TEST(Query, NumbersAreDecimalDigitsOnly) {
    EXPECT_EQ(parse_number("18446744073709551615"), UINT64_MAX);
    for (const char* text : {"", "-1", "+1", " 1", "1 ", "0x1", "18446744073709551616", "1e3"}) {
        EXPECT_FALSE(parse_number(text)) << text;
    }
}

}  // namespace
}  // namespace ttmem::daemon::http
