// SPDX-License-Identifier: Apache-2.0
#include "sim/metal/options.hpp"

#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "base/environment.hpp"
#include "sim/metal/cluster.hpp"

namespace ttmem::sim {
namespace {

bool flag(const char* name, bool otherwise) {
    const char* value = base::environment(name);
    return value == nullptr ? otherwise : std::string_view(value) != "0";
}

std::mutex mutex;
std::optional<MetalOptions> chosen;

}  // namespace

MetalOptions metal_options_from_environment() {
    const char* name = base::environment("TTMEM_SIM_BOARD");
    const std::string_view wanted = name == nullptr ? "n150" : name;
    const Board* board = find_board(wanted);
    if (board == nullptr) {
        throw std::runtime_error("TTMEM_SIM_BOARD names the board '" + std::string(wanted) +
                                 "', which is not known");
    }
    return {.board = board,
            .system = flag("TTMEM_SIM_SYSTEM", false),
            .kernel_binaries = flag("TTMEM_SIM_KERNEL_BINARIES", false),
            .reporting = flag("TTMEM_SIM_REPORTING", true)};
}

const MetalOptions& metal_options() {
    const std::lock_guard lock(mutex);
    if (!chosen) {
        chosen = metal_options_from_environment();
    }
    return *chosen;
}

void set_metal_options(const MetalOptions& options) {
    const std::lock_guard lock(mutex);
    if (Cluster::exists() && chosen != options) {
        throw std::logic_error("the simulated host can't be changed after its first device was opened");
    }
    chosen = options;
}

}  // namespace ttmem::sim
