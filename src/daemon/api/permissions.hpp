// SPDX-License-Identifier: Apache-2.0
#pragma once

// What an asker may see. Totals are for everybody, because a user who waits for a chip must know which process has it. The details
// of a process (its allocations, their names, why something failed) are for its user, for root, for members of the group ttmem,
// and over TCP for askers with the token of the host. The token of a user (page_tokens.hpp) shows what that user may see.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "daemon/http/message.hpp"

namespace ttmem::daemon {

struct AccessRules {
    std::string token;              // empty: there is none, and TCP shows only totals
    std::optional<uint32_t> group;  // whose members see all
};

// The group "ttmem", where this host has it.
std::optional<uint32_t> ttmem_group();

// The first line of a file that only its owner may read.
base::Expected<std::string> read_token(const std::string& path);

// Takes the same time wherever the texts differ, so that the time reveals nothing about the secret.
bool is_same_secret(std::string_view a, std::string_view b);

class Permissions {
public:
    // An error where a token was sent and is not the right one.
    static base::Expected<Permissions> of(const http::Caller& caller, const AccessRules& rules);
    static Permissions totals_only() { return {false, std::nullopt}; }

    // Of all processes; of any process at all; of the processes of this user.
    bool may_see_all() const { return sees_all_; }
    bool may_see_details() const { return sees_all_ || uid_.has_value(); }
    bool may_see(uint32_t uid) const { return sees_all_ || uid_ == uid; }

private:
    Permissions(bool sees_all, std::optional<uint32_t> uid) : sees_all_(sees_all), uid_(uid) {}

    bool sees_all_ = false;
    std::optional<uint32_t> uid_;
};

}  // namespace ttmem::daemon
