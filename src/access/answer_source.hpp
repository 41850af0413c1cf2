// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where access::ask() gets its answers: the living host, or a recording that the user has named.

#include <memory>
#include <string>
#include <vector>

#include "view/questions/host.hpp"

namespace ttmem::access {

// A host that knows what it lacks, in sentences for standard error.
class NoticingHost : public view::Host {
public:
    virtual std::vector<std::string> notices() const = 0;
};

// From now on every question of this program is answered from this host.
void answer_from(std::shared_ptr<const NoticingHost> host);
// Null: the living one.
std::shared_ptr<const NoticingHost> chosen_host();

}  // namespace ttmem::access
