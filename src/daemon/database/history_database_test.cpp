// SPDX-License-Identifier: Apache-2.0
#include "daemon/database/history_database.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <random>

#include "base/time.hpp"
#include "daemon/database/history_reader.hpp"

namespace ttmem::daemon {
namespace {

namespace fs = std::filesystem;
using census::Kind;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr uint64_t kSecond = base::kNsPerSecond;
constexpr uint64_t kDay = 24 * 3600 * kSecond;
constexpr uint64_t kBegin = 1'700'000'000 * kSecond;  // since the epoch

census::Identity process(uint32_t pid, uint32_t uid) {
    census::Identity identity;
    identity.pid = pid;
    identity.start_time = pid * 100;
    identity.uid = uid;
    identity.user = "user" + std::to_string(uid);
    identity.comm = "program";
    return identity;
}

struct HistoryDatabaseTest : testing::Test {
    HistoryDatabaseTest() {
        std::string name = testing::TempDir() + "/historyXXXXXX";
        folder = mkdtemp(name.data());
        file = folder / "history" / "history.db";
    }
    ~HistoryDatabaseTest() override { fs::remove_all(folder); }

    // The clocks after so many seconds.
    TwoClocks at(uint64_t second) const { return {second * kSecond, epoch_ns + second * kSecond}; }

    void open(uint64_t second = 0) {
        database.reset();
        auto opened = HistoryDatabase::open(file, limits, "1", at(second), set_aside);
        ASSERT_TRUE(opened) << opened.error().text;
        database = std::move(*opened);
    }
    std::string error_of_open() {
        const auto opened = HistoryDatabase::open(file, limits, "1", at(0), set_aside);
        return opened ? "" : opened.error().text;
    }

    void sample(uint64_t second, uint64_t used, uint32_t device = 0, int64_t uid = kNobody) {
        HistoryBatch batch;
        batch.sampled_boot_ns = second * kSecond;
        batch.devices.push_back({device, 0x10 + device, uid, Kind::dram, used});
        write(batch, second);
    }
    void mark(uint64_t second, const std::string& name, uint32_t pid = 7, uint32_t uid = 1) {
        HistoryBatch batch;
        view::PastMoment moment;
        moment.time_ns = at(second).epoch_ns;
        moment.type = view::PastMomentType::mark;
        moment.pid = pid;
        moment.name = name;
        batch.moments.push_back({process(pid, uid), moment});
        write(batch, second);
    }
    void death(uint64_t second, uint32_t pid, uint32_t uid, size_t bytes) {
        HistoryBatch batch;
        DeathRow row{process(pid, uid), {}, std::string(bytes, 'x')};
        row.post_mortem.summary.died_ns = at(second).epoch_ns;
        batch.deaths.push_back(std::move(row));
        write(batch, second);
    }
    void write(const HistoryBatch& batch, uint64_t second) {
        const auto written = database->write(batch, at(second));
        ASSERT_TRUE(written) << written.error().text;
    }

    std::vector<history::Sample> samples(uint64_t now_second, uint32_t device = 0) {
        HistoryReader reader(file);
        return reader.samples_of(HistoryReader::DeviceSeries{device, 0x10 + device, Kind::dram},
                                 reader.runs(at(now_second).epoch_ns), {});
    }
    std::vector<std::string> marks(uint64_t now_second) {
        HistoryReader reader(file);
        std::vector<std::string> names;
        const auto found = reader.moments(reader.runs(at(now_second).epoch_ns), {}, 1'000'000,
                                          [](uint32_t) { return true; });
        for (const view::PastMoment& moment : found.moments) {
            if (moment.type == view::PastMomentType::mark) {
                names.push_back(moment.name);
            }
        }
        return names;
    }
    std::map<uint32_t, size_t> deaths_by_user() {
        HistoryReader reader(file);
        std::map<uint32_t, size_t> counts;
        for (const HistoryReader::Death& death : reader.deaths(reader.runs(UINT64_MAX), std::nullopt)) {
            ++counts[death.uid];
        }
        return counts;
    }

