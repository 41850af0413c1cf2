// SPDX-License-Identifier: Apache-2.0
#include "sim/replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <istream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace ttmem::sim {
namespace {

using nlohmann::json;

// Thrown in this file only: the first difference ends the replay.
struct Difference {
    std::string text;
};

template <typename Value>
void expect_equal(std::string_view what, const Value& logged, const Value& simulated) {
    if (logged != simulated) {
        throw Difference{fmt::format("{}: the log has {}, the simulation {}", what, logged, simulated)};
    }
}

PoolKind pool_of(const json& line) {
    const auto name = line.at("kind").get<std::string>();
    if (const auto pool = allocator::pool_from_name(name)) {
        return *pool;
    }
    throw std::invalid_argument(fmt::format("there is no kind '{}'", name));
}

// A simulated host has at most this many chips.
constexpr uint32_t kMostChips = 256;

// Banks of a log are smaller than this, so that sums of their parts do not overflow.
constexpr uint64_t kMostBankBytes = uint64_t{1} << 48;

uint32_t positive(const json& value, std::string_view what) {
    const auto number = value.get<uint32_t>();
    if (number == 0) {
        throw std::invalid_argument(fmt::format("{} is 0", what));
    }
    return number;
}

// The bytes of a bank below the end of its pools: what lies below the base, the pool, and the region above it.
uint64_t bank_end(const json& line, PoolKind pool, PoolKind region) {
    const json& statistics = line.at("statistics");
    uint64_t end = line.at("base").at(std::string(pool_name(pool))).get<uint64_t>();
    for (const PoolKind part : {pool, region}) {
        const auto bytes =
            statistics.at(std::string(pool_name(part))).at("allocatable_per_bank").get<uint64_t>();
        if (end >= kMostBankBytes || bytes >= kMostBankBytes) {
            throw std::invalid_argument(fmt::format("the {} banks are too large", pool_title(pool)));
        }
        end += bytes;
    }
    return end;
}

// The chips of the mesh, each once, and as many as the mesh has places.
void check_members(const Board& board) {
    std::vector<int> sorted = board.members;
    std::ranges::sort(sorted);
    const bool are_valid = !sorted.empty() && sorted.front() >= 0 &&
                           sorted.back() < static_cast<int>(kMostChips) &&
                           std::ranges::adjacent_find(sorted) == sorted.end();
    if (!are_valid || uint64_t{board.mesh_rows} * board.mesh_cols != sorted.size()) {
        throw std::invalid_argument(fmt::format(
            "the members of a {} x {} mesh must be {} different chips from 0 to {}", board.mesh_rows,
            board.mesh_cols, uint64_t{board.mesh_rows} * board.mesh_cols, kMostChips - 1));
    }
}

// The board of the first line. A name of the table adds what a log lacks: the type of the card and the architecture.
Board board_of(const json& line) {
    Board board;
    board.name = line.at("board").get<std::string>();
    const json& alignment = line.at("alignment");
    const uint32_t dram_alignment = positive(alignment.at("dram"), "the alignment of DRAM");
    const Board* known = find_board(board.name);
    board.card = known != nullptr ? known->card : board.name;
    board.arch = known != nullptr                                                  ? known->arch
                 : dram_alignment == arch_geometry(Arch::blackhole).dram_alignment ? Arch::blackhole
                                                                                   : Arch::wormhole_b0;
    const auto mesh = line.at("mesh").get<std::array<uint32_t, 2>>();
    const auto grid = line.at("compute_grid").get<std::array<uint32_t, 2>>();
    board.mesh_rows = mesh[0];
    board.mesh_cols = mesh[1];
    board.members = line.at("members").get<std::vector<int>>();
    check_members(board);
    board.chips = static_cast<uint32_t>(*std::ranges::max_element(board.members)) + 1;
    board.compute_grid = {grid[0], grid[1]};
    board.dram_banks = positive(line.at("statistics").at("dram").at("banks"), "the number of DRAM banks");

    ArchGeometry& chip = board.chip = arch_geometry(board.arch);
    chip.dram_alignment = dram_alignment;
    chip.l1_alignment = positive(alignment.at("l1"), "the alignment of L1");
    chip.l1_size = bank_end(line, PoolKind::l1, PoolKind::l1_small);
    chip.dram_bank_size = bank_end(line, PoolKind::dram, PoolKind::trace);
    chip.l1_base = line.at("base").at("l1").get<uint64_t>();
    chip.dram_base = line.at("base").at("dram").get<uint64_t>();
    // The kernel config ring ends where the allocator begins.
    chip.kernel_config_size = std::min(chip.kernel_config_size, chip.l1_base);
    chip.kernel_config_base = chip.l1_base - chip.kernel_config_size;
    return board;
}

class Replayer {
public:
    explicit Replayer(const OpenReplayTarget& open) : open_(open) {}

