// SPDX-License-Identifier: Apache-2.0
#include "base/name_pattern.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace ttmem::base {
namespace {

bool matches(const char* pattern, std::string_view name) {
    const auto parsed = NamePattern::parse(pattern);
    EXPECT_TRUE(parsed) << pattern;
    return parsed && parsed->matches(name);
}

TEST(NamePattern, APlainTextIsAPartOfTheName) {
    EXPECT_TRUE(matches("kv_cache", "decoder.3/kv_cache/0"));
    EXPECT_TRUE(matches("tensor[0]", "a tensor[0]"));
    EXPECT_TRUE(matches("/", "a/b"));
    EXPECT_FALSE(matches("KV", "kv"));
    EXPECT_TRUE(matches("", "anything"));
    EXPECT_TRUE(NamePattern().matches_all());
}

TEST(NamePattern, AGlobMatchesTheWholeName) {
    EXPECT_TRUE(matches("decoder.*/kv?", "decoder.12/attention/kv1"));
    EXPECT_FALSE(matches("decoder.*/kv?", "decoder.12/kv"));
    EXPECT_FALSE(matches("decoder.*/kv?", "my decoder.12/kv1"));
    EXPECT_TRUE(matches("*[0-3]", "layer.2"));
    EXPECT_FALSE(matches("*[!0-3]", "layer.2"));
    EXPECT_TRUE(matches("*", ""));
    EXPECT_FALSE(matches("?", ""));
}

TEST(NamePattern, ARegularExpressionMatchesAPartOfTheName) {
    EXPECT_TRUE(matches("/decoder\\.[0-9]+\\/k/", "a/decoder.12/kv"));
    EXPECT_FALSE(matches("/decoder\\.[0-9]+$/", "decoder.12/kv"));
    EXPECT_TRUE(matches("/^(decoder|encoder)\\.\\d/", "encoder.3"));
    EXPECT_FALSE(matches("/^(decoder|encoder)\\.\\d/", "my encoder.3"));
    EXPECT_TRUE(matches("/^a(b|)c?d$/", "ad"));
    EXPECT_TRUE(matches("/^a(bc)*d$/", "abcbcd"));
    EXPECT_FALSE(matches("/^a(bc)*d$/", "abcbd"));
    EXPECT_TRUE(matches("/^[^\\d\\]]+$/", "abc"));
    EXPECT_FALSE(matches("/^[^\\d\\]]+$/", "ab]c"));
    EXPECT_TRUE(matches("/^\\w+\\s\\w+$/", "a_1 b"));
    EXPECT_TRUE(matches("/^$|b/", ""));
    EXPECT_TRUE(matches("/(a*)*b/", "xb"));
}

TEST(NamePattern, AWrongExpressionIsRefusedWithTheReason) {
    const std::vector<std::pair<const char*, const char*>> wrong = {
        {"/(a/", "a ( without a )"},      {"/a)/", "a ) without a ("},
        {"/[a/", "a [ without a ]"},      {"/*a/", "nothing to repeat before *"},
        {"/a{3}/", "{ is not supported"}, {"*[a", "a [ without a ]"}};
    for (const auto& [pattern, reason] : wrong) {
        const auto parsed = NamePattern::parse(pattern);
        ASSERT_FALSE(parsed) << pattern;
        EXPECT_NE(parsed.error().text.find(reason), std::string::npos) << parsed.error().text;
    }
    EXPECT_FALSE(NamePattern::parse(std::string(300, 'a')));
}

TEST(NamePattern, NoPatternTakesLong) {
    const std::string name(20'000, 'a');
    EXPECT_FALSE(matches("/(a*)*(a|aa)*(a?a?a?a?a?a?a?a?)*b/", name));
    EXPECT_FALSE(matches("*a*a*a*a*a*a*a*a*a*b", name));
}

}  // namespace
}  // namespace ttmem::base
