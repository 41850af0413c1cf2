// SPDX-License-Identifier: Apache-2.0
#include "view/model/origin.hpp"

#include <unistd.h>

#include <array>

#include "base/text.hpp"
#include "base/time.hpp"

namespace ttmem::view {

Origin read_here() {
    std::array<char, 256> name{};
    gethostname(name.data(), name.size() - 1);
    return {base::printable(name.data()), base::realtime_ns(), OriginSource::direct};
}

}  // namespace ttmem::view
