// SPDX-License-Identifier: Apache-2.0
#include "base/nearest.hpp"

#include <gtest/gtest.h>

namespace ttmem::base {
namespace {

const std::vector<std::string> kWords = {"used", "requested", "age", "address", "name"};

TEST(Nearest, FindsAMisspeltWord) {
    EXPECT_EQ(nearest("aeg", kWords), "age");
    EXPECT_EQ(nearest("adress", kWords), "address");
    EXPECT_EQ(nearest("request", kWords), "requested");
    EXPECT_EQ(nearest("names", kWords), "name");
}

TEST(Nearest, SuggestsNothingForAWordThatIsTooDifferent) {
    EXPECT_EQ(nearest("colour", kWords), std::nullopt);
    EXPECT_EQ(nearest("", kWords), std::nullopt);
    EXPECT_EQ(nearest("x", kWords), std::nullopt);
    EXPECT_EQ(nearest(std::string(100'000, 'a'), kWords), std::nullopt);
    EXPECT_EQ(nearest("age", {}), std::nullopt);
}

}  // namespace
}  // namespace ttmem::base
