// SPDX-License-Identifier: Apache-2.0

// What an export leaves out where there is more than a viewer can bear, and that it says so.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "exports/formats.hpp"

namespace ttmem::exports {

namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class Limits : public testing::Test {
protected:
    Limits() {
        std::string name = testing::TempDir() + "ttmem-limits-XXXXXX";
        folder_ = mkdtemp(name.data());
        model_.host = "there";
        model_.end_ns = 1000;
        model_.devices.resize(1);
        model_.processes.resize(1);
        model_.sets = {{0, "set", {0}}};
        model_.names = {"", "smallest", "middle", "largest"};
        // All three are live from their beginning to the end.
        for (uint32_t i = 1; i <= 3; ++i) {
            AllocationSpan span;
            span.name = i;
            span.begin_ns = 100;
            span.allocation.requested = span.allocation.reserved = uint64_t{1} << (10 * i);
            span.allocation.address = uint64_t{1} << (11 * i);
            model_.spans.push_back(span);
        }
        for (uint64_t i = 0; i < 5; ++i) {
            model_.marks.push_back({200 + 100 * i, 0, "mark " + std::to_string(i)});
        }
        model_.failures.push_back({300, 0, {}});
    }
    ~Limits() override { std::filesystem::remove_all(folder_); }
    Limits(const Limits&) = delete;
    Limits& operator=(const Limits&) = delete;

    std::string path(const std::string& name) const { return folder_ + "/" + name; }

    Notes trace(size_t most_slices, std::string& bytes) const {
        auto output = Output::create(path("trace"), true);
        Notes notes = write_perfetto(model_, *output, most_slices);
        EXPECT_TRUE(output->finish());
        std::ifstream file(path("trace"), std::ios::binary);
        bytes.assign(std::istreambuf_iterator<char>(file), {});
        return notes;
    }

    // The first column of a query, row by row.
    std::vector<std::string> report(const ReportLimits& limits, const char* query, Notes& notes) const {
        notes = *write_ttnn_visualizer(model_, path("report"), true, limits);
        sqlite3* database = nullptr;
        EXPECT_EQ(sqlite3_open(path("report/db.sqlite").c_str(), &database), SQLITE_OK);
        std::vector<std::string> values;
        sqlite3_exec(
            database, query,
            [](void* to, int, char** row, char**) {
                static_cast<std::vector<std::string>*>(to)->emplace_back(row[0]);
                return 0;
            },
            &values, nullptr);
        sqlite3_close(database);
        return values;
    }

    std::string folder_;
    ExportModel model_;
};

TEST_F(Limits, ATraceHasTheSlicesWithTheMostBytesAndTime) {
    std::string bytes;
    EXPECT_THAT(trace(3, bytes), IsEmpty());
    EXPECT_THAT(bytes, HasSubstr("smallest"));
    EXPECT_THAT(trace(2, bytes),
                ElementsAre("1 allocation has no slice: those with the most bytes and time have one (2); the "
                            "counters have all of them"));
    EXPECT_THAT(bytes, Not(HasSubstr("smallest")));
    EXPECT_THAT(bytes, HasSubstr("middle"));
    EXPECT_THAT(bytes, HasSubstr("largest"));
}

TEST_F(Limits, AReportHasTheFirstMoments) {
    constexpr char kNames[] = "SELECT name FROM operations ORDER BY operation_id";
    Notes notes;
    // The beginning, a peak, a failure, five marks and the end.
    EXPECT_EQ(report({.moments = 9}, kNames, notes).size(), 9u);
    EXPECT_THAT(notes, IsEmpty());
    EXPECT_THAT(report({.moments = 6}, kNames, notes),
                ElementsAre("beginning", "peak of dram", "mark: mark 0", "failure: out_of_memory",
                            "mark: mark 1", "end"));
    EXPECT_THAT(notes, ElementsAre("3 marks and failures are left out: a report has 6 moments"));
}

TEST_F(Limits, AReportHasTheFirstRowsOfBuffers) {
    constexpr char kRows[] = "SELECT operation_id FROM buffers";
    Notes notes;
    // Each moment but the beginning has all three.
    EXPECT_EQ(report({}, kRows, notes).size(), 8u * 3);
    EXPECT_THAT(notes, IsEmpty());
    EXPECT_THAT(report({.buffer_rows = 4}, kRows, notes), ElementsAre("2", "2", "2", "3"));
    EXPECT_THAT(notes, ElementsAre("20 buffers are left out: a report has 4 rows"));
}

}  // namespace

}  // namespace ttmem::exports
