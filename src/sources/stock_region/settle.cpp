// SPDX-License-Identifier: Apache-2.0
#include "sources/stock_region/settle.hpp"

#include <cassert>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>

namespace ttmem::sources::stock_region {

using base::Error;
using layout::SlotFigures;

namespace {

// Larger than any figure that the parser accepts.
constexpr uint64_t kUnsettled = std::numeric_limits<uint64_t>::max();

// The figures that are used. The one of circular buffers is meaningless, and the time changes with every update.
constexpr uint64_t SlotFigures::*kFigures[] = {&SlotFigures::dram, &SlotFigures::l1, &SlotFigures::l1_small,
                                               &SlotFigures::trace};

template <class Layout>
std::optional<Layout> read(const ReadAt& read_at, size_t offset) {
    std::array<unsigned char, sizeof(Layout)> bytes;
    if (!read_at(bytes, offset)) {
        return std::nullopt;
    }
    Layout layout;
    std::memcpy(&layout, bytes.data(), sizeof layout);
    return layout;
}

bool agree(const layout::SlotLayout& a, const layout::SlotLayout& b) {
    bool same = a.pid == b.pid;
    for (const auto figure : kFigures) {
        same = same && a.figures.*figure == b.figures.*figure;
    }
    return same;
}

// Combines two reads that differ: a changed pid frees the slot, and a changed figure is unsettled.
layout::SlotLayout common(const layout::SlotLayout& before, layout::SlotLayout after) {
    if (before.pid != after.pid) {
        after.pid = 0;
    }
    for (const auto figure : kFigures) {
        if (before.figures.*figure != after.figures.*figure) {
            after.figures.*figure = kUnsettled;
        }
    }
    return after;
}

std::optional<layout::SlotLayout> settle(const ReadAt& read_at, size_t number, layout::SlotLayout before,
                                         layout::SlotLayout after) {
    assert(number < layout::kSlots);
    const size_t offset = offsetof(layout::RegionLayout, slots) + number * sizeof(layout::SlotLayout);
    for (size_t reads = 2; !agree(before, after) && reads < kMostReadsOfSlot; ++reads) {
        const auto next = read<layout::SlotLayout>(read_at, offset);
        if (!next) {
            return std::nullopt;
        }
        before = after;
        after = *next;
    }
    return common(before, after);
}

tl::unexpected<Error> became_shorter() {
    return base::error(Error::Code::refused, "became shorter while it was read");
}

}  // namespace

base::Expected<Copy> copy_settled(const ReadAt& read_at) {
    const auto before = read<layout::RegionLayout>(read_at, 0);
    auto after = before ? read<layout::RegionLayout>(read_at, 0) : std::nullopt;
    if (!after) {
        return became_shorter();
    }
    // These fields are written once, when the region is set up.
    if (before->version != after->version || before->asic_id != after->asic_id ||
        before->init_state != after->init_state) {
        return base::error(Error::Code::unfinished, "is being set up");
    }
    for (size_t i = 0; i < layout::kSlots; ++i) {
        const auto slot = settle(read_at, i, before->slots[i], after->slots[i]);
        if (!slot) {
            return became_shorter();
        }
        after->slots[i] = *slot;
    }
    Copy copy;
    std::memcpy(copy.data(), &*after, sizeof *after);
    return copy;
}

}  // namespace ttmem::sources::stock_region
