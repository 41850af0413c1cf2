// SPDX-License-Identifier: Apache-2.0
#pragma once

// Option values that the command line and the configuration file share.

#include "daemon/options.hpp"

namespace ttmem::daemon {

base::Expected<void> set_listen(DaemonOptions& options, const std::string& text);
base::Expected<void> set_log_events(DaemonOptions& options, const std::string& text);

}  // namespace ttmem::daemon
