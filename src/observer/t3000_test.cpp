// SPDX-License-Identifier: Apache-2.0
//
// The calls behind the recorded log of a real T3000 under the observer: each of the eight chips has the totals that the
// log's README states, including allocations that no graph processor saw.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "sim/testing/segment_totals_test_support.hpp"
#include "tests/support/own_segment.hpp"
#include "tests/support/preload.hpp"

namespace ttmem::observer {
namespace {

using nlohmann::json;
using sim::testing::Bytes;
using sim::testing::SegmentBytes;

// record_events under the observer, paused at the beginning of each phase.
class Recording {
public:
    Recording() {
        int to_child[2];
        int from_child[2];
        EXPECT_EQ(pipe2(to_child, O_CLOEXEC), 0);
        EXPECT_EQ(pipe2(from_child, O_CLOEXEC), 0);
        const std::string preload = test::preload_name_of(TTMEM_OBSERVER);
        pid_ = fork();
        if (pid_ == 0) {
            dup2(to_child[0], STDIN_FILENO);
            dup2(from_child[1], STDOUT_FILENO);
            for (const auto& [name, value] :
                 {std::pair("TTMEM_SIM_BOARD", "t3000"), std::pair("TTMEM_SIM_REPORTING", "0"),
                  std::pair("RECORD_EVENTS_PAUSE", "1"), std::pair("TT_ALLOC_TRACKING_ENABLED", "1"),
                  std::pair("LD_PRELOAD", preload.c_str())}) {
                setenv(name, value, 1);
            }
            execl(TTMEM_TEST_BIN_DIR "/record_events", "record_events", "t3000_events", nullptr);
            _exit(127);
        }
        close(to_child[0]);
        close(from_child[1]);
        input_ = to_child[1];
        output_ = fdopen(from_child[0], "r");
    }
    ~Recording() {
        close(input_);  // it runs to its end
        while (getc(output_) != EOF) {
        }
        fclose(output_);
        int status = 0;
        waitpid(pid_, &status, 0);
        EXPECT_EQ(status, 0);
    }
    Recording(const Recording&) = delete;
    Recording& operator=(const Recording&) = delete;

    // Continues to the beginning of this phase.
    void go_to(const std::string& phase) {
        for (std::string line;;) {
            const int c = getc(output_);
            ASSERT_NE(c, EOF) << "there is no phase '" << phase << "'";
            if (c != '\n') {
                line.push_back(static_cast<char>(c));
                continue;
            }
            const json event = json::parse(line);
            line.clear();
            if (event.at("event") == "--phase") {
                if (event.at("phase") == phase) {
                    return;
                }
                ASSERT_EQ(write(input_, "\n", 1), 1);
            }
        }
    }

    void resume() { ASSERT_EQ(write(input_, "\n", 1), 1); }

    SegmentBytes seen() const {
        const segment::Reader reader = test::reader_of(pid_);
        const segment::Totals totals = reader.totals();
        EXPECT_FALSE(totals.settling);
        SegmentBytes by_counters = sim::testing::add_up(reader, totals);
        EXPECT_EQ(by_counters, sim::testing::add_up(reader, reader.totals_from_ledger()));
        return by_counters;
    }

private:
    pid_t pid_ = -1;
    int input_ = -1;
    FILE* output_ = nullptr;
};

void expect_on_all_chips(const SegmentBytes& seen, const std::string& kind, uint64_t requested,
                         uint64_t used) {
    EXPECT_EQ(seen.size(), 8u);
    for (const auto& [asic, kinds] : seen) {
        EXPECT_EQ(kinds.at(kind).requested, requested) << kind << " of " << std::hex << asic;
        EXPECT_EQ(kinds.at(kind).used, used) << kind << " of " << std::hex << asic;
    }
}

void expect_nothing(const SegmentBytes& seen) {
    for (const char* kind : {"dram", "l1", "l1_small", "trace", "cb"}) {
        expect_on_all_chips(seen, kind, 0, 0);
    }
}

TEST(T3000, EndsWithTheTotalsOfTheRecordedRunOnAllEightChips) {
    std::ifstream log(std::string(TTMEM_TEST_DATA) + "/t3000_events.jsonl");
    ASSERT_TRUE(log) << "cannot read t3000_events.jsonl in " << TTMEM_TEST_DATA;
    Recording recording;
    recording.go_to("replicated DRAM 1MiB: drop last reference");
    expect_on_all_chips(recording.seen(), "dram", 1'048'576, 88'064 * 12);
    recording.resume();

    // A buffer of another thread, which the log lacks.
    recording.go_to("buffer allocated on other thread: dropped on main");
    expect_on_all_chips(recording.seen(), "dram", 65'536, 6'144 * 12);
    recording.resume();

    for (const char* phase : {"program: EnqueueMeshWorkload #2 (cached)", "program: destroy workload"}) {
        recording.go_to(phase);
        const SegmentBytes seen = recording.seen();
        expect_on_all_chips(seen, "l1", 32'768, 458'752);
        expect_on_all_chips(seen, "cb", 20'480, 81'920);
        recording.resume();
    }
    recording.go_to("program: drop L1 buffer");
    expect_on_all_chips(recording.seen(), "cb", 0, 0);
    recording.resume();

    // Two programs, laid out on pool threads, each on every chip of the mesh.
    recording.go_to("heterogeneous: destroy");
    expect_on_all_chips(recording.seen(), "cb", 16'384 + 32'768, (16'384 + 32'768) * 4);
    recording.resume();

    recording.go_to("two DRAM buffers and a program kept alive across close()");
    expect_nothing(recording.seen());
    recording.resume();
    recording.go_to("mesh->close() with live buffers");
    expect_on_all_chips(recording.seen(), "dram", 65'536, 6'144 * 12);
    expect_on_all_chips(recording.seen(), "l1", 32'768, 2'048 * 56);
    recording.resume();
    for (const char* phase : {"drop live buffer 1 after close()", "mesh.reset()", "end"}) {
        recording.go_to(phase);
        expect_nothing(recording.seen());
        recording.resume();
    }
}

}  // namespace
}  // namespace ttmem::observer
