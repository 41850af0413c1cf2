// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "sim/geometry.hpp"
#include "sim/metal/device_impl.hpp"

namespace ttmem::sim {

// The chips of the simulated host. They exist until the process ends, open or closed, so pointers to them never dangle.
class Cluster {
public:
    static Cluster& instance();
    static bool exists();

    const Board& board() const { return board_; }
    size_t size() const { return devices_.size(); }

    // Throws if the board has no such chip.
    tt::tt_metal::Device& device(int chip);

private:
    explicit Cluster(const Board& board);

    const Board& board_;
    std::vector<std::unique_ptr<tt::tt_metal::Device>> devices_;
};

}  // namespace ttmem::sim
