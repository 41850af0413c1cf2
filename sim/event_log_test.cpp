// SPDX-License-Identifier: Apache-2.0
//
// The calls behind the recorded event logs, on the simulated runtime, give the same events in the same order.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

namespace {

using nlohmann::json;

// Remarks of the recorder other than phases describe calls, not events.
bool is_remark(const json& line) {
    const auto event = line.at("event").get<std::string>();
    return event.starts_with("--") && event != "--phase";
}

// A program's devices are a set of pointers, so the order in which they report its end is arbitrary.
void sort_runs_of_deallocate_cb(std::vector<json>& lines) {
    const auto ends_a_cb = [](const json& line) { return line.at("event") == "deallocate_cb"; };
    for (auto from = lines.begin(); from != lines.end();) {
        const auto start = std::find_if(from, lines.end(), ends_a_cb);
        const auto end = std::find_if_not(start, lines.end(), ends_a_cb);
        std::sort(start, end,
                  [](const json& a, const json& b) { return a.at("device_id") < b.at("device_id"); });
        from = end;
    }
}

std::vector<json> events_of(std::istream& log) {
    std::vector<json> lines;
    std::string text;
    while (std::getline(log, text)) {
        json line = json::parse(text);
        if (!is_remark(line)) {
            line.erase("seq");  // counts the remarks too
            lines.push_back(std::move(line));
        }
    }
    sort_runs_of_deallocate_cb(lines);
    return lines;
}

std::string output_of(const std::string& command) {
    std::string output;
    FILE* pipe = popen(command.c_str(), "r");
    EXPECT_NE(pipe, nullptr);
    char part[4096];
    while (pipe != nullptr) {
        const size_t got = fread(part, 1, sizeof(part), pipe);
        if (got == 0) {
            break;
        }
        output.append(part, got);
    }
    EXPECT_EQ(pclose(pipe), 0) << command;
    return output;
}

class EventLog : public ::testing::TestWithParam<const char*> {};

TEST_P(EventLog, HasTheSameEventsInTheSameOrder) {
    const std::string name = GetParam();
    std::ifstream recorded_file(std::string(TTMEM_TEST_DATA) + "/" + name + ".jsonl");
    ASSERT_TRUE(recorded_file) << "cannot read " << name << ".jsonl in " << TTMEM_TEST_DATA;
    std::istringstream simulated_text(
        output_of("TTMEM_SIM_BOARD=t3000 '" TTMEM_TEST_BIN_DIR "/record_events' " + name));
    const std::vector<json> recorded = events_of(recorded_file);
    const std::vector<json> simulated = events_of(simulated_text);
    ASSERT_GT(recorded.size(), 5u);
    for (size_t i = 0; i < std::min(recorded.size(), simulated.size()); ++i) {
        ASSERT_EQ(recorded[i], simulated[i]) << "event " << i;
    }
    EXPECT_EQ(recorded.size(), simulated.size());
}

INSTANTIATE_TEST_SUITE_P(Recorded, EventLog,
                         ::testing::Values("t3000_events", "t3000_programs_and_views", "t3000_unit_meshes"),
                         [](const auto& each) { return std::string(each.param); });

}  // namespace
