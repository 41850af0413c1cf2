// SPDX-License-Identifier: Apache-2.0
#include "allocator/circular_layout.hpp"

#include <algorithm>

#include "allocator/geometry.hpp"

namespace ttmem::allocator {

namespace {

constexpr uint64_t kNoCoreEnd = 0;

// The end of what lies on each core.
class CoreEnds {
public:
    // The highest end on the cores of a buffer.
    uint64_t highest(const CoreBits& cores) const {
        uint64_t end = kNoCoreEnd;
        for (size_t y = 0; y < cores.size(); ++y) {
            for (size_t x = 0; x < kColumns; ++x) {
                if ((cores[y] >> x & 1) != 0) {
                    end = std::max(end, ends_[y * kColumns + x]);
                }
            }
        }
        return end;
    }
    void raise(const CoreBits& cores, uint64_t end) {
        for (size_t y = 0; y < cores.size(); ++y) {
            for (size_t x = 0; x < kColumns; ++x) {
                if ((cores[y] >> x & 1) != 0) {
                    ends_[y * kColumns + x] = end;
                }
            }
        }
    }

private:
    static constexpr size_t kColumns = 16;

    std::array<uint64_t, 16 * kColumns> ends_{};
};

}  // namespace

std::vector<uint64_t> lay_out(std::span<const CircularBuffer> buffers, uint64_t base, uint64_t alignment) {
    CoreEnds ends;
    std::vector<uint64_t> addresses;
    for (const CircularBuffer& buffer : buffers) {
        const uint64_t address = round_up_or_most(std::max(base, ends.highest(buffer.cores)), alignment);
        addresses.push_back(address);
        ends.raise(buffer.cores, address > kMostBytes - buffer.size ? kMostBytes : address + buffer.size);
    }
    return addresses;
}

uint64_t end_of_layout(std::span<const CircularBuffer> buffers, uint64_t base, uint64_t alignment) {
    const std::vector<uint64_t> addresses = lay_out(buffers, base, alignment);
    uint64_t end = 0;
    for (size_t i = 0; i < addresses.size(); ++i) {
        const bool is_beyond = addresses[i] > kMostBytes - buffers[i].size;
        end = std::max(end, is_beyond ? kMostBytes : addresses[i] + buffers[i].size);
    }
    return end;
}

}  // namespace ttmem::allocator