    void perform(const json& line) {
        const auto event = line.at("event").get<std::string>();
        if (event == "open") {
            perform_open(line);
        } else if (target_ == nullptr) {
            throw std::invalid_argument(fmt::format("'{}' stands before 'open'", event));
        } else if (event == "allocate") {
            perform_allocate(line);
        } else if (event == "free") {
            perform_free(line.at("id").get<int64_t>());
        } else if (event == "all freed") {
            target_->free_all();
        } else {
            throw std::invalid_argument(fmt::format("there is no event '{}'", event));
        }
        if (const auto found = line.find("statistics"); found != line.end() && !found->is_null()) {
            compare_statistics(*found);
        }
    }

    ReplayResult result;

private:
    void perform_open(const json& line) {
        const RegionSizes regions{.l1_small = line.at("l1_small_size").get<uint64_t>(),
                                  .trace = line.at("trace_region_size").get<uint64_t>()};
        target_ = open_(board_of(line), regions);
    }

    void perform_allocate(const json& line) {
        ReplayAllocation call{.id = line.at("id").get<int64_t>(),
                              .pool = pool_of(line),
                              .size = line.at("size").get<uint64_t>(),
                              .page_size = line.at("page_size").get<uint64_t>(),
                              .bottom_up = line.at("bottom_up").get<bool>()};
        if (call.page_size == 0 || call.size % call.page_size != 0) {
            throw std::invalid_argument(
                fmt::format("a size of {} must be a number of whole pages", call.size));
        }
        if (const auto shard = line.find("shard"); shard != line.end()) {
            if (const auto layout = shard->at("layout").get<std::string>(); layout != "height_sharded") {
                throw std::invalid_argument(fmt::format("the layout '{}' is not known", layout));
            }
            call.shard_cores = shard->at("cores").get<uint32_t>();
            call.shard_pages_per_core = shard->at("pages_per_core").get<uint32_t>();
        }

        const auto placement = target_->allocate(call);
        ++result.allocations;
        if (placement) {
            if (line.contains("error")) {
                throw Difference{
                    fmt::format("allocation {}: the log has the error '{}', the simulation address {}",
                                call.id, line.at("error").get<std::string>(), placement->address)};
            }
            expect_equal(fmt::format("address of allocation {}", call.id), line.at("address").get<uint64_t>(),
                         placement->address);
            expect_equal(fmt::format("bytes per bank of allocation {}", call.id),
                         line.at("aligned_size_per_bank").get<uint64_t>(), placement->aligned_size_per_bank);
            return;
        }
        ++result.failures;
        if (!line.contains("error")) {
            throw Difference{
                fmt::format("allocation {}: the log has address {}, the simulation the error '{}'", call.id,
                            line.at("address").get<uint64_t>(), placement.error())};
        }
        expect_equal(fmt::format("error of allocation {}", call.id), line.at("error").get<std::string>(),
                     placement.error());
    }

    void perform_free(int64_t id) {
        if (!target_->free(id)) {
            throw std::invalid_argument(fmt::format("allocation {} is freed and was not live", id));
        }
        ++result.frees;
    }

    void compare_statistics(const json& logged) {
        for (const PoolKind pool : allocator::kPools) {
            const json& figures = logged.at(std::string(pool_name(pool)));
            const allocator::PoolStatistics now = target_->statistics(pool);
            const auto compare = [&](const char* key, uint64_t simulated) {
                expect_equal(fmt::format("{} of {}", key, pool_name(pool)), figures.at(key).get<uint64_t>(),
                             simulated);
            };
            compare("banks", target_->banks(pool));
            compare("allocatable_per_bank", now.size);
            compare("allocated_per_bank", now.allocated);
            compare("free_per_bank", now.free);
            compare("largest_free_per_bank", now.largest_free);
        }
        ++result.statistics;
    }

    const OpenReplayTarget& open_;
    std::unique_ptr<ReplayTarget> target_;
};

}  // namespace

tl::expected<ReplayResult, std::string> replay(std::istream& log, const OpenReplayTarget& open) {
    Replayer replayer(open);
    std::string text;
    while (std::getline(log, text)) {
        ++replayer.result.lines;
        try {
            replayer.perform(json::parse(text));
        } catch (const Difference& difference) {
            replayer.result.difference = fmt::format("line {}: {}", replayer.result.lines, difference.text);
            return replayer.result;
        } catch (const json::exception& error) {
            return tl::unexpected(
                fmt::format("line {} is no line of a log: {}", replayer.result.lines, error.what()));
        } catch (const std::invalid_argument& error) {
            return tl::unexpected(fmt::format("line {}: {}", replayer.result.lines, error.what()));
        }
    }
    if (replayer.result.lines == 0) {
        return tl::unexpected(std::string("the log is empty"));
    }
    return replayer.result;
}

}  // namespace ttmem::sim
