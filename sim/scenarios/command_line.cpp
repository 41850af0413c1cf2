// SPDX-License-Identifier: Apache-2.0
#include "sim/scenarios/command_line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>

namespace ttmem::sim {
namespace {

std::string names_of_boards() {
    std::vector<std::string_view> names;
    for (const Board& board : boards()) {
        names.push_back(board.name);
    }
    return fmt::format("{}", fmt::join(names, ", "));
}

int parse_number(const std::string& part, const std::string& text) {
    int value = -1;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    if (error != std::errc{} || end != part.data() + part.size() || value < 0) {
        throw UsageError(fmt::format("'{}': must be a number of devices (4) or a list of ids (2,3)", text));
    }
    return value;
}

std::vector<int> first_chips(const Board& board, size_t count) {
    std::vector<int> chips = board.members;
    // All chips of a board come in the order of its mesh, some of them in numeric order.
    if (count < chips.size()) {
        std::ranges::sort(chips);
        chips.resize(count);
    }
    return chips;
}

}  // namespace

std::vector<int> parse_devices(const std::string& text, const Board& board) {
    if (text.find(',') == std::string::npos) {
        const int count = parse_number(text, text);
        if (count == 0 || static_cast<uint32_t>(count) > board.chips) {
            throw UsageError(fmt::format("board {} has {} device{}, {} requested (boards: {})", board.name,
                                         board.chips, board.chips == 1 ? "" : "s", count, names_of_boards()));
        }
        return first_chips(board, static_cast<size_t>(count));
    }
    std::vector<int> chips;
    size_t from = 0;
    while (from < text.size()) {
        const size_t comma = std::min(text.find(',', from), text.size());
        const int chip = parse_number(text.substr(from, comma - from), text);
        if (static_cast<uint32_t>(chip) >= board.chips) {
            throw UsageError(fmt::format("board {} has no device {}; its last one is {} (boards: {})",
                                         board.name, chip, board.chips - 1, names_of_boards()));
        }
        if (std::ranges::find(chips, chip) != chips.end()) {
            throw UsageError(fmt::format("device {} is given twice in '{}'", chip, text));
        }
        chips.push_back(chip);
        from = comma + 1;
    }
    if (chips.empty()) {
        throw UsageError(fmt::format("'{}': must be a number of devices (4) or a list of ids (2,3)", text));
    }
    return chips;
}

CommandLine parse_command_line(int argc, char** argv) {
    CommandLine line;
    std::string name;
    std::string board_name;
    std::string devices;
    std::string pause_at;
    std::string truth;

    CLI::App app{"A simulated tt-metal runtime and its workloads. No accelerator is needed.", "ttmem sim"};
    app.add_option("scenario", name, "scenario to run, or 'list', or 'replay'")->required();
    app.add_option("log", line.log, "with 'replay': a log of the real allocator, to repeat and compare");
    app.add_option("--board", board_name, "board to simulate: " + names_of_boards());
    app.add_option("--devices", devices, "number of devices (4), or their ids (2,3)");
    app.add_option("--truth", truth, "write the runtime's own figures, one line of JSON per step");
    app.add_flag("--blocks", line.settings.blocks, "with --truth: also the blocks of each allocator");
    app.add_option("--pause-at", pause_at,
                   "wait for a line on standard input at this step, or at each step (all)");
    app.add_option("--seed", line.settings.seed, "seed of the random numbers");
    app.add_option("--repeat", line.repeat, "run the scenario N times")->check(CLI::PositiveNumber);
    app.add_option("--threads", line.settings.churn.threads, "churn: threads")->check(CLI::Range(1u, 256u));
    app.add_option("--live", line.settings.churn.live, "churn: live allocations per thread");
    app.add_option("--rate", line.settings.churn.rate,
                   "churn: events per second and thread; 0: as many as possible");
    app.add_option("--seconds", line.settings.churn.seconds, "churn: duration")
        ->check(CLI::NonNegativeNumber);
    app.add_flag("--json", line.json, "with 'list': print JSON");
    try {
        app.parse(argc, argv);
    } catch (const CLI::CallForHelp&) {
        line.action = CommandLine::Action::help;
        line.help = app.help();
        return line;
    } catch (const CLI::ParseError& error) {
        throw UsageError(fmt::format("{} (see 'ttmem sim --help')", error.what()));
    }

    if (name == "list") {
        line.action = CommandLine::Action::list;
        return line;
    }
    if (name == "replay") {
        line.action = CommandLine::Action::replay;
        if (line.log.empty()) {
            throw UsageError("replay needs a log: ttmem sim replay LOG");
        }
        return line;
    }
    line.scenario = find_scenario(name);
    if (line.scenario == nullptr) {
        throw UsageError(fmt::format("there is no scenario '{}' ('ttmem sim list' shows them)", name));
    }
    if (!line.log.empty()) {
        throw UsageError(fmt::format("unexpected argument '{}' (see 'ttmem sim --help')", line.log));
    }

    const Board* board = find_board(board_name.empty() ? line.scenario->board : std::string_view(board_name));
    if (board == nullptr) {
        throw UsageError(fmt::format("there is no board '{}' (boards: {})", board_name, names_of_boards()));
    }
    line.settings.board = board;
    line.settings.chips = devices.empty()
                              ? first_chips(*board, std::min(line.scenario->devices, board->chips))
                              : parse_devices(devices, *board);
    if (!pause_at.empty()) {
        line.settings.pause_at = pause_at;
    }
    if (!truth.empty()) {
        line.truth = truth;
    }
    return line;
}

}  // namespace ttmem::sim
