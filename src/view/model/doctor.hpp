// SPDX-License-Identifier: Apache-2.0
#pragma once

// What 'ttmem doctor' has found on a host, and what to do next.

#include <string>
#include <vector>

#include "view/json/json.hpp"
#include "view/model/origin.hpp"

namespace ttmem::view {

enum class FindingState : uint8_t {
    ok,
    note,     // it could be better
    problem,  // something does not work
};
constexpr auto enum_names(FindingState /*of*/) {
    return std::to_array<std::string_view>({"ok", "note", "problem"});
}

struct Finding {
    std::string about;  // "driver"
    FindingState state = FindingState::ok;
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

extern template struct JsonForm<DoctorView>;

}  // namespace ttmem::view
