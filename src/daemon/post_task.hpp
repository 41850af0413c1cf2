// SPDX-License-Identifier: Apache-2.0
#pragma once

// Runs a task later, on behalf of a user. In the daemon this is FairWorkers::post(); a test may run tasks on its loop.

#include <functional>

#include "daemon/fair_workers.hpp"

namespace ttmem::daemon {

using PostTask = std::function<void(User, FairWorkers::Task)>;

}  // namespace ttmem::daemon
