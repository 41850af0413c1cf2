// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace ttmem::cli {

// Runs a transformer on a simulated T3000 and shows what it holds: on a terminal the dashboard, with a daemon of its own,
// elsewhere one table of its busiest step. Returns the exit code.
int run_demo(bool bytes);

}  // namespace ttmem::cli
