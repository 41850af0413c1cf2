// SPDX-License-Identifier: Apache-2.0
#include "view/view.hpp"

#include <unistd.h>

#include <array>
#include <chrono>

#include "base/text.hpp"

namespace ttmem::view {

Origin read_here() {
    std::array<char, 256> name{};
    gethostname(name.data(), name.size() - 1);
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    const auto time_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
    return {base::printable(name.data()), static_cast<uint64_t>(time_ns), "direct"};
}

}  // namespace ttmem::view
