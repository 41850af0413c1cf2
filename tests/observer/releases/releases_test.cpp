// SPDX-License-Identifier: Apache-2.0
//
// One observer on stand-ins of tt-metal's releases, each compiled with gcc and clang: at every step its segment has the
// allocations and failures that the stand-in has by its own account. On releases that never were (mutations) it stays
// right, or it stands aside and says why.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "segment/reader.hpp"
#include "sim/testing/paused_scenario_test_support.hpp"
#include "tests/support/own_segment.hpp"
#include "tests/support/preload.hpp"

namespace ttmem::observer {
namespace {

using Lines = std::vector<std::string>;
using segment::AllocationFlag;
using segment::AllocationKind;
using sim::testing::PausedScenario;

Lines sorted(Lines lines) {
    std::sort(lines.begin(), lines.end());
    return lines;
}

std::string chips_text(const segment::Reader& reader, uint64_t members) {
    std::string text;
    const auto devices = reader.devices();
    for (size_t device = 0; device < devices.size(); ++device) {
        if (devices[device] && (members >> device & 1) != 0) {
            text += (text.empty() ? "" : ",") + std::to_string(devices[device]->logical_id);
        }
    }
    return text;
}

Lines live_lines(const segment::Reader& reader) {
    std::map<uint32_t, std::string> sets;
    for (const segment::SetTotals& set : reader.sets()) {
        sets[set.index] = chips_text(reader, set.set.members);
    }
    Lines lines;
    reader.for_each_live([&](segment::SlotRef, const segment::Allocation& each) {
        const std::string owner = std::to_string(each.owner);
        const std::string requested = std::to_string(each.requested);
        if (each.kind >= AllocationKind::kernel_application && each.kind <= AllocationKind::kernel_dispatch) {
            lines.push_back(sets[each.set] + " kernels of program " + owner + " of " + requested);
            return true;
        }
        const bool is_cb = each.kind == AllocationKind::cb;
        std::string line = sets[each.set] + (is_cb ? " cb of program " + owner
                                                   : " kind " + std::to_string(static_cast<int>(each.kind)));
        line +=
            " at " + std::to_string(each.address) + " requested " + requested + " reserved " +
            (each.flags.has(AllocationFlag::reserved_unknown) ? "unknown" : std::to_string(each.reserved)) +
            (is_cb ? "" : " buffer " + owner);
        line += each.flags.has(AllocationFlag::planned) ? " planned" : "";
        line += each.flags.has(AllocationFlag::per_core) ? " per core" : "";
        line += each.flags.has(AllocationFlag::dataflow) ? " dataflow" : "";
        line += each.flags.has(AllocationFlag::scratchpad) ? " scratchpad" : "";
        line += each.flags.has(AllocationFlag::view) ? " view" : "";
        lines.push_back(line + " name '" + reader.name(each.name) + "'");
        return true;
    });
    return sorted(lines);
}

Lines chip_lines(const segment::Reader& reader) {
    Lines lines;
    for (const auto& device : reader.devices()) {
        if (!device) {
            continue;
        }
        std::string line = "chip " + std::to_string(device->logical_id) + " ASIC " +
                           std::to_string(device->asic_id) + " arch " + std::to_string(device->arch) +
                           " grid " + std::to_string(device->grid_x) + "x" + std::to_string(device->grid_y);
        for (const uint32_t kind : {TTMEM_DRAM, TTMEM_L1, TTMEM_L1_SMALL, TTMEM_TRACE}) {
            const ttmem_memory_info& memory = device->memory[kind];
            line += " | base " + std::to_string(memory.base) + " size " +
                    std::to_string(memory.size_per_bank) + " banks " + std::to_string(memory.banks) +
                    " capacity " + std::to_string(memory.capacity) + " alignment " +
                    std::to_string(memory.alignment) +
                    (memory.direction == TTMEM_TOP_DOWN ? " top down" : " bottom up");
        }
        lines.push_back(line);
    }
    return sorted(lines);
}

Lines failure_lines(const segment::Reader& reader) {
    Lines lines;
    for (const segment::Failure& each : reader.failures()) {
        const std::string in_the_way = each.has_blocker == 0
                                           ? ""
                                           : " in the way " + std::to_string(each.blocker_kind) + " of " +
                                                 std::to_string(each.blocker_requested) + " buffer " +
                                                 std::to_string(each.blocker_owner);
        if (each.cb_end != 0) {
            lines.push_back("clash of program " + std::to_string(each.program) + " on " +
                            std::to_string(each.core_x) + "," + std::to_string(each.core_y) + " ends " +
                            std::to_string(each.cb_end) + " lowest " + std::to_string(each.cb_limit()) +
                            in_the_way);
        } else {
            lines.push_back("no room for kind " + std::to_string(each.kind) + " requested " +
                            std::to_string(each.requested) + " needed " +
                            std::to_string(each.needed_per_bank) + " free " +
                            std::to_string(each.free_per_bank) + " largest " +
                            std::to_string(each.largest_free_per_bank) + in_the_way);
        }
    }
    return sorted(lines);
}

struct StandIn {
    std::string name;
    std::string library;
    std::string reason;  // why it must not be observed; empty: it must be
};

std::ostream& operator<<(std::ostream& out, const StandIn& each) { return out << each.name; }

// A stand-in under the observer, with its standard error in a file.
class ObservedRun {
public:
    explicit ObservedRun(const StandIn& stand_in) : errors_("/tmp/ttmem-release-XXXXXX") {
        close(mkstemp(errors_.data()));
        const std::string program = std::string(TTMEM_TEST_BIN_DIR) + "/observer_release";
        scenario_.emplace(
            "/bin/sh", Lines{"-c", "exec \"$0\" \"$@\" 2>" + errors_, program, stand_in.library},
            Lines{"TT_ALLOC_TRACKING_ENABLED=1", "LD_PRELOAD=" + test::preload_name_of(TTMEM_OBSERVER)});
    }
    ~ObservedRun() { unlink(errors_.c_str()); }
    ObservedRun(const ObservedRun&) = delete;
    ObservedRun& operator=(const ObservedRun&) = delete;

