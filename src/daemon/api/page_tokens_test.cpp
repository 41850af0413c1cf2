// SPDX-License-Identifier: Apache-2.0
#include "daemon/api/page_tokens.hpp"

#include <gtest/gtest.h>

#include <set>

namespace ttmem::daemon {
namespace {

http::Caller user(uint32_t uid) { return {true, uid, {uid}, ""}; }

TEST(PageTokens, ATokenBelongsToTheUserWhoAskedForIt) {
    PageTokens tokens;
    const std::string mine = *tokens.issue(user(1000), 1);
    const std::string other = *tokens.issue(user(1001), 1);
    EXPECT_EQ(tokens.owner_of(mine, 2)->uid, 1000u);
    EXPECT_EQ(tokens.owner_of(other, 2)->uid, 1001u);
    EXPECT_FALSE(tokens.owner_of("", 2));
    EXPECT_FALSE(tokens.owner_of(mine.substr(1), 2));
    EXPECT_EQ(mine.size(), 32u);
}

TEST(PageTokens, ATokenExpires) {
    PageTokens tokens;
    const std::string token = *tokens.issue(user(1000), 1);
    const auto lifetime = static_cast<uint64_t>(std::chrono::nanoseconds(PageTokens::kLifetime).count());
    EXPECT_TRUE(tokens.owner_of(token, lifetime));
    EXPECT_FALSE(tokens.owner_of(token, 1 + lifetime));
    ASSERT_TRUE(tokens.issue(user(1000), 1 + lifetime));
    EXPECT_EQ(tokens.size(), 1u) << "the expired one is dropped";
}

TEST(PageTokens, TheOldestOfAUserMakesRoom) {
    PageTokens tokens;
    const std::string other = *tokens.issue(user(1), 1);
    const std::string first = *tokens.issue(user(2), 1);
    std::set<std::string> all;
    for (size_t i = 0; i < PageTokens::kPerUser; ++i) {
        all.insert(*tokens.issue(user(2), 1));
    }
    EXPECT_EQ(all.size(), PageTokens::kPerUser);
    EXPECT_FALSE(tokens.owner_of(first, 2));
    EXPECT_TRUE(tokens.owner_of(other, 2));
    EXPECT_EQ(tokens.size(), 1 + PageTokens::kPerUser);
}

TEST(PageTokens, ThereIsABoundOverAllUsers) {
    PageTokens tokens;
    for (uint32_t uid = 0; uid < PageTokens::kTotal + 5; ++uid) {
        ASSERT_TRUE(tokens.issue(user(uid), 1));
    }
    EXPECT_EQ(tokens.size(), PageTokens::kTotal);
}

}  // namespace
}  // namespace ttmem::daemon
