// SPDX-License-Identifier: Apache-2.0
#include "view/model/run_gates.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ttmem::view {
namespace {

using census::Kind;
using testing::HasSubstr;
using testing::SizeIs;

RunView run_with_peak(uint64_t dram, uint64_t in_decoder) {
    RunView view;
    view.command = {"model"};
    view.exit_code = 0;
    view.figures.processes.resize(1);
    view.figures.devices.resize(1);
    view.figures.devices[0].memory[index_of(Kind::dram)].peak = dram;
    view.peak_by_name = {{Kind::dram, "decoder.3", in_decoder}, {Kind::dram, "embedding", 1 << 20}};
    return view;
}

TEST(RunGates, ARegressionIsNamedByLayer) {
    RunGates gates;
    gates.baseline = run_with_peak(100 << 20, 50 << 20);
    gates.tolerance = 0.02;
    EXPECT_TRUE(check_gates(run_with_peak(102 << 20, 52 << 20), gates).at(0).passed);
    const GateResult failed = check_gates(run_with_peak(112 << 20, 62 << 20), gates).at(0);
    EXPECT_FALSE(failed.passed);
    EXPECT_EQ(failed.text, "dram of device 0: 100.0 MiB to 112.0 MiB (decoder.3 +12.0 MiB dram)");
}

TEST(RunGates, LessHeadroomThanInTheBaselineIsARegression) {
    RunGates gates;
    gates.baseline = run_with_peak(100, 50);
    gates.tolerance = 0.02;
    RunView view = run_with_peak(100, 50);
    view.least_headroom = {{.device = 0, .headroom = 40 << 10, .at_least = 40 << 10}};
    EXPECT_TRUE(check_gates(view, gates).at(0).passed) << "the baseline has none";
    gates.baseline->least_headroom = {{.device = 0, .headroom = 96 << 10, .at_least = 96 << 10}};
    EXPECT_EQ(check_gates(view, gates).at(0).text,
              "headroom of the fullest core of device 0: 96.0 KiB to 40.0 KiB");
    view.least_headroom[0] = {.device = 0, .headroom = 95 << 10, .at_least = 95 << 10};
    EXPECT_TRUE(check_gates(view, gates).at(0).passed) << "within the tolerance";
    view.least_headroom[0].at_least = {};
    EXPECT_THAT(check_gates(view, gates).at(0).text, HasSubstr("headroom of device 0 can't be compared"));
}

TEST(RunGates, LeaksAndFailuresThatMayNotHaveBeenSeenAreUndecidedAndFail) {
    RunGates gates;
    gates.fail_on_leak = gates.fail_on_failure = true;
    RunView view = run_with_peak(100, 50);
    view.figures.inexact = {{.reason = census::Reason::names_full},
                            {.reason = census::Reason::reserved_unknown}};
    for (const GateResult& gate : check_gates(view, gates)) {
        EXPECT_TRUE(gate.passed) << gate.text;
    }
    view.figures.inexact.push_back({.reason = census::Reason::ledger_full});
    for (const GateResult& gate : check_gates(view, gates)) {
        EXPECT_FALSE(gate.passed) << gate.name;
        EXPECT_THAT(gate.text, HasSubstr("undecided: "));
    }
}

TEST(RunGates, APeakThatIsALowerBoundCanNotBeComparedAndFails) {
    RunGates gates;
    gates.baseline = run_with_peak(100, 50);
    RunView view = run_with_peak(100, 50);
    view.figures.devices[0].memory[index_of(Kind::l1)].peak_exact = false;
    EXPECT_THAT(check_gates(view, gates).at(0).text, HasSubstr("can't be compared"));
    view = run_with_peak(100, 50);
    view.figures.devices[0].id = 7;
    EXPECT_EQ(check_gates(view, gates).at(0).text, "device 7 is not in the baseline");
}

TEST(RunGates, WhereNothingWasTrackedEveryGateFailsUnlessThatIsAllowed) {
    RunView nothing;
    EXPECT_THAT(check_gates(nothing, {}), SizeIs(0));
    for (int i = 0; i < 5; ++i) {
        RunGates gates;
        gates.fail_on_leak = i == 0;
        gates.fail_on_failure = i == 1;
        gates.require_tracked = i == 2;
        gates.max_peaks = i == 3 ? std::vector<PeakLimit>{{Kind::dram, 1}} : std::vector<PeakLimit>();
        gates.min_headroom = i == 4 ? std::optional<uint64_t>(1) : std::nullopt;
        ASSERT_THAT(check_gates(nothing, gates), SizeIs(1));
        EXPECT_FALSE(check_gates(nothing, gates)[0].passed);
        gates.allow_untracked = true;
        EXPECT_TRUE(check_gates(nothing, gates)[0].passed);
    }
}

TEST(RunGates, AHeadroomBelowTheLimitFailsAndSoDoesOneThatCanNotBeDecided) {
    RunGates gates;
    gates.min_headroom = 64 << 10;
    RunView view = run_with_peak(1, 1);
    EXPECT_EQ(check_gates(view, gates).at(0).text, "undecided: no device is known");
    view.least_headroom = {{.device = 0, .headroom = 64 << 10, .at_least = 64 << 10}};
    EXPECT_TRUE(check_gates(view, gates)[0].passed);
    EXPECT_EQ(check_gates(view, gates)[0].name, "min-headroom 65536");
    const auto text_of = [&](const LeastHeadroom& least) {
        view.least_headroom = {least};
        EXPECT_FALSE(check_gates(view, gates)[0].passed);
        return check_gates(view, gates)[0].text;
    };
    EXPECT_EQ(text_of({.device = 2, .headroom = 40 << 10, .at_least = 40 << 10}),
              "device 2 had a headroom of at least 40.0 KiB");
    EXPECT_EQ(text_of({.device = 2, .headroom = -512, .at_least = {}, .missing = 9}),
              "device 2 had a headroom of at least -512 B")
        << "what was not seen can only lower it";
    EXPECT_EQ(text_of({.device = 2, .headroom = 65 << 10, .at_least = {}, .missing = 9}),
              "undecided on device 2: at most 65.0 KiB, 9 events were not seen");
    EXPECT_EQ(text_of({.device = 2, .headroom = 65 << 10, .at_least = 63 << 10}),
              "undecided on device 2: at most 65.0 KiB, several processes used the device at the same time");
    EXPECT_EQ(text_of({.device = 2, .headroom = 65 << 10}),
              "undecided on device 2: at most 65.0 KiB, the figures are inexact");
    EXPECT_EQ(text_of({.device = 2}), "undecided on device 2: the size of its L1 is not known");
}

TEST(RunGates, FailedAllocationsAndClashesAreFailuresAndUnknownFreesAreNot) {
    RunGates gates;
    gates.fail_on_failure = true;
    RunView view = run_with_peak(1, 1);
    census::FailureCounts counts;
    counts.pid = 7;
    counts.unknown_free = 3;
    view.failure_counts = {counts};
    EXPECT_TRUE(check_gates(view, gates)[0].passed);
    view.failure_counts[0].out_of_memory = 2;
    view.failure_counts[0].cb_clash = 1;
    EXPECT_EQ(check_gates(view, gates)[0].text,
              "2 failed allocations in process 7; 1 clash of circular buffers in process 7");
}

TEST(RunGates, LeaksAndFailuresAreUndecidedWhereTheReporterStopped) {
    RunGates gates;
    gates.fail_on_leak = gates.fail_on_failure = true;
    RunView view = run_with_peak(1, 1);
    view.figures.inexact = {{7, census::Reason::name_cut, 1}};
    EXPECT_TRUE(check_gates(view, gates).at(0).passed && check_gates(view, gates).at(1).passed);
    view.figures.inexact = {{7, census::Reason::stopped, 1}};
    for (const GateResult& gate : check_gates(view, gates)) {
        EXPECT_FALSE(gate.passed);
        EXPECT_EQ(gate.text, "undecided in process 7: its reporter stopped: later events not recorded");
    }
}

TEST(RunGates, ReportsEscapeWhatTheirFormatsMean) {
    RunView view = run_with_peak(1 << 20, 1);
    view.gates = {{"a", true, "fine"}, {"b<\"&", false, "x|y <z> \x01"}};
    const std::string junit = run_junit(view);
    EXPECT_THAT(junit, HasSubstr("tests=\"2\" failures=\"1\""));
    EXPECT_THAT(junit, HasSubstr("name=\"b&lt;&quot;&amp;\""));
    EXPECT_THAT(junit, HasSubstr("x|y &lt;z&gt;  "));
    const std::string markdown = run_markdown(view);
    EXPECT_THAT(markdown, HasSubstr("| 0 | 1.0 MiB | 0 B |"));
    EXPECT_THAT(markdown, HasSubstr("**failed** | x\\|y \\<z>"));
}

}  // namespace
}  // namespace ttmem::view
