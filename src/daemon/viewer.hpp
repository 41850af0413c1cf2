// SPDX-License-Identifier: Apache-2.0
#pragma once

// Who may see what. Totals are for everybody: whoever waits for a chip must know who has it. The details of a process (what it
// allocated, under which names, why something failed) are for its user, for root, for members of the group ttmem, and over
// TCP for who has the token.

#include <cstdint>
#include <optional>
#include <string>

#include "base/error.hpp"
#include "census/census.hpp"
#include "daemon/http/message.hpp"

namespace ttmem::daemon {

struct AccessRules {
    std::string token;              // empty: there is none, and TCP shows totals alone
    std::optional<uint32_t> group;  // of those who see all
};

// The group "ttmem", where this host has it.
std::optional<uint32_t> ttmem_group();

// The first line of a file that nobody but its owner may read.
base::Expected<std::string> read_token(const std::string& path);

class Viewer {
public:
    // An error where a token was sent and is not the right one.
    static base::Expected<Viewer> of(const http::Caller& caller, const AccessRules& rules);

    bool sees_all() const { return sees_all_; }
    bool sees_anybody() const { return sees_all_ || uid_.has_value(); }
    bool sees(uint32_t uid) const { return sees_all_ || uid_ == uid; }

    // Without the processes of which this viewer sees totals alone.
    census::Census visible(census::Census census) const;

private:
    Viewer(bool sees_all, std::optional<uint32_t> uid) : sees_all_(sees_all), uid_(uid) {}

    bool sees_all_ = false;
    std::optional<uint32_t> uid_;
};

}  // namespace ttmem::daemon
