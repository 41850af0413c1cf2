// SPDX-License-Identifier: Apache-2.0
#pragma once

// The view as a daemon sends it: at once, and then whenever something has changed.

#include <chrono>
#include <functional>

#include "base/error.hpp"
#include "view/view.hpp"

namespace ttmem::access {

// Gives each new view to `take`, no more often than every `interval`, until `take` says false or the descriptor `until` is
// readable. An error, with the codes of http_stream(), where no daemon runs or the one that did is gone.
base::Expected<void> follow(std::chrono::milliseconds interval,
                            const std::function<bool(const view::View&)>& take, int until);

}  // namespace ttmem::access
