// SPDX-License-Identifier: Apache-2.0
#include "sources/classic_wire/ledger_key.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

namespace ttmem::sources::classic_wire {
namespace {

using segment::KeyedClass;

constexpr size_t kKeys = 1 << 14;
constexpr LedgerKeyHash::Secret kSecret{0x0123'4567'89ab'cdef, 0xfedc'ba98'7654'3210};

// A hash without a secret. Whoever knows it can make keys with one hash.
uint64_t unseeded_hash(const LedgerKey& key) {
    uint64_t mixed =
        key.id ^ key.size << 20 ^ uint64_t { key.set } << 56 ^ static_cast<uint64_t>(key.of) << 54;
    mixed *= 0x9e37'79b9'7f4a'7c15;
    return mixed ^ mixed >> 32;
}

// Circular buffers whose size and id cancel out above.
std::vector<LedgerKey> keys_with_one_unseeded_hash() {
    std::vector<LedgerKey> keys;
    for (uint64_t i = 0; i < kKeys; ++i) {
        keys.push_back({0x1234 ^ i << 20, i, 3, KeyedClass::cb});
    }
    return keys;
}

// Chance puts at most about 10 of n keys into one of n buckets.
size_t fullest_bucket(const LedgerKeyHash& hash, const std::vector<LedgerKey>& keys) {
    std::map<uint64_t, size_t> buckets;
    size_t fullest = 0;
    for (const LedgerKey& key : keys) {
        fullest = std::max(fullest, ++buckets[hash(key) % kKeys]);
    }
    return fullest;
}

TEST(LedgerKeyHash, KeysMadeForAnUnseededHashSpreadOverTheBuckets) {
    const auto keys = keys_with_one_unseeded_hash();
    std::set<uint64_t> unseeded;
    std::set<uint64_t> seeded;
    const LedgerKeyHash hash;
    for (const LedgerKey& key : keys) {
        unseeded.insert(unseeded_hash(key));
        seeded.insert(hash(key));
    }
    EXPECT_EQ(unseeded.size(), 1u);
    EXPECT_EQ(seeded.size(), kKeys);
    EXPECT_LE(fullest_bucket(hash, keys), 16u);
}

TEST(LedgerKeyHash, RegularKeysSpreadOverTheBucketsWhicheverBitsDiffer) {
    for (unsigned shift = 0; shift <= 50; shift += 5) {
        std::vector<LedgerKey> buffers;
        std::vector<LedgerKey> circular_buffers;
        for (uint64_t i = 0; i < kKeys; ++i) {
            buffers.push_back({i << shift, 0, 0, KeyedClass::buffer});
            circular_buffers.push_back({7, i << shift, 0, KeyedClass::cb});
        }
        EXPECT_LE(fullest_bucket(LedgerKeyHash(), buffers), 16u) << shift;
        EXPECT_LE(fullest_bucket(LedgerKeyHash(), circular_buffers), 16u) << shift;
    }
}

TEST(LedgerKeyHash, EveryPartOfAKeyCounts) {
    const LedgerKeyHash hash(kSecret);
    const LedgerKey key{1, 2, 3, KeyedClass::cb};
    EXPECT_NE(hash(key), hash({2, 2, 3, KeyedClass::cb}));
    EXPECT_NE(hash(key), hash({1, 3, 3, KeyedClass::cb}));
    EXPECT_NE(hash(key), hash({1, 2, 4, KeyedClass::cb}));
    EXPECT_NE(hash(key), hash({1, 2, 3, KeyedClass::kernel}));
    EXPECT_EQ(hash(key), hash(LedgerKey(key)));
}

}  // namespace
}  // namespace ttmem::sources::classic_wire
