// SPDX-License-Identifier: Apache-2.0
#include "daemon/api/page_tokens.hpp"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <iterator>

#include "daemon/api/permissions.hpp"

namespace ttmem::daemon {

namespace {

constexpr size_t kRandomBytes = 16;

std::string hexadecimal(const std::array<unsigned char, kRandomBytes>& bytes) {
    static constexpr char kDigits[] = "0123456789abcdef";
    std::string text;
    for (const unsigned char byte : bytes) {
        text += kDigits[byte >> 4];
        text += kDigits[byte & 0xf];
    }
    return text;
}

}  // namespace

base::Expected<std::string> PageTokens::issue(const http::Caller& caller, uint64_t now_ns) {
    assert(caller.is_local);
    std::array<unsigned char, kRandomBytes> bytes{};
    if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
        return base::error(base::Error::Code::failed,
                           "can't make a token: the kernel gives no random numbers");
    }
    make_room(caller.uid, now_ns);
    const auto lifetime = std::chrono::nanoseconds(kLifetime).count();
    tokens_.push_back({hexadecimal(bytes), caller, now_ns + static_cast<uint64_t>(lifetime)});
    tokens_.back().owner.bearer_token.clear();
    return tokens_.back().text;
}

void PageTokens::make_room(uint32_t uid, uint64_t now_ns) {
    tokens_.remove_if([&](const IssuedToken& token) { return token.expires_ns <= now_ns; });
    const auto is_own = [&](const IssuedToken& token) { return token.owner.uid == uid; };
    if (static_cast<size_t>(std::count_if(tokens_.begin(), tokens_.end(), is_own)) >= kPerUser) {
        tokens_.erase(std::find_if(tokens_.begin(), tokens_.end(), is_own));
    }
    if (tokens_.size() >= kTotal) {
        tokens_.pop_front();
    }
}

// Compares with every token, so that the time reveals nothing about any of them.
std::optional<http::Caller> PageTokens::owner_of(const std::string& token, uint64_t now_ns) const {
    std::optional<http::Caller> owner;
    for (const IssuedToken& issued : tokens_) {
        if (is_same_secret(issued.text, token) && issued.expires_ns > now_ns) {
            owner = issued.owner;
        }
    }
    return owner;
}

}  // namespace ttmem::daemon
