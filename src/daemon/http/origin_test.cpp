// SPDX-License-Identifier: Apache-2.0
#include "daemon/http/origin.hpp"

#include <gtest/gtest.h>

namespace ttmem::daemon::http {
namespace {

RequestOrigin of_origin(std::string_view origin) { return origin_of({origin, "localhost:8000", "", "", ""}); }
RequestOrigin of_site(std::string_view site, std::string_view mode = "cors",
                      std::string_view dest = "empty") {
    return origin_of({"", "localhost:8000", site, mode, dest});
}

TEST(RequestOrigin, OriginMustBeTheHostOfTheRequestWithItsPort) {
    EXPECT_EQ(of_origin(""), RequestOrigin::own) << "no browser, or a navigation";
    EXPECT_EQ(of_origin("http://localhost:8000"), RequestOrigin::own);
    EXPECT_EQ(of_origin("https://LOCALHOST:8000"), RequestOrigin::own);
    for (const char* origin :
         {"http://localhost", "http://localhost:8001", "http://evil.example", "null", "ftp://localhost:8000",
          "localhost:8000", "http://localhost:8000.evil.example"}) {
        EXPECT_EQ(of_origin(origin), RequestOrigin::foreign) << origin;
    }
}

TEST(RequestOrigin, AnotherSiteMayLinkToThePageAndNotFetch) {
    EXPECT_EQ(of_site("same-origin"), RequestOrigin::own);
    EXPECT_EQ(of_site("none", "navigate", "document"), RequestOrigin::own);
    for (const char* site : {"cross-site", "same-site", "anything"}) {
        EXPECT_EQ(of_site(site), RequestOrigin::foreign) << site;
        EXPECT_EQ(of_site(site, "no-cors", "script"), RequestOrigin::foreign) << site;
        EXPECT_EQ(of_site(site, "navigate", "iframe"), RequestOrigin::foreign) << site;
        EXPECT_EQ(of_site(site, "navigate", "document"), RequestOrigin::foreign_navigation) << site;
    }
}

}  // namespace
}  // namespace ttmem::daemon::http
