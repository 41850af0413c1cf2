// SPDX-License-Identifier: Apache-2.0
#include "census/device_facts.hpp"

#include <cstring>

#include "base/text.hpp"
#include "census/arithmetic.hpp"

namespace ttmem::census {

namespace {

std::optional<std::string> arch_name(uint32_t arch) {
    switch (arch) {
        case TTMEM_ARCH_GRAYSKULL:
            return "grayskull";
        case TTMEM_ARCH_WORMHOLE_B0:
            return "wormhole_b0";
        case TTMEM_ARCH_BLACKHOLE:
            return "blackhole";
        case TTMEM_ARCH_QUASAR:
            return "quasar";
        default:
            return std::nullopt;
    }
}

std::optional<std::string> board_name(const char (&board)[16]) {
    const std::string_view text(board, strnlen(board, sizeof board));
    return text.empty() ? std::nullopt : std::optional(base::printable(text));
}

// Banks of size 0 are known to have no room; without banks nothing is known.
std::optional<uint64_t> capacity_of(const ttmem_memory_info& memory) {
    if (memory.capacity != 0) {
        return memory.capacity;
    }
    return memory.banks == 0 ? std::nullopt
                             : std::optional(saturating_multiply(memory.size_per_bank, memory.banks));
}

}  // namespace

DeviceFigures describe(uint32_t id, const ttmem_device_info& info) {
    DeviceFigures figures;
    figures.id = id;
    figures.arch = arch_name(info.arch);
    figures.board = board_name(info.board);
    if (info.asic_id != 0) {
        figures.asic_id = info.asic_id;
    }
    for (size_t kind = 0; kind < kPoolKinds; ++kind) {
        figures.memory[kind].capacity = capacity_of(info.memory[memory_info_index(static_cast<Kind>(kind))]);
    }
    return figures;
}

Bank bank_of(const ttmem_device_info& info, Kind pool_kind) {
    const ttmem_memory_info& memory = info.memory[memory_info_index(pool_kind)];
    return {memory.base, memory.size_per_bank, memory.banks};
}

}  // namespace ttmem::census
