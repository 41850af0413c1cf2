// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "census/post_mortem.hpp"
#include "view/json/json_fields.hpp"

namespace ttmem::view {

void fields(auto& io, Like<census::PostMortemSummary> auto& summary) {
    io("died_ns", summary.died_ns, "when it died, since the epoch");
    io("ending", summary.ending,
       "how it ended, as the kernel reports it after its parent has waited for it; `exec`: it executes "
       "another program");
    io("exit_code", summary.exit_code, "its exit code; null: no `exit`");
    io("signal", summary.signal, "the signal that ended it; null: no `signal`");
    io("exact", summary.exact, "nothing is missing and nothing is in doubt");
    io("process", summary.process, "the process, with what it held");
    io("allocation_count", summary.allocations, "live when it died, also those that add no bytes");
    io("failure_count", summary.failures, "failures since it started");
    io("in_flight_count", summary.in_flight, "threads with an event in doubt");
}

}  // namespace ttmem::view
