// SPDX-License-Identifier: Apache-2.0
#include "base/secret_hash.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

namespace ttmem::base {
namespace {

constexpr size_t kValues = 1 << 14;
constexpr SecretHash::Secret kSecret{0x0123'4567'89ab'cdef, 0xfedc'ba98'7654'3210};

// Chance puts at most about 10 of n values into one of n buckets.
template <class Make>
size_t fullest_bucket(Make make) {
    const SecretHash hash;
    std::map<uint64_t, size_t> buckets;
    size_t fullest = 0;
    for (uint64_t i = 0; i < kValues; ++i) {
        fullest = std::max(fullest, ++buckets[hash(make(i)) % kValues]);
    }
    return fullest;
}

TEST(SecretHash, NumbersSpreadOverTheBucketsWhicheverBitsDiffer) {
    for (unsigned shift = 0; shift <= 50; shift += 5) {
        EXPECT_LE(fullest_bucket([&](uint64_t i) { return i << shift; }), 16u) << shift;
    }
    // The values that a multiplication by 0x9e3779b97f4a7c15 turns into i << 40.
    EXPECT_LE(fullest_bucket([](uint64_t i) { return (i << 40) * 0xf1de'83e1'9937'733d; }), 16u);
}

TEST(SecretHash, TextsSpreadOverTheBuckets) {
    EXPECT_LE(fullest_bucket([](uint64_t i) { return "decoder." + std::to_string(i) + "/ttnn::matmul"; }),
              16u);
    EXPECT_LE(fullest_bucket([](uint64_t i) { return std::string(i, 'x'); }), 16u);
}

TEST(SecretHash, EveryByteOfATextAndItsLengthCount) {
    const SecretHash hash(kSecret);
    const std::string text = "a name of twenty-two b";
    for (size_t i = 0; i < text.size(); ++i) {
        std::string other = text;
        other[i] = '#';
        EXPECT_NE(hash(text), hash(other)) << i;
    }
    EXPECT_NE(hash(std::string_view("a")), hash(std::string_view("a\0", 2)));
    EXPECT_EQ(hash(text), hash(std::string(text)));
}

TEST(SecretHash, TheHashDependsOnEachHalfOfTheSecret) {
    const std::string text = "name";
    EXPECT_NE(SecretHash(kSecret)(text), SecretHash({kSecret[0] + 1, kSecret[1]})(text));
    EXPECT_NE(SecretHash(kSecret)(text), SecretHash({kSecret[0], kSecret[1] + 1})(text));
    EXPECT_NE(SecretHash(kSecret)(uint64_t{7}), SecretHash({kSecret[0] + 1, kSecret[1]})(uint64_t{7}));
    EXPECT_NE(SecretHash(kSecret)(uint64_t{7}), SecretHash({kSecret[0], kSecret[1] + 1})(uint64_t{7}));
}

TEST(SecretHash, OneProcessHasOneSecret) {
    EXPECT_EQ(SecretHash()(uint64_t{7}), SecretHash()(uint64_t{7}));
    EXPECT_NE(SecretHash()(uint64_t{7}), SecretHash({0, 0})(uint64_t{7}));
}

}  // namespace
}  // namespace ttmem::base
