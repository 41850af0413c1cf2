// SPDX-License-Identifier: Apache-2.0
#include "census/device_facts.hpp"

#include <array>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.hpp"
#include "census/arithmetic.hpp"

namespace ttmem::census {

namespace {

constexpr std::array<std::pair<uint32_t, std::string_view>, 4> kArchs = {
    {{TTMEM_ARCH_GRAYSKULL, "grayskull"},
     {TTMEM_ARCH_WORMHOLE_B0, "wormhole_b0"},
     {TTMEM_ARCH_BLACKHOLE, "blackhole"},
     {TTMEM_ARCH_QUASAR, "quasar"}}};

std::optional<std::string> arch_name(uint32_t arch) {
    for (const auto& [number, name] : kArchs) {
        if (number == arch) {
            return std::string(name);
        }
    }
    return arch == TTMEM_ARCH_UNKNOWN ? std::nullopt : std::optional("arch " + std::to_string(arch));
}

std::optional<std::string> board_name(const char (&board)[16]) {
    const std::string_view text(board, strnlen(board, sizeof board));
    return text.empty() ? std::nullopt : std::optional(base::printable(text));
}

// The capacity of a card without regions for L1_SMALL and traces, which is the default of an allocator. The name of a
// card does not show which cores were fused off, so L1 is absent if cards of the same name differ.
struct Card {
    std::string_view prefix;  // a prefix of the card type: "p150" matches p150a and p150b
    uint64_t dram = 0;
    std::optional<uint64_t> l1;
};
constexpr uint64_t kWormholeDram = 12 * (uint64_t{1'073'741'824} - 1'048'640);
constexpr uint64_t kWormholeL1 = 1'393'472;  // per core
constexpr uint64_t kBlackholeDramBank = uint64_t{4'278'190'080} - 1'048'704;
constexpr uint64_t kBlackholeL1 = 1'461'248;
constexpr std::array<Card, 7> kCards = {{{"n150", kWormholeDram, 64 * kWormholeL1},
                                         {"n300", kWormholeDram, 56 * kWormholeL1},
                                         {"p100", 7 * kBlackholeDramBank, 110 * kBlackholeL1},
                                         {"p150", 8 * kBlackholeDramBank, std::nullopt},
                                         {"p300", 8 * kBlackholeDramBank, 110 * kBlackholeL1},
                                         {"galaxy-wormhole", kWormholeDram, 72 * kWormholeL1},
                                         {"galaxy-blackhole", 8 * kBlackholeDramBank, std::nullopt}}};

void fill_in_from_card(DeviceFigures& figures) {
    for (const Card& card : kCards) {
        if (figures.board && figures.board->starts_with(card.prefix)) {
            figures.memory[index_of(Kind::dram)].capacity = card.dram;
            figures.memory[index_of(Kind::l1)].capacity = card.l1;
        }
    }
}

}  // namespace

DeviceFigures describe(const DeviceTable::Device& device) {
    const ttmem_device_info& info = device.info;
    DeviceFigures figures;
    figures.id = device.id;
    figures.arch = arch_name(info.arch);
    figures.board = board_name(info.board);
    if (info.asic_id != 0) {
        figures.asic_id = info.asic_id;
    }
    if (device.driver != nullptr) {
        figures.arch = device.driver->arch ? device.driver->arch : figures.arch;
        figures.board = device.driver->board ? device.driver->board : figures.board;
        figures.driver = device.driver->facts;
        figures.telemetry = device.driver->telemetry;
    }
    bool is_reported = false;
    for (size_t kind = 0; kind < kPoolKinds; ++kind) {
        figures.memory[kind].capacity = capacity_of(info.memory[memory_info_index(static_cast<Kind>(kind))]);
        is_reported = is_reported || figures.memory[kind].capacity;
    }
    if (!is_reported) {
        fill_in_from_card(figures);
    }
    return figures;
}

uint32_t arch_by_name(std::string_view name) {
    for (const auto& [number, known] : kArchs) {
        if (known == name) {
            return number;
        }
    }
    return TTMEM_ARCH_UNKNOWN;
}

std::optional<uint64_t> capacity_of(const ttmem_memory_info& memory) {
    if (memory.capacity != 0) {
        return memory.capacity;
    }
    return memory.banks == 0 ? std::nullopt
                             : std::optional(saturating_multiply(memory.size_per_bank, memory.banks));
}

Bank bank_of(const ttmem_device_info& info, Kind pool_kind) {
    const ttmem_memory_info& memory = info.memory[memory_info_index(pool_kind)];
    return {memory.base, memory.size_per_bank, memory.banks};
}

}  // namespace ttmem::census
