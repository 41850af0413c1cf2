// SPDX-License-Identifier: Apache-2.0
#include "sim/replay.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <istream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>
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

Pool pool_of(const json& line) {
    const auto name = line.at("kind").get<std::string>();
    if (const auto pool = pool_from_name(name)) {
        return *pool;
    }
    throw std::invalid_argument(fmt::format("there is no kind '{}'", name));
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
        const auto name = line.at("board").get<std::string>();
        const Board* board = find_board(name);
        if (board == nullptr) {
            throw std::invalid_argument(fmt::format("there is no board '{}'", name));
        }
        const RegionSizes regions{.l1_small = line.at("l1_small_size").get<uint64_t>(),
                                  .trace = line.at("trace_region_size").get<uint64_t>()};
        const ArchGeometry& arch = arch_geometry(board->arch);
        expect_equal("alignment of DRAM", line.at("alignment").at("dram").get<uint32_t>(),
                     arch.dram_alignment);
        expect_equal("alignment of L1", line.at("alignment").at("l1").get<uint32_t>(), arch.l1_alignment);
        expect_equal("base of DRAM", line.at("base").at("dram").get<uint64_t>(), arch.dram_base);
        expect_equal("base of L1", line.at("base").at("l1").get<uint64_t>(), arch.l1_base);
        expect_equal("compute grid", line.at("compute_grid").get<std::vector<uint32_t>>(),
                     {board->compute_grid.x, board->compute_grid.y});
        expect_equal("mesh", line.at("mesh").get<std::vector<uint32_t>>(),
                     {board->mesh_rows, board->mesh_cols});
        expect_equal("members", line.at("members").get<std::vector<int>>(), board->members());
        target_ = open_(*board, regions);
    }

    void perform_allocate(const json& line) {
        ReplayAllocation call{.id = line.at("id").get<int64_t>(),
                              .pool = pool_of(line),
                              .size = line.at("size").get<uint64_t>(),
                              .page_size = line.at("page_size").get<uint64_t>(),
                              .bottom_up = line.at("bottom_up").get<bool>()};
        if (call.page_size == 0 || call.size % call.page_size != 0) {
            throw std::invalid_argument(fmt::format("a size of {} is no number of whole pages", call.size));
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
        for (const Pool pool : kPools) {
            const json& figures = logged.at(std::string(pool_name(pool)));
            const PoolStatistics now = target_->statistics(pool);
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