    PausedScenario& scenario() { return *scenario_; }
    std::string errors() const {
        std::ifstream in(errors_);
        return (std::stringstream() << in.rdbuf()).str();
    }

private:
    std::string errors_;
    std::optional<PausedScenario> scenario_;
};

constexpr size_t kSteps = 25;

void expect_right(ObservedRun& run) {
    size_t steps = 0;
    while (const auto step = run.scenario().next_step()) {
        const segment::Reader reader = test::reader_of(run.scenario().pid());
        EXPECT_EQ(live_lines(reader), sorted(run.scenario().truth().at("live").get<Lines>())) << *step;
        EXPECT_EQ(failure_lines(reader), sorted(run.scenario().truth().at("failures").get<Lines>())) << *step;
        EXPECT_EQ(chip_lines(reader), sorted(run.scenario().truth().at("chips").get<Lines>())) << *step;
        for (uint8_t counter = 0; counter < segment::kInexactCounters; ++counter) {
            const auto reason = static_cast<segment::Inexact>(counter);
            EXPECT_EQ(reader.inexact(reason), 0u) << *step << ": " << segment::reason(reason);
        }
        ++steps;
        if (::testing::Test::HasFailure()) {
            FAIL() << run.errors();
        }
    }
    EXPECT_EQ(steps, kSteps);
    EXPECT_EQ(run.errors(), "");
}

// Up to the moment when something differs it may be right.
void expect_nothing_wrong(ObservedRun& run) {
    Lines last;
    size_t steps = 0;
    while (const auto step = run.scenario().next_step()) {
        if (const base::Descriptor file = test::open_segment_of(run.scenario().pid()); file.get() >= 0) {
            last = live_lines(test::reader_of(run.scenario().pid()));
            if (!last.empty()) {
                EXPECT_EQ(last, sorted(run.scenario().truth().at("live").get<Lines>())) << *step;
            }
        }
        ++steps;
    }
    EXPECT_EQ(steps, kSteps);
    EXPECT_EQ(last, Lines()) << "it goes on";
}

class ObservedRelease : public ::testing::TestWithParam<StandIn> {};

TEST_P(ObservedRelease, IsSeenAsItIsOrLeftAloneWithAReason) {
    ObservedRun run(GetParam());
    if (GetParam().reason.empty()) {
        expect_right(run);
    } else {
        expect_nothing_wrong(run);
        const std::string errors = run.errors();
        EXPECT_NE(errors.find(GetParam().reason), std::string::npos) << errors;
        EXPECT_EQ(std::count(errors.begin(), errors.end(), '\n'), 1) << errors;
    }
    if (!HasFailure()) {
        const int status = run.scenario().status();
        EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
    }
}

// A class of buffers whose sizes cannot be seen is in the list once per chip, with unknown bytes: the figures are inexact.
class UnseenBuffers : public ::testing::TestWithParam<StandIn> {};

TEST_P(UnseenBuffers, AreRecordedWithUnknownBytes) {
    const std::string reason = GetParam().reason;
    const bool is_every_program = reason.find("every program") != std::string::npos;
    const auto is_of_class = [&](const std::string& line) {
        return (reason.find("dataflow") != std::string::npos &&
                line.find(" dataflow") != std::string::npos) ||
               (reason.find("scratchpad") != std::string::npos &&
                line.find(" scratchpad") != std::string::npos);
    };
    ObservedRun run(GetParam());
    size_t seen = 0;
    while (const auto step = run.scenario().next_step()) {
        const segment::Reader reader = test::reader_of(run.scenario().pid());
        Lines truth = run.scenario().truth().at("live").get<Lines>();
        const auto hidden = std::erase_if(truth, is_of_class);
        Lines live = live_lines(reader);
        const auto shown = std::erase_if(live, is_of_class);
        EXPECT_TRUE(shown == hidden || (is_every_program && shown > hidden)) << *step << ": " << shown;
        EXPECT_EQ(live, sorted(truth)) << *step;
        size_t unknown = 0;
        reader.for_each_live([&](segment::SlotRef, const segment::Allocation& each) {
            unknown += each.flags.has(AllocationFlag::reserved_unknown) ? 1u : 0u;
            return true;
        });
        EXPECT_EQ(unknown, shown) << *step;
        seen += hidden;
    }
    EXPECT_GT(seen, 0u);
}

// Without a function some bytes are not known. They are never guessed.
class UnknownBytes : public ::testing::TestWithParam<StandIn> {};

TEST_P(UnknownBytes, AreSaidToBeUnknownAndAllElseIsRight) {
    const auto without_reserved = [](Lines lines) {
        for (std::string& line : lines) {
            if (const size_t start = line.find(" reserved "); start != std::string::npos) {
                line.erase(start, line.find(' ', start + 10) - start);
            }
        }
        return sorted(lines);
    };
    ObservedRun run(GetParam());
    size_t unknown = 0;
    while (const auto step = run.scenario().next_step()) {
        const Lines truth = sorted(run.scenario().truth().at("live").get<Lines>());
        Lines live = live_lines(test::reader_of(run.scenario().pid()));
        EXPECT_EQ(without_reserved(live), without_reserved(truth)) << *step;
        unknown += std::erase_if(
            live, [](const std::string& line) { return line.find("unknown") != std::string::npos; });
        EXPECT_TRUE(std::includes(truth.begin(), truth.end(), live.begin(), live.end())) << *step;
    }
    EXPECT_GT(unknown, 0u);
    EXPECT_EQ(run.errors(), "");
}

// From CMakeLists.txt: name|library|reason, separated by newlines.
std::vector<StandIn> stand_ins(const char* list) {
    std::vector<StandIn> all;
    std::istringstream lines(list);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream fields(line);
        StandIn each;
        std::getline(fields, each.name, '|');
        std::getline(fields, each.library, '|');
        std::getline(fields, each.reason, '|');
        all.push_back(each);
    }
    return all;
}

const auto kName = [](const auto& each) { return each.param.name; };
INSTANTIATE_TEST_SUITE_P(Releases, ObservedRelease, ::testing::ValuesIn(stand_ins(TTMEM_RELEASES)), kName);
INSTANTIATE_TEST_SUITE_P(Unseen, UnseenBuffers, ::testing::ValuesIn(stand_ins(TTMEM_UNSEEN)), kName);
INSTANTIATE_TEST_SUITE_P(Gone, UnknownBytes, ::testing::ValuesIn(stand_ins(TTMEM_UNKNOWN_BYTES)), kName);
INSTANTIATE_TEST_SUITE_P(Mutations, ObservedRelease, ::testing::ValuesIn(stand_ins(TTMEM_MUTATIONS)), kName);

}  // namespace
}  // namespace ttmem::observer
