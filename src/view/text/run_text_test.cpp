// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "view/text/screens.hpp"

namespace ttmem::view {
namespace {

using census::Kind;

// A command that left something, reached a limit and was tracked in one process.
RunView some_run() {
    RunView view;
    view.origin = {"quietbox", 1'000, OriginSource::direct};
    view.command = {"python3", "model.py"};
    view.exit_code = 0;
    view.lived_ns = 75'000'000'000;
    census::DeviceFigures device;
    device.id = 3;
    device.board = "n300";
    device.memory[index_of(Kind::dram)].peak = 3 << 20;
    device.memory[index_of(Kind::kernel)].peak = 1024;
    device.memory[index_of(Kind::kernel)].peak_exact = false;
    view.figures.devices = {device};
    view.figures.processes.resize(1);
    view.left = {{Kind::dram, "decoder.2/attention_mask", 1 << 20, 1'000'000, 5},
                 {Kind::cb, "", 4096, 4096, 1}};
    view.exceeded = {{3, Kind::dram, 3 << 20, 1 << 20}};
    return view;
}

TEST(RunText, ShowsTheEndThePeaksTheLeaksAndTheExceededLimits) {
    EXPECT_EQ(render_plain(run_text(some_run(), {})),
              "'python3 model.py' ended with exit code 0 after 1m15s; 1 process tracked, figures exact\n"
              "\n"
              "Peak per device:\n"
              "DEV  BOARD     DRAM   L1  L1_SMALL  TRACE   CB     KERNEL\n"
              "  3  n300   3.0 MiB  0 B       0 B    0 B  0 B  >=1.0 KiB\n"
              "  >= is a lower bound: several processes used the device at the same time\n"
              "\n"
              "Still allocated at the end (bytes over all devices of each allocation):\n"
              "   USED  COUNT  KIND  NAME\n"
              "1.0 MiB      5  dram  decoder.2/attention_mask\n"
              "4.0 KiB      1  cb    (no name)\n"
              "\n"
              "PEAK: dram of device 3 reached 3.0 MiB; the limit is 1.0 MiB\n");
}

TEST(RunText, SaysThatALimitBetweenTheBoundsIsUndecided) {
    RunView view = some_run();
    view.exceeded.clear();
    view.undecided = {{3, Kind::dram, 3 << 20, 9 << 20, 5 << 20}, {3, Kind::l1, 1024, std::nullopt, 2048}};
    const std::string text = render_plain(run_text(view, {}));
    EXPECT_NE(
        text.find("UNDECIDED: dram of device 3 reached at least 3.0 MiB and at most 9.0 MiB; the limit is "
                  "5.0 MiB\n  (several processes used the device at the same time)\n"),
        std::string::npos)
        << text;
    EXPECT_NE(text.find("UNDECIDED: l1 of device 3 reached at least 1.0 KiB; the limit is 2.0 KiB\n"
                        "  (the figures are inexact)\n"),
              std::string::npos)
        << text;
    const auto document = nlohmann::json::parse(to_json(view));
    EXPECT_EQ(document.at("undecided").at(0).at("peak_at_most"), 9 << 20);
    EXPECT_EQ(document.at("undecided").at(1).at("peak_at_most"), nullptr);
}

TEST(RunText, NamesTheSignalAndSaysThatNothingWasTracked) {
    RunView view;
    view.command = {"x\033[31m"};
    view.signal = 11;
    EXPECT_EQ(render_plain(run_text(view, {})).substr(0, 63),
              "'x?[31m' was ended by signal 11 (SIGSEGV) after 0s; no process ");
}

TEST(RunView, OnlyBuffersAreLeaks) {
    RunView view = some_run();
    EXPECT_TRUE(view.has_leak());
    view.left = {{Kind::cb, "", 4096, 4096, 1}, {Kind::kernel, "", 4096, 4096, 1}};
    EXPECT_FALSE(view.has_leak());
    view.left = {{Kind::trace, "", 4096, 4096, 1}};
    EXPECT_TRUE(view.has_leak());
}

TEST(RunView, AsJsonHasTheSchemaAndEveryPart) {
    const auto document = nlohmann::json::parse(to_json(some_run()));
    EXPECT_EQ(document.at("schema"), 1);
    EXPECT_EQ(document.at("leak"), true);
    EXPECT_EQ(document.at("signal"), nullptr);
    EXPECT_EQ(document.at("exceeded").at(0).at("limit"), 1 << 20);
    EXPECT_EQ(document.at("left").at(0).at("name"), "decoder.2/attention_mask");
    EXPECT_EQ(document.at("devices").at(0).at("memory").at("dram").at("peak"), 3 << 20);
}

TEST(DoctorText, WrapsEachFindingAndEndsWithTheCommand) {
    DoctorView view;
    view.findings = {
        {"driver", FindingState::ok, "tt-kmd with 1 device on the bus: 0 n300"},
        {"daemon", FindingState::note,
         "none runs: figures are read directly, and there is no history and no post-mortem at all"}};
    view.next = "ttmem run -- python3 model.py";
    view.next_why = "with your own program";
    EXPECT_EQ(render_plain(doctor_text(view, {})),
              "driver       ok       tt-kmd with 1 device on the bus: 0 n300\n"
              "daemon       note     none runs: figures are read directly, and there is no\n"
              "                      history and no post-mortem at all\n"
              "\n"
              "Next, with your own program:\n"
              "  ttmem run -- python3 model.py\n");
    EXPECT_FALSE(view.has_problem());
}

}  // namespace
}  // namespace ttmem::view