    fs::path folder;
    fs::path file;
    HistoryLimits limits;
    uint64_t epoch_ns = kBegin;
    std::string set_aside;
    std::unique_ptr<HistoryDatabase> database;
};

TEST_F(HistoryDatabaseTest, WhatIsWrittenIsThereInTheNextRun) {
    open();
    sample(10, 100);
    sample(20, 200);
    mark(25, "step 1");
    open(60);
    sample(70, 300);
    EXPECT_THAT(samples(80), ElementsAre(history::Sample{kBegin + 10 * kSecond, 100},
                                         history::Sample{kBegin + 20 * kSecond, 200},
                                         history::Sample{kBegin + 70 * kSecond, 300}));
    EXPECT_THAT(marks(80), ElementsAre("step 1"));
    HistoryReader reader(file);
    const auto runs = reader.runs(at(80).epoch_ns);
    ASSERT_THAT(runs, SizeIs(2));
    EXPECT_EQ(runs[0].ended_ns(), kBegin + 25 * kSecond);
    EXPECT_EQ(runs[1].began_ns, kBegin + 60 * kSecond);
}

TEST_F(HistoryDatabaseTest, TheFileIsForTheDaemonAlone) {
    open();
    sample(10, 1);
    for (const auto& entry : fs::directory_iterator(file.parent_path())) {
        EXPECT_EQ(entry.status().permissions() & fs::perms(0777), fs::perms(0600)) << entry.path();
    }
    EXPECT_EQ(fs::status(file.parent_path()).permissions() & fs::perms(0777), fs::perms(0700));
}

TEST_F(HistoryDatabaseTest, AValueThatStaysIsWrittenOncePerMinute) {
    open();
    for (uint64_t second = 0; second < 300; second += 10) {
        sample(second, 5);
    }
    EXPECT_THAT(samples(300), SizeIs(5));
    sample(300, 6);
    EXPECT_THAT(samples(310).back(), (history::Sample{kBegin + 300 * kSecond, 6}));
}

TEST_F(HistoryDatabaseTest, AProcessIsReadOnWhereTheLastDaemonStopped) {
    open();
    mark(1, "read");
    HistoryBatch batch;
    batch.seen.push_back({process(7, 1), {1, 2, 3, 4}});
    write(batch, 2);
    open(10);
    EXPECT_EQ(database->seen(process(7, 1)), (SeenCounts{1, 2, 3, 4}));
    EXPECT_EQ(database->seen(process(8, 1)), SeenCounts{});
}

TEST_F(HistoryDatabaseTest, ADamagedFileIsPutAsideAndHistoryBeginsAnew) {
    const auto damage = [&](const std::function<void()>& harm) {
        open();
        for (uint64_t second = 0; second < 5000; second += 10) {
            sample(second, second);
        }
        database.reset();
        harm();
        set_aside.clear();
        open(6000);
        EXPECT_EQ(set_aside, file.string() + ".damaged");
        EXPECT_TRUE(fs::exists(set_aside));
        EXPECT_THAT(samples(6010), IsEmpty());
        sample(6010, 1);
        EXPECT_THAT(samples(6020), SizeIs(1));
        database.reset();
        fs::remove(file);
    };
    damage([&] {
        std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
        bytes.seekp(4096);
        bytes << std::string(8192, 'x');
    });
    damage([&] { fs::resize_file(file, fs::file_size(file) / 2); });
    damage([&] {
        std::ofstream(file, std::ios::binary | std::ios::trunc) << "This is no database.\n"
                                                                << std::string(9000, '.');
    });
}

TEST_F(HistoryDatabaseTest, AnyFlippedByteIsFoundOrReadWithoutHarm) {
    open();
    for (uint64_t second = 0; second < 600; second += 10) {
        sample(second, second);
    }
    mark(600, "m");
    death(601, 9, 1, 2000);
    database.reset();
    std::ifstream whole(file, std::ios::binary);
    const std::string good{std::istreambuf_iterator<char>(whole), {}};
    std::mt19937 random(1);
    for (int round = 0; round < 200; ++round) {
        std::string bad = good;
        for (int i = 0; i < 4; ++i) {
            bad[random() % bad.size()] = static_cast<char>(random());
        }
        std::ofstream(file, std::ios::binary | std::ios::trunc) << bad;
        auto opened = HistoryDatabase::open(file, limits, "1", at(700), set_aside);
        if (opened) {
            samples(700);
            marks(700);
            deaths_by_user();
            HistoryBatch batch;
            batch.sampled_boot_ns = 710 * kSecond;
            batch.devices.push_back({0, 0x10, kNobody, Kind::dram, 1});
            (void)(*opened)->write(batch, at(710));
        }
        opened = tl::unexpected(base::Error{});
        fs::remove_all(file.parent_path());
        fs::create_directory(file.parent_path());
    }
}

TEST_F(HistoryDatabaseTest, AFileOfANewerVersionIsNotTouched) {
    open();
    mark(1, "kept");
    database.reset();
    {
        SqliteConnection connection(file, SqliteConnection::Access::write);
        connection.run("PRAGMA user_version = 2");
        ASSERT_FALSE(connection.has_problem());
    }
    EXPECT_THAT(error_of_open(), HasSubstr("a newer ttmemd wrote it (version 2, this one writes 1)"));
    EXPECT_EQ(set_aside, "");
    EXPECT_THAT(marks(10), ElementsAre("kept"));
}

TEST_F(HistoryDatabaseTest, ADatabaseOfAnotherProgramIsNotTouched) {
    fs::create_directories(file.parent_path());
    {
        SqliteConnection connection(file, SqliteConnection::Access::write);
        connection.run("CREATE TABLE theirs (a)");
    }
    EXPECT_THAT(error_of_open(), HasSubstr("not a history of ttmemd"));
}

TEST_F(HistoryDatabaseTest, TwoDaemonsDontWriteOneFile) {
    open();
    EXPECT_THAT(error_of_open(), HasSubstr("another ttmemd writes it"));
}

TEST_F(HistoryDatabaseTest, AFolderThatCantBeMadeIsAnError) {
    std::ofstream(folder / "history") << "a file";
    EXPECT_THAT(error_of_open(), HasSubstr("history"));
}

TEST_F(HistoryDatabaseTest, TheFileStaysWithinItsSizeAndTheUserWithMostLosesTheOldest) {
    limits.bytes = kLeastHistoryBytes;
    open();
    for (uint32_t i = 0; i < 10; ++i) {
        death(i, 100 + i, 1, 10'000);
    }
    for (uint32_t i = 0; i < 1000; ++i) {  // ten times the size
        death(100 + i * 10, 1000 + i, 2, 10'000);
        ASSERT_LE(fs::file_size(file), 2 * limits.bytes);
    }
    auto counts = deaths_by_user();
    EXPECT_EQ(counts[1], 10U) << "a user with little loses nothing";
    EXPECT_GT(counts[2], 50U);
    EXPECT_LT(counts[2], 110U);
    HistoryReader reader(file);
    EXPECT_EQ(reader.deaths(reader.runs(UINT64_MAX), std::nullopt).front().pid, 1999U) << "the last is there";
}

TEST_F(HistoryDatabaseTest, ASmallerLimitShrinksTheFile) {
    open();
    for (uint32_t i = 0; i < 500; ++i) {
        death(i * 100, 1000 + i, 2, 10'000);
    }
    limits.bytes = kLeastHistoryBytes;
    open(60'000);
    for (uint64_t second = 60'010; second < 60'100; second += 10) {
        sample(second, second);
    }
    database.reset();
    EXPECT_LE(fs::file_size(file), kLeastHistoryBytes * 5 / 4);
}

TEST_F(HistoryDatabaseTest, WhatIsTooOldIsRemoved) {
    limits.days = 2;
    open();
    sample(10, 1);
    mark(20, "old");
    death(30, 7, 1, 100);
    open(1 * 86400);
    mark(86400 + 10, "new");
    open(2 * 86400 + 3600);
    sample(2 * 86400 + 3610, 2);
    EXPECT_THAT(marks(2 * 86400 + 3620), ElementsAre("new"));
    EXPECT_THAT(samples(2 * 86400 + 3620),
                ElementsAre(history::Sample{kBegin + 2 * kDay + 3610 * kSecond, 2}));
    EXPECT_THAT(deaths_by_user(), IsEmpty());
    HistoryReader reader(file);
    EXPECT_THAT(reader.runs(UINT64_MAX), SizeIs(2)) << "a run of which nothing is left is forgotten";
    EXPECT_EQ(database->oldest_ns(), kBegin + kDay);
}

TEST_F(HistoryDatabaseTest, AfterADayTheHighestOfEachMinuteIsLeft) {
    open();
    for (uint64_t second = 0; second < 600; second += 10) {
        sample(second, second % 60 == 30 ? 1000 + second : second);
    }
    open(90'000);
    for (uint64_t second = 90'000; second < 92'000; second += 700) {
        sample(second, 1);
    }
    std::vector<uint64_t> old;
    for (const history::Sample& one : samples(92'000)) {
        if (one.time_ns < kBegin + 600 * kSecond) {
            old.push_back(one.value);
        }
    }
    EXPECT_THAT(old, ElementsAre(1030, 1090, 1150, 1210, 1270, 1330, 1390, 1450, 1510, 1570));
}

TEST_F(HistoryDatabaseTest, AClockThatIsSetBackMovesTheRunAndKeepsItsOrder) {
    open();
    sample(10, 1);
    mark(15, "before");
    epoch_ns -= 3600 * kSecond;
    sample(20, 2);
    mark(25, "after");
    EXPECT_THAT(samples(30), ElementsAre(history::Sample{epoch_ns + 10 * kSecond, 1},
                                         history::Sample{epoch_ns + 20 * kSecond, 2}));
    EXPECT_THAT(marks(30), ElementsAre("before", "after"));
}

TEST_F(HistoryDatabaseTest, RunsFollowEachOtherAlsoWhereTheClockWasWrongInOne) {
    epoch_ns += 1000 * kDay;
    open();
    sample(10, 1);
    epoch_ns -= 1000 * kDay;
    open(100);
    sample(110, 2);
    HistoryReader reader(file);
    const auto runs = reader.runs(at(120).epoch_ns);
    ASSERT_THAT(runs, SizeIs(2));
    EXPECT_LE(runs[0].ended_ns(), runs[1].began_ns);
    EXPECT_THAT(samples(120), ElementsAre(history::Sample{runs[0].began_ns + 10 * kSecond, 1},
                                          history::Sample{kBegin + 110 * kSecond, 2}));
}

TEST_F(HistoryDatabaseTest, AReaderSeesWholeWritesWhileThereAreMore) {
    open();
    HistoryReader reader(file);
    for (uint64_t second = 10; second < 500; second += 10) {
        sample(second, second);
        const auto seen = reader.samples_of(HistoryReader::DeviceSeries{0, 0x10, Kind::dram},
                                            reader.runs(at(second).epoch_ns), {});
        ASSERT_EQ(seen.size(), second / 10);
    }
}

// Each write has a mark and a death.
TEST_F(HistoryDatabaseTest, AWriterThatIsKilledLeavesWholeWritesAndAllThatItReported) {
    size_t reported = 0;
    const char* const kills = getenv("TTMEM_KILLS");
    for (int round = 0; round < (kills != nullptr ? atoi(kills) : 60); ++round) {
        int reports[2];
        ASSERT_EQ(pipe(reports), 0);
        const pid_t writer = fork();
        if (writer == 0) {
            auto opened = HistoryDatabase::open(file, limits, "1", at(0), set_aside);
            for (uint32_t i = 0; opened; ++i) {
                HistoryBatch batch;
                view::PastMoment moment;
                moment.type = view::PastMomentType::mark;
                moment.name = std::string(200, 'm');
                moment.time_ns = at(i).epoch_ns;
                DeathRow row{process(1000 + i, 1), {}, std::string(3000, 'x')};
                batch.moments.push_back({row.process, moment});
                batch.deaths.push_back(std::move(row));
                if (!(*opened)->write(batch, at(i)) || ::write(reports[1], "x", 1) != 1) {
                    break;
                }
            }
            _exit(1);
        }
        close(reports[1]);
        char one = 0;
        for (int i = 0; i <= round % 7; ++i) {
            ASSERT_EQ(::read(reports[0], &one, 1), 1) << "the writer ended";
            ++reported;
        }
        usleep(static_cast<useconds_t>(round * 37 % 1500));  // anywhere in a write
        kill(writer, SIGKILL);
        while (::read(reports[0], &one, 1) == 1) {
            ++reported;
        }
        close(reports[0]);
        waitpid(writer, nullptr, 0);
    }
    open(1000);
    EXPECT_EQ(set_aside, "");
    EXPECT_EQ(marks(2000).size(), deaths_by_user()[1]) << "a write is whole";
    EXPECT_GE(deaths_by_user()[1], reported);
}

TEST_F(HistoryDatabaseTest, AFailureOfOneUserIsCountedAndNotShownToAnother) {
    open();
    mark(1, "of one", 7, 1);
    mark(2, "of two", 8, 2);
    HistoryReader reader(file);
    const auto found =
        reader.moments(reader.runs(at(10).epoch_ns), {}, 1000, [](uint32_t uid) { return uid == 2; });
    ASSERT_THAT(found.moments, SizeIs(1));
    EXPECT_EQ(found.moments[0].name, "of two");
    EXPECT_EQ(found.hidden, 1U);
}

}  // namespace
}  // namespace ttmem::daemon
