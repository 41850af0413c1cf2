// SPDX-License-Identifier: Apache-2.0
#pragma once

// Hashes of what other processes chose: keys, ids, names. They depend on a secret, so nobody can make values that share a bucket.

#include <array>
#include <cstdint>
#include <string_view>

namespace ttmem::base {

class SecretHash {
public:
    using Secret = std::array<uint64_t, 2>;

    // With the secret of this process, which the kernel's random numbers give.
    SecretHash();
    explicit SecretHash(const Secret& secret) : secret_(secret) {}

    // Both factors depend on the secret, so no choice of values makes a factor 0 or known.
    uint64_t combine(uint64_t a, uint64_t b) const {
        const Product product = Product{a ^ secret_[0]} * (b ^ secret_[1]);
        return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
    }

    uint64_t operator()(uint64_t value) const { return combine(combine(value, 0), 0); }
    uint64_t operator()(std::string_view text) const;

private:
    __extension__ using Product = unsigned __int128;

    Secret secret_;
};

}  // namespace ttmem::base
