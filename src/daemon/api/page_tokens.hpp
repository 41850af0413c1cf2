// SPDX-License-Identifier: Apache-2.0
#pragma once

// Tokens of the page. A user gets one over the Unix socket, where the kernel says who asks, and a browser sends it over TCP. It
// shows what that user may see. Tokens are in memory only: they end with the daemon.

#include <chrono>
#include <cstdint>
#include <list>
#include <optional>
#include <string>

#include "base/error.hpp"
#include "daemon/http/message.hpp"

namespace ttmem::daemon {

class PageTokens {
public:
    static constexpr std::chrono::hours kLifetime{12};
    // A user's oldest token makes room for the newest, then the oldest of all users.
    static constexpr size_t kPerUser = 16;
    static constexpr size_t kTotal = 1024;

    // `now_ns` is a time of the monotonic clock.
    base::Expected<std::string> issue(const http::Caller& caller, uint64_t now_ns);
    // Whose token it is; nothing if it is unknown or has expired.
    std::optional<http::Caller> owner_of(const std::string& token, uint64_t now_ns) const;
    size_t size() const { return tokens_.size(); }

private:
    struct IssuedToken {
        std::string text;
        http::Caller owner;
        uint64_t expires_ns = 0;
    };

    void make_room(uint32_t uid, uint64_t now_ns);

    std::list<IssuedToken> tokens_;  // the oldest first
};

}  // namespace ttmem::daemon
