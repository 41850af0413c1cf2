// SPDX-License-Identifier: Apache-2.0
#pragma once

// By what a message names an allocation, and the hash of that. Clients choose the keys, so the hash depends on a secret: nobody
// can make keys that share a bucket.

#include <array>
#include <cstdint>

#include "segment/keyed_rules.hpp"

namespace ttmem::sources::classic_wire {

struct LedgerKey {
    uint64_t id = 0;
    uint64_t size = 0;  // circular buffers only: a free names the size too
    uint8_t set = 0;
    segment::KeyedClass of = segment::KeyedClass::buffer;

    bool operator==(const LedgerKey&) const = default;
};

class LedgerKeyHash {
public:
    using Secret = std::array<uint64_t, 2>;

    // With the secret of this process, which the kernel's random numbers give.
    LedgerKeyHash();
    explicit LedgerKeyHash(const Secret& secret) : secret_(secret) {}

    // Two rounds. In each, both factors depend on the secret, so no choice of a key makes a factor 0 or known.
    uint64_t operator()(const LedgerKey& key) const {
        const uint64_t rest = uint64_t{key.set} << 8 | static_cast<uint64_t>(key.of);
        const uint64_t first = fold(key.id ^ secret_[0], key.size ^ secret_[1]);
        return fold(first ^ secret_[1], rest ^ secret_[0]);
    }

private:
    __extension__ using Product = unsigned __int128;
    static uint64_t fold(uint64_t a, uint64_t b) {
        const Product product = Product{a} * b;
        return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
    }

    Secret secret_;
};

}  // namespace ttmem::sources::classic_wire
