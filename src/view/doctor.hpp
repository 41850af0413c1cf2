// SPDX-License-Identifier: Apache-2.0
#pragma once

// What 'ttmem doctor' has found on a host, and what to do next.

#include <string>
#include <vector>

#include "view/table.hpp"
#include "view/view.hpp"

namespace ttmem::view {

struct Finding {
    std::string about;  // "driver"
    std::string state;  // "ok", "note": it could be more, "problem": something does not work
    std::string text;

    bool operator==(const Finding&) const = default;
};

struct DoctorView {
    Origin origin;
    std::vector<Finding> findings;
    std::string next;      // the one command to go on with
    std::string next_why;  // what it is good for

    bool has_problem() const;
    bool operator==(const DoctorView&) const = default;
};

std::string doctor_text(const DoctorView& view, const Style& style);
std::string to_json(const DoctorView& view);

}  // namespace ttmem::view
