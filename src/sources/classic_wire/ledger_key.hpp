// SPDX-License-Identifier: Apache-2.0
#pragma once

// By what a message names an allocation, and the hash of that. Clients choose the keys, so the hash depends on a secret.

#include <cstdint>

#include "base/secret_hash.hpp"
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
    using Secret = base::SecretHash::Secret;

    LedgerKeyHash() = default;
    explicit LedgerKeyHash(const Secret& secret) : hash_(secret) {}

    uint64_t operator()(const LedgerKey& key) const {
        const uint64_t rest = uint64_t{key.set} << 8 | static_cast<uint64_t>(key.of);
        return hash_.combine(rest, hash_.combine(key.id, key.size));
    }

private:
    base::SecretHash hash_;
};

}  // namespace ttmem::sources::classic_wire
