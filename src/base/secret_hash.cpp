// SPDX-License-Identifier: Apache-2.0
#include "base/secret_hash.hpp"

#include <sys/auxv.h>
#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace ttmem::base {

namespace {

SecretHash::Secret make_secret() {
    SecretHash::Secret secret{};
    ssize_t got = 0;
    do {
        got = getrandom(secret.data(), sizeof secret, 0);
    } while (got < 0 && errno == EINTR);
    // Where a sandbox forbids the call: the random bytes that the kernel gave this process at its start.
    if (got != static_cast<ssize_t>(sizeof secret)) {
        std::memcpy(secret.data(), reinterpret_cast<const void*>(getauxval(AT_RANDOM)), sizeof secret);
    }
    return secret;
}

const SecretHash::Secret& process_secret() {
    static const SecretHash::Secret secret = make_secret();
    return secret;
}

}  // namespace

SecretHash::SecretHash() : secret_(process_secret()) {}

uint64_t SecretHash::operator()(std::string_view text) const {
    uint64_t hash = combine(text.size(), 0);
    while (!text.empty()) {
        uint64_t word = 0;
        const size_t bytes = std::min(text.size(), sizeof word);
        std::memcpy(&word, text.data(), bytes);
        hash = combine(word, hash);
        text.remove_prefix(bytes);
    }
    return hash;
}

}  // namespace ttmem::base
