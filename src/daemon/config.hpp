// SPDX-License-Identifier: Apache-2.0
#pragma once

// The values that have one spelling, on the command line and in the file.

#include "daemon/options.hpp"

namespace ttmem::daemon {

base::Expected<void> set_listen(Options& options, const std::string& text);
base::Expected<void> set_log_events(Options& options, const std::string& text);

}  // namespace ttmem::daemon
