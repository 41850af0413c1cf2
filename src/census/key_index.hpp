// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/secret_hash.hpp"

namespace ttmem::census {

// Numbers keys in the order of their first use. Open addressing keeps a million lookups within milliseconds. The
// number of keys is bounded and their hash has a secret, because they come from data that other processes wrote.
class KeyIndex {
public:
    static constexpr size_t kNoRoom = SIZE_MAX;

    explicit KeyIndex(size_t most) : most_(most) { assert(most_ < kEmpty); }

    // Returns kNoRoom for a new key beyond the bound.
    size_t of(uint64_t key) {
        if (key == last_key_ && last_ != kNoRoom) {
            return last_;  // neighbours in a ledger often have the same key
        }
        last_key_ = key;
        return last_ = find(key);
    }

    const std::vector<uint64_t>& keys() const { return keys_; }

private:
    static constexpr uint32_t kEmpty = UINT32_MAX;

    size_t find(uint64_t key) {
        const size_t mask = places_.size() - 1;
        for (size_t i = hash_(key) & mask;; i = (i + 1) & mask) {
            if (places_[i] == kEmpty) {
                return add(key, i);
            }
            if (keys_[places_[i]] == key) {
                return places_[i];
            }
        }
    }

    size_t add(uint64_t key, size_t place) {
        if (keys_.size() == most_) {
            return kNoRoom;
        }
        assert(places_[place] == kEmpty);
        places_[place] = static_cast<uint32_t>(keys_.size());
        keys_.push_back(key);
        if (keys_.size() * 2 > places_.size()) {
            grow();
        }
        // At least one place is empty, so that a search ends.
        assert(keys_.size() <= most_ && keys_.size() * 2 <= places_.size());
        return keys_.size() - 1;
    }

    void grow() {
        places_.assign(places_.size() * 2, kEmpty);
        const size_t mask = places_.size() - 1;
        for (uint32_t number = 0; number < keys_.size(); ++number) {
            size_t i = hash_(keys_[number]) & mask;
            while (places_[i] != kEmpty) {
                i = (i + 1) & mask;
            }
            places_[i] = number;
        }
    }

    size_t most_;
    base::SecretHash hash_;
    std::vector<uint64_t> keys_;
    // The size is a power of two, and at most half of the places are used.
    std::vector<uint32_t> places_ = std::vector<uint32_t>(64, kEmpty);
    uint64_t last_key_ = 0;
    size_t last_ = kNoRoom;
};

}  // namespace ttmem::census
