// SPDX-License-Identifier: Apache-2.0
#pragma once

// The host as this process can read it without a daemon: the segments that this user may read, and no history.

#include <string>
#include <vector>

#include "access/answer_source.hpp"

namespace ttmem::access {

class DirectHost : public NoticingHost {
public:
    // Scans for the current processes.
    DirectHost();

    view::Origin origin() const override { return view::read_here(); }
    census::Census census() const override { return census_; }

    // One line per process whose segment can't be read.
    std::vector<std::string> notices() const override;

private:
    census::Census census_;
};

}  // namespace ttmem::access
