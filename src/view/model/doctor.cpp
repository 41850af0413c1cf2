// SPDX-License-Identifier: Apache-2.0
#include "view/model/doctor.hpp"

#include "view/json/json_document.hpp"

namespace ttmem::view {

void fields(auto& io, Like<Finding> auto& finding) {
    io("about", finding.about, "what was examined");
    io("state", finding.state, "`note`: it could be better");
    io("text", finding.text, "what was found");
}

void fields(auto& io, Like<DoctorView> auto& view) {
    head(io, view.origin);
    io("findings", view.findings, "what was examined, in order");
    io.derived("problem", view.has_problem(), "something does not work");
    io("next", view.next, "the next command");
    io("next_why", view.next_why, "what it does");
}

template struct JsonForm<DoctorView>;

}  // namespace ttmem::view
