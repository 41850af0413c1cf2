// SPDX-License-Identifier: Apache-2.0
#include "daemon/database/history_keeper.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "census/segment_test_support.hpp"

namespace ttmem::daemon {
namespace {

namespace fs = std::filesystem;
using view::HistoryState;

void wait_until(const std::function<bool()>& condition) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!condition()) {
        ASSERT_LT(std::chrono::steady_clock::now(), end) << "timed out";
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
}

struct HistoryKeeperTest : testing::Test {
    HistoryKeeperTest() {
        std::string name = testing::TempDir() + "/keeperXXXXXX";
        folder = mkdtemp(name.data());
        settings.state = folder;
        settings.version = "1";
        settings.sample_interval = std::chrono::milliseconds(5);
        settings.retry_interval = std::chrono::milliseconds(5);
    }
    ~HistoryKeeperTest() override { fs::remove_all(folder); }

    void start() {
        keeper.emplace(settings, process_table, post_mortems, [this](const std::string& note) {
            const std::lock_guard lock(notes_mutex);
            notes.push_back(note);
        });
        keeper->start();
    }
    bool is(HistoryState state) { return keeper->status().state == state; }
    bool has_note(const std::string& part) {
        const std::lock_guard lock(notes_mutex);
        return std::any_of(notes.begin(), notes.end(),
                           [&](const std::string& note) { return note.find(part) != std::string::npos; });
    }

    void add_sample(uint64_t used) {
        census::Figures figures;
        census::DeviceFigures& device = figures.devices.emplace_back();
        device.id = 3;
        device.asic_id = 0xa;
        device.memory[0].used = used;
        samples.add(base::realtime_ns(), figures);
        keeper->add_sample({}, figures, samples);
    }
    std::vector<history::Sample> kept() {
        std::vector<history::Sample> found;
        keeper->read([&](HistoryReader& reader) {
            found = reader.samples_of(HistoryReader::DeviceSeries{3, 0xa, census::Kind::dram},
                                      reader.runs(UINT64_MAX), {});
        });
        return found;
    }

    fs::path folder;
    HistorySettings settings;
    ProcessTable process_table;
    PostMortems post_mortems;
    history::Samples samples;
    std::mutex notes_mutex;
    std::vector<std::string> notes;
    std::optional<HistoryKeeper> keeper;
};

TEST_F(HistoryKeeperTest, ReadersAndSamplesGoOnWhileItWrites) {
    start();
    wait_until([&] { return is(HistoryState::kept); });
    std::atomic<bool> is_done = false;
    std::vector<std::thread> readers;
    for (int i = 0; i < 3; ++i) {
        readers.emplace_back([&] {
            while (!is_done) {
                const auto found = kept();
                EXPECT_TRUE(std::is_sorted(found.begin(), found.end(), [](const auto& a, const auto& b) {
                    return a.time_ns < b.time_ns;
                }));
                keeper->status();
            }
        });
    }
    for (uint64_t used = 1; used < 200; ++used) {
        add_sample(used);
        keeper->wake();
        std::this_thread::yield();
    }
    wait_until([&] { return !kept().empty(); });
    is_done = true;
    for (std::thread& reader : readers) {
        reader.join();
    }
    keeper->stop();
}

TEST_F(HistoryKeeperTest, StopWritesTheLastSamples) {
    settings.sample_interval = std::chrono::hours(1);
    start();
    wait_until([&] { return is(HistoryState::kept); });
    add_sample(77);
    keeper->stop();
    start();
    wait_until([&] { return is(HistoryState::kept); });
    ASSERT_EQ(kept().size(), 1U);
    EXPECT_EQ(kept()[0].value, 77U);
}

TEST_F(HistoryKeeperTest, AFileThatIsDamagedWhileItIsReadIsPutAside) {
    start();
    wait_until([&] { return is(HistoryState::kept); });
    const fs::path file = keeper->status().path;
    for (uint64_t used = 1; used < 50; ++used) {
        add_sample(used);
    }
    wait_until([&] { return !kept().empty(); });
    for (const char* part : {"", "-wal"}) {
        std::fstream bytes(file.string() + part, std::ios::in | std::ios::out | std::ios::binary);
        bytes << std::string(64 * 1024, 'x');
    }
    wait_until([&] {
        add_sample(1);
        kept();
        keeper->wake();
        return !keeper->status().set_aside.empty() && is(HistoryState::kept);
    });
    EXPECT_TRUE(has_note("was damaged"));
}

TEST_F(HistoryKeeperTest, WithoutAFolderItSaysSoAndKeepsNothing) {
    settings.state.clear();
    start();
    wait_until([&] { return is(HistoryState::stopped); });
    EXPECT_NE(keeper->problem().find("TTMEM_STATE_DIR"), std::string::npos);
    EXPECT_FALSE(keeper->read([](HistoryReader&) {}));
    wait_until([&] {
        add_sample(1);
        keeper->wake();
        return keeper->status().lost != 0;
    });
}

TEST_F(HistoryKeeperTest, WhenTheFolderComesBackHistoryIsKeptAgain) {
    std::ofstream(folder / "history") << "in the way";
    start();
    wait_until([&] { return is(HistoryState::stopped); });
    fs::remove(folder / "history");
    wait_until([&] { return is(HistoryState::kept); });
    EXPECT_TRUE(has_note("history is kept again"));
}

TEST_F(HistoryKeeperTest, AUserBeginsABoundedNumberOfSeriesPerWrite) {
    HistorySampler sampler;
    census::Census census;
    census::Figures figures;
    census::TestSegment segment;
    for (uint32_t pid = 1; pid <= 300; ++pid) {
        census.processes.push_back(segment.process(pid));
        census.processes.back().identity.uid = pid <= 290 ? 1 : 2;
        census::ProcessFigures& process = figures.processes.emplace_back();
        process.pid = pid;
        process.devices.emplace_back().memory[0].used = 1;
    }
    const auto rows_of = [&] {
        HistoryBatch batch;
        sampler.add(1, census, figures, samples);
        sampler.take(batch);
        std::map<uint32_t, size_t> rows;
        for (const ProcessRow& row : batch.processes) {
            ++rows[row.process.uid];
        }
        return rows;
    };
    EXPECT_EQ(rows_of(), (std::map<uint32_t, size_t>{{1, 64}, {2, 10}}));
    EXPECT_EQ(rows_of(), (std::map<uint32_t, size_t>{{1, 128}, {2, 10}}));
}

}  // namespace
}  // namespace ttmem::daemon
