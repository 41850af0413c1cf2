// SPDX-License-Identifier: Apache-2.0
#include "daemon/api/metrics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "daemon/api/daemon_host.hpp"

namespace ttmem::daemon {
namespace {

using census::index_of;
using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;
using testing::UnorderedElementsAre;

struct MetricsTest : testing::Test {
    MetricsTest() {
        census::DeviceFigures device;
        device.id = 3;
        device.asic_id = 0xa51c;
        device.arch = "wormhole_b0";
        device.board = "n300";
        auto& dram = device.memory[index_of(census::Kind::dram)];
        dram.used = 12288;
        dram.requested = 1000;
        dram.capacity = 12'872'318'208;
        dram.peak = 16384;
        dram.count = 2;
        dram.largest_free = 1024;
        readings.figures.devices.push_back(device);
    }

    census::DeviceFigures& device() { return readings.figures.devices.back(); }

    census::ProcessFigures& add_process(uint32_t pid, uint64_t used) {
        census::ProcessFigures process;
        process.pid = pid;
        process.comm = "python3";
        process.user = "alice";
        process.state = census::ProcessState::live;
        process.source = census::ProcessSource::segment;
        census::DeviceHoldings held;
        held.id = 3;
        held.memory[index_of(census::Kind::dram)] = {used, used / 2, 1};
        process.devices.push_back(held);
        readings.figures.processes.push_back(process);
        return readings.figures.processes.back();
    }

    // The series of one family, without HELP and TYPE.
    std::vector<std::string> series(const std::string& name,
                                    ProcessSeries processes = ProcessSeries::no) const {
        std::istringstream text(to_metrics(readings, processes));
        std::vector<std::string> result;
        for (std::string line; std::getline(text, line);) {
            if (line.starts_with(name + "{") || line.starts_with(name + " ")) {
                result.push_back(line.substr(name.size()));
            }
        }
        return result;
    }

