// SPDX-License-Identifier: Apache-2.0
#include "sources/classic_wire/ledger_key.hpp"

#include <sys/auxv.h>
#include <sys/random.h>

#include <cerrno>
#include <cstring>

namespace ttmem::sources::classic_wire {

namespace {

LedgerKeyHash::Secret make_secret() {
    LedgerKeyHash::Secret secret{};
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

const LedgerKeyHash::Secret& process_secret() {
    static const LedgerKeyHash::Secret secret = make_secret();
    return secret;
}

}  // namespace

LedgerKeyHash::LedgerKeyHash() : secret_(process_secret()) {}

}  // namespace ttmem::sources::classic_wire
