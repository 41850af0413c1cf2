// SPDX-License-Identifier: Apache-2.0

// A region with arbitrary content. An input is the start of the file. The first byte selects whether the rest is padded
// with zeros to the size of a region, because few inputs have that size.

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "base/text.hpp"
#include "sources/stock_region/layout.hpp"
#include "sources/stock_region/region.hpp"

namespace {

void require(bool holds, const char* what) {
    if (!holds) {
        std::fprintf(stderr, "not so: %s\n", what);
        std::abort();
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    namespace stock = ttmem::sources::stock_region;
    if (size == 0) {
        return 0;
    }
    std::vector<unsigned char> bytes(data + 1, data + size);
    if ((data[0] & 1) != 0) {
        bytes.resize(stock::layout::kRegionBytes);
    }
    const auto region = stock::parse(bytes);
    if (!region) {
        require(!region.error().text.empty(), "an error has a text");
        return 0;
    }
    require(bytes.size() == stock::layout::kRegionBytes, "a region has one size");
    require(region->version == 3 || region->version == 4, "a region has a known version");
    require(region->slots.size() <= stock::layout::kSlots, "a region has so many slots");
    size_t absent = 0;
    for (const stock::RegionSlot& slot : region->slots) {
        require(slot.pid != 0 && slot.pid <= 0x7fffffff, "a slot names a process");
        require(slot.name == ttmem::base::printable(slot.name), "a name is printable");
        for (const auto& figure : slot.requested) {
            require(!figure || *figure <= stock::kMostPlausibleBytes, "a figure is plausible");
            absent += figure ? 0u : 1u;
        }
    }
    require(absent == region->implausible, "what is absent is counted");
    return 0;
}