    Readings readings;
};

const std::string kDevice = R"(device="3",asic_id="0xa51c",arch="wormhole_b0",board="n300")";

TEST_F(MetricsTest, MemorySeriesHaveDeviceAndKind) {
    const std::string dram = "{" + kDevice + R"(,kind="dram"} )";
    EXPECT_THAT(series("ttmem_memory_used_bytes"), Contains(dram + "12288"));
    EXPECT_THAT(series("ttmem_memory_used_bytes"), testing::SizeIs(census::kDeviceKinds));
    EXPECT_THAT(series("ttmem_memory_requested_bytes"), Contains(dram + "1000"));
    EXPECT_THAT(series("ttmem_memory_capacity_bytes"), ElementsAre(dram + "12872318208"));
    EXPECT_THAT(series("ttmem_memory_peak_bytes"), Contains(dram + "16384"));
    EXPECT_THAT(series("ttmem_memory_allocations"), Contains(dram + "2"));
    EXPECT_THAT(series("ttmem_memory_largest_free_block_bytes"), ElementsAre(dram + "1024"));
}

TEST_F(MetricsTest, UnknownValuesHaveNoSeries) {
    for (census::MemoryFigures& memory : device().memory) {
        memory = {};
        memory.is_known = false;
        memory.is_count_known = false;
    }
    device().asic_id.reset();
    device().board.reset();
    for (const char* name :
         {"ttmem_memory_used_bytes", "ttmem_memory_requested_bytes", "ttmem_memory_capacity_bytes",
          "ttmem_memory_peak_bytes", "ttmem_memory_allocations", "ttmem_memory_largest_free_block_bytes",
          "ttmem_kernel_bytes", "ttmem_l1_headroom_bytes", "ttmem_device_temperature_celsius",
          "ttmem_device_power_watts", "ttmem_device_clock_hertz", "ttmem_device_fan_rpm",
          "ttmem_device_alive", "ttmem_device_thermal_trips_total"}) {
        EXPECT_THAT(series(name), IsEmpty()) << name;
    }
    EXPECT_THAT(series("ttmem_device_info"), ElementsAre(R"({device="3",arch="wormhole_b0"} 1)"));
}

TEST_F(MetricsTest, BytesMayBeKnownWithoutTheNumberOfAllocations) {
    device().memory[index_of(census::Kind::dram)].is_count_known = false;
    EXPECT_THAT(series("ttmem_memory_allocations"), Each(Not(HasSubstr("dram"))));
    EXPECT_THAT(series("ttmem_memory_used_bytes"), Contains(HasSubstr("dram")));
}

TEST_F(MetricsTest, HeadroomMayBeNegativeAndKernelsHaveTypes) {
    device().l1_worst_core.headroom = -64;
    device().kernel_by_type = {4096, 0, 512};
    EXPECT_THAT(series("ttmem_l1_headroom_bytes"), ElementsAre("{" + kDevice + "} -64"));
    EXPECT_THAT(series("ttmem_kernel_bytes"), ElementsAre("{" + kDevice + R"(,type="application"} 4096)",
                                                          "{" + kDevice + R"(,type="fabric"} 0)",
                                                          "{" + kDevice + R"(,type="dispatch"} 512)"));
}

TEST_F(MetricsTest, TelemetryIsInBaseUnits) {
    census::Telemetry& telemetry = device().telemetry;
    telemetry.temperature_c = 48.312;
    telemetry.temperature_max_c = 75;
    telemetry.power_max_w = 85;
    telemetry.aiclk_mhz = 1000;
    telemetry.arcclk_mhz = 540;
    telemetry.is_alive = false;
    telemetry.thermal_trips = 2;
    EXPECT_THAT(series("ttmem_device_temperature_celsius"), ElementsAre("{" + kDevice + "} 48.312"));
    EXPECT_THAT(series("ttmem_device_temperature_max_celsius"), ElementsAre("{" + kDevice + "} 75"));
    EXPECT_THAT(series("ttmem_device_power_max_watts"), ElementsAre("{" + kDevice + "} 85"));
    EXPECT_THAT(series("ttmem_device_power_watts"), IsEmpty());
    EXPECT_THAT(series("ttmem_device_clock_hertz"),
                ElementsAre("{" + kDevice + R"(,clock="ai"} 1000000000)",
                            "{" + kDevice + R"(,clock="arc"} 540000000)"));
    EXPECT_THAT(series("ttmem_device_alive"), ElementsAre("{" + kDevice + "} 0"));
    EXPECT_THAT(series("ttmem_device_thermal_trips_total"), ElementsAre("{" + kDevice + "} 2"));
}

TEST_F(MetricsTest, DeviceInfoComesFromTheDriver) {
    device().driver = census::DriverFacts{"0000:01:00.0", 1, "0100", "18.10.0.0", {}};
    device().is_remote = false;
    EXPECT_THAT(
        series("ttmem_device_info"),
        ElementsAre(
            "{" + kDevice +
            R"(,bdf="0000:01:00.0",firmware="18.10.0.0",serial="0100",numa_node="1",remote="false"} 1)"));
}

TEST_F(MetricsTest, EveryFamilyHasHelpAndTypeOnceEvenWithoutSeries) {
    readings.figures.devices.clear();
    const std::string text = to_metrics(readings, ProcessSeries::yes);
    std::istringstream lines(text);
    std::map<std::string, int> helps;
    std::map<std::string, std::string> types;
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string sign;
        std::string what;
        std::string name;
        std::string rest;
        words >> sign >> what >> name >> rest;
        if (sign == "#" && what == "HELP") {
            EXPECT_NE(rest, "") << name;
            ++helps[name];
        } else if (sign == "#") {
            types[name] = rest;
        }
    }
    EXPECT_EQ(helps.size(), types.size());
    EXPECT_EQ(helps.count("ttmem_memory_used_bytes"), 1u);
    for (const auto& [name, number] : helps) {
        EXPECT_EQ(number, 1) << name;
        EXPECT_THAT(name, StartsWith("ttmem_"));
        EXPECT_EQ(types[name], name.ends_with("_total") ? "counter" : "gauge") << name;
    }
}

TEST_F(MetricsTest, CountersHaveTheCountedValues) {
    readings.failures = {4, 5, 6};
    readings.deaths = {9, 2, 3};
    readings.self.processes_missed = 8;
    readings.self.failed_tasks = 10;
    readings.self.events_followed = 100;
    readings.self.events_lost = 7;
    readings.self.defects = 1;
    EXPECT_THAT(series("ttmem_failures_total"),
                UnorderedElementsAre(R"({type="out_of_memory"} 4)", R"({type="cb_clash"} 5)",
                                     R"({type="unknown_free"} 6)"));
    EXPECT_THAT(series("ttmem_process_deaths_total"), ElementsAre(" 9"));
    EXPECT_THAT(series("ttmem_process_deaths_holding_memory_total"), ElementsAre(" 2"));
    EXPECT_THAT(series("ttmem_process_execs_total"), ElementsAre(" 3"));
    EXPECT_THAT(series("ttmem_processes_missed_total"), ElementsAre(" 8"));
    EXPECT_THAT(series("ttmem_failed_tasks_total"), ElementsAre(" 10"));
    EXPECT_THAT(series("ttmem_events_followed_total"), ElementsAre(" 100"));
    EXPECT_THAT(series("ttmem_events_lost_total"), ElementsAre(" 7"));
    EXPECT_THAT(series("ttmem_defects_total"), ElementsAre(" 1"));
}

TEST_F(MetricsTest, BudgetsAreReportedByName) {
    describe(Budgets(), readings.self);
    const size_t number = base::enum_size<Budget>();
    EXPECT_THAT(series("ttmem_budget_used"), testing::SizeIs(number));
    EXPECT_THAT(series("ttmem_budget_refusals_total"), testing::SizeIs(number));
    readings.self.budgets = {{"processes", 1024, 1000, 1024, 4096, 7}};
    EXPECT_THAT(series("ttmem_budget_used"), ElementsAre(R"({budget="processes"} 1024)"));
    EXPECT_THAT(series("ttmem_budget_refusals_total"), ElementsAre(R"({budget="processes"} 7)"));
}

TEST_F(MetricsTest, TheFlightRecorderIsReportedIfThereIsOne) {
    EXPECT_THAT(series("ttmem_flight_recorder_up"), testing::IsEmpty());
    readings.self.flight_recorder = {"/r", true, "", 0, 3, 4096, 100, 7};
    EXPECT_THAT(series("ttmem_flight_recorder_up"), ElementsAre(" 1"));
    EXPECT_THAT(series("ttmem_flight_recorder_bytes"), ElementsAre(" 4096"));
    EXPECT_THAT(series("ttmem_flight_recorder_events_total"), ElementsAre(" 100"));
    EXPECT_THAT(series("ttmem_flight_recorder_events_lost_total"), ElementsAre(" 7"));
    readings.self.flight_recorder->is_recording = false;
    EXPECT_THAT(series("ttmem_flight_recorder_up"), ElementsAre(" 0"));
}

TEST_F(MetricsTest, TheDaemonReportsItsOwnCost) {
    readings.self.version = "0.1.0";
    readings.self.cpu_ns = 1'500'000'000;
    readings.self.uptime_ns = 60'000'000'000;
    readings.self.memory_bytes = 4096;
    EXPECT_THAT(series("ttmem_daemon_cpu_seconds_total"), ElementsAre(" 1.5"));
    EXPECT_THAT(series("ttmem_daemon_uptime_seconds"), ElementsAre(" 60"));
    EXPECT_THAT(series("ttmem_daemon_memory_bytes"), ElementsAre(" 4096"));
    EXPECT_THAT(series("ttmem_build_info"), ElementsAre(R"({version="0.1.0"} 1)"));
}

TEST_F(MetricsTest, ProcessesAreCountedByStateAndSource) {
    add_process(1, 0);
    add_process(2, 0);
    add_process(3, 0).source = census::ProcessSource::stock;
    add_process(4, 0).state = census::ProcessState::untracked;
    readings.figures.processes.back().source = census::ProcessSource::driver;
    EXPECT_THAT(series("ttmem_processes"), UnorderedElementsAre(R"({state="live",source="segment"} 2)",
                                                                R"({state="live",source="classic"} 0)",
                                                                R"({state="live",source="stock"} 1)",
                                                                R"({state="untracked",source="driver"} 1)"));
}

TEST_F(MetricsTest, ThereAreFewReasonLabelsForAnyNumberOfProcesses) {
    EXPECT_THAT(series("ttmem_inexact_reasons"), ElementsAre(" 0"));
    EXPECT_THAT(series("ttmem_inexact"), IsEmpty());
    for (uint32_t pid = 1; pid <= 100; ++pid) {
        readings.figures.inexact.push_back(
            {pid, census::Reason::segment_skipped, 1, "has version " + std::to_string(pid)});
    }
    readings.figures.inexact.push_back(
        {0, census::Reason::stock_region, 1, "/dev/shm/tt_device_1_memory: short"});
    readings.figures.inexact.push_back(
        {0, census::Reason::stock_region, 1, "/dev/shm/tt_device_2_memory: short"});
    readings.figures.inexact.push_back({7, census::Reason::ledger_full, 30});
    readings.figures.inexact.push_back({8, census::Reason::ledger_full, 1});
    EXPECT_THAT(series("ttmem_inexact_reasons"), ElementsAre(" 104"));
    EXPECT_THAT(series("ttmem_inexact"),
                UnorderedElementsAre(R"({reason="segment_skipped"} 100)", R"({reason="stock_region"} 1)",
                                     R"({reason="ledger_full"} 2)"));
}

TEST_F(MetricsTest, ProcessesHaveSeriesOnlyOnRequest) {
    add_process(4711, 12288);
    EXPECT_THAT(to_metrics(readings, ProcessSeries::no), Not(HasSubstr("4711")));
    const std::string labels = R"({pid="4711",comm="python3",user="alice",device="3",kind="dram"} )";
    EXPECT_THAT(series("ttmem_process_used_bytes", ProcessSeries::yes), Contains(labels + "12288"));
    EXPECT_THAT(series("ttmem_process_requested_bytes", ProcessSeries::yes), Contains(labels + "6144"));
    EXPECT_THAT(series("ttmem_process_series_left_out", ProcessSeries::yes), ElementsAre(" 0"));
}

TEST_F(MetricsTest, AnUntrackedProcessHasNoSeries) {
    add_process(4711, 0).devices[0].memory.fill({0, 0, 0, false, false});
    EXPECT_THAT(series("ttmem_process_used_bytes", ProcessSeries::yes), IsEmpty());
}

TEST_F(MetricsTest, NamesAreEscapedInLabels) {
    add_process(1, 8).comm = "a\"b\\c\nd";
    const auto used = series("ttmem_process_used_bytes", ProcessSeries::yes);
    EXPECT_THAT(used, testing::SizeIs(census::kDeviceKinds));
    EXPECT_THAT(used, Each(HasSubstr(R"(comm="a\"b\\c\nd",)")));
}

TEST_F(MetricsTest, NoSeriesAppearsTwice) {
    add_process(1, 8);
    add_process(1, 16);  // the pid was reused before the first was removed
    EXPECT_THAT(series("ttmem_process_used_bytes", ProcessSeries::yes),
                AllOf(testing::SizeIs(census::kDeviceKinds), Contains(HasSubstr(R"(kind="dram"} 24)"))));
}

TEST_F(MetricsTest, TheLargestProcessesAreShownIfThereAreTooMany) {
    for (uint32_t pid = 1; pid <= kMostProcessSeries + 2; ++pid) {
        add_process(pid, pid * 10);
    }
    const auto used = series("ttmem_process_used_bytes", ProcessSeries::yes);
    EXPECT_EQ(used.size(), kMostProcessSeries * census::kDeviceKinds);
    EXPECT_THAT(used, Each(Not(HasSubstr(R"(pid="2")"))));
    EXPECT_THAT(used, Contains(HasSubstr(R"(pid="3")")));
    EXPECT_THAT(series("ttmem_process_series_left_out", ProcessSeries::yes), ElementsAre(" 2"));
}

TEST_F(MetricsTest, TheNumberOfDevicesOfProcessesIsBounded) {
    for (uint32_t pid = 1; pid <= 3; ++pid) {
        const census::DeviceHoldings held = add_process(pid, pid * 10).devices[0];
        readings.figures.processes.back().devices.assign(kMostDeviceEntries / 2, held);
    }
    EXPECT_THAT(series("ttmem_process_series_left_out", ProcessSeries::yes), ElementsAre(" 1"));
}

}  // namespace
}  // namespace ttmem::daemon
