// SPDX-License-Identifier: Apache-2.0
#include "observer/laid_out.hpp"

#include <cstddef>
#include <iterator>

namespace ttmem::observer {

namespace {

bool overlap(const ttmem_cores& a, const ttmem_cores& b) {
    for (size_t y = 0; y < std::size(a.row); ++y) {
        if ((a.row[y] & b.row[y]) != 0) {
            return true;
        }
    }
    return false;
}

}  // namespace

ttmem_cores mask_of(const std::vector<CoreRectangle>& ranges) {
    ttmem_cores mask{};
    for (const auto& [first, last] : ranges) {
        ttmem_cores_add(&mask, static_cast<unsigned>(first.x), static_cast<unsigned>(first.y),
                        static_cast<unsigned>(last.x), static_cast<unsigned>(last.y));
    }
    return mask;
}

std::vector<LaidOutBuffer> buffers_of(const std::vector<MarkedAddress>& marks) {
    std::vector<LaidOutBuffer> buffers;
    for (const MarkedAddress& mark : marks) {
        const ttmem_cores cores = mask_of({mark.cores});
        if (buffers.empty() || buffers.back().address != mark.address || buffers.back().size != mark.size) {
            buffers.push_back({.address = mark.address, .size = mark.size, .cores = cores});
            continue;
        }
        LaidOutBuffer& last = buffers.back();
        last.has_known_cores = last.has_known_cores && !overlap(last.cores, cores);
        for (size_t y = 0; y < std::size(cores.row); ++y) {
            last.cores.row[y] = static_cast<uint16_t>(last.cores.row[y] | cores.row[y]);
        }
    }
    return buffers;
}

}  // namespace ttmem::observer
