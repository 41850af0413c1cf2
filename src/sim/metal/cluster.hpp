// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "sim/geometry.hpp"
#include "sim/metal/device_impl.hpp"

namespace ttmem::sim {

// The chips of the simulated host. They stay until the process ends, open or closed, so that a pointer to one never
// dangles.
class Cluster {
public:
    static Cluster& instance();
    [[nodiscard]] static bool exists();

    [[nodiscard]] const Board& board() const { return board_; }
    [[nodiscard]] std::size_t size() const { return devices_.size(); }

    // Throws where the board has no such chip.
    [[nodiscard]] tt::tt_metal::Device& device(int chip);

private:
    explicit Cluster(const Board& board);

    const Board& board_;
    std::vector<std::unique_ptr<tt::tt_metal::Device>> devices_;
};

}  // namespace ttmem::sim
