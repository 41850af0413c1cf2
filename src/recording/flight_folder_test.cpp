// SPDX-License-Identifier: Apache-2.0
#include "recording/flight_folder.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "recording/block_writer.hpp"
#include "recording/facts.hpp"
#include "recording/moment.hpp"
#include "recording/recording.hpp"
#include "recording/recording_writer.hpp"

namespace ttmem::recording {

namespace {

namespace fs = std::filesystem;

constexpr FlightLimits kSmall{24, kLeastFlightBytes};

class FlightFolderTest : public testing::Test {
protected:
    FlightFolderTest() {
        std::string name = testing::TempDir() + "ttmem-flight-XXXXXX";
        parent_ = mkdtemp(name.data());
    }
    ~FlightFolderTest() override { fs::remove_all(parent_); }
    FlightFolderTest(const FlightFolderTest&) = delete;
    FlightFolderTest& operator=(const FlightFolderTest&) = delete;

    std::string folder() const { return parent_ + "/flight"; }

    uint64_t bytes() const {
        uint64_t sum = 0;
        for (const fs::path& path : flight_files(folder())) {
            sum += fs::file_size(path);
        }
        return sum;
    }

    // A file that was last written that long ago.
    void add_old_file(const std::string& time, uint64_t hours) const {
        fs::create_directories(folder());
        fs::permissions(folder(), fs::perms::owner_all);
        const std::string path = folder() + "/flight-" + time + ".ttmem";
        std::ofstream(path) << "old";
        const auto then = static_cast<time_t>(base::realtime_ns() / base::kNsPerSecond - hours * 3600);
        const timespec times[2] = {{then, 0}, {then, 0}};
        ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
    }

    std::string parent_;
};

TEST_F(FlightFolderTest, IsForItsOwnerAlone) {
    auto opened = FlightFolder::open(folder(), kSmall);
    ASSERT_TRUE(opened.has_value());
    ASSERT_TRUE((*opened)->begin_part("header"));
    struct stat found {};
    ASSERT_EQ(stat(folder().c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777u, 0700u);
    ASSERT_EQ(stat(flight_files(folder()).front().c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777u, 0600u);
}

TEST_F(FlightFolderTest, AFolderOfOthersIsRefused) {
    fs::create_directory(folder());
    fs::permissions(folder(), fs::perms::owner_all | fs::perms::others_read);
    const auto opened = FlightFolder::open(folder(), kSmall);
    ASSERT_FALSE(opened.has_value());
    EXPECT_NE(opened.error().text.find("chmod 700"), std::string::npos);
    std::ofstream(parent_ + "/file") << "text";
    EXPECT_NE(FlightFolder::open(parent_ + "/file", kSmall).error().text.find("not a folder"),
              std::string::npos);
    fs::create_symlink(parent_, parent_ + "/link");
    EXPECT_FALSE(FlightFolder::open(parent_ + "/link", kSmall).has_value());
}

TEST_F(FlightFolderTest, IsNeverLargerThanItsLimitAndKeepsTheNewest) {
    auto opened = FlightFolder::open(folder(), kSmall);
    ASSERT_TRUE(opened.has_value());
    FlightFolder& flight = **opened;
    ASSERT_TRUE(flight.begin_part("header"));
    const std::string block(100'000, 'b');
    uint64_t parts = 1;
    for (uint64_t written = 0; written < 3 * kSmall.bytes; written += block.size()) {
        ASSERT_TRUE(flight.append(block));
        if (flight.is_full()) {
            ASSERT_TRUE(flight.begin_part("header"));
            ++parts;
        }
        ASSERT_LE(bytes(), kSmall.bytes);
        ASSERT_EQ(flight.use().bytes, bytes());
        ASSERT_EQ(flight.use().files, flight_files(folder()).size());
    }
    EXPECT_GT(parts, 20u);
    EXPECT_GE(bytes(), kSmall.bytes / 4 * 3);
}

TEST_F(FlightFolderTest, WhatNeedsMoreThanTheLimitIsAnError) {
    auto opened = FlightFolder::open(folder(), kSmall);
    ASSERT_TRUE((*opened)->begin_part("header"));
    const auto appended = (*opened)->append(std::string(kSmall.bytes, 'b'));
    ASSERT_FALSE(appended.has_value());
    EXPECT_NE(appended.error().text.find("needs more than the limit"), std::string::npos);
}

TEST_F(FlightFolderTest, FilesOfEarlierRunsStayUntilTheyAreTooOld) {
    add_old_file("20200101T000000.000000Z", 25);
    add_old_file("20200101T010000.000000Z", 23);
    std::ofstream(folder() + "/notes.txt") << "not a recording";
    auto opened = FlightFolder::open(folder(), kSmall);
    ASSERT_TRUE(opened.has_value());
    ASSERT_TRUE((*opened)->begin_part("header"));
    const std::vector<fs::path> files = flight_files(folder());
    ASSERT_EQ(files.size(), 2u);
    EXPECT_EQ(files.front().filename(), "flight-20200101T010000.000000Z.ttmem");
    EXPECT_TRUE(fs::exists(folder() + "/notes.txt"));
}

TEST_F(FlightFolderTest, AllPartsOfTheNewestRecordingAreReadAsOne) {
    for (int run = 0; run < 2; ++run) {
        auto opened = FlightFolder::open(folder(), kSmall);
        ASSERT_TRUE(opened.has_value());
        auto writer = BlockWriter::create(std::move(*opened), 1000, 5'000'000);
        ASSERT_TRUE(writer.has_value());
        for (uint64_t part = 0; part < 4; ++part) {
            if (part != 0) {
                ASSERT_TRUE(writer->begin_part());
            }
            const uint64_t time = 1000 + part * 100;
            ASSERT_TRUE(writer->append({.type = BlockType::end, .first_ns = time, .last_ns = time + 99}));
        }
    }
    EXPECT_EQ(flight_files(folder()).size(), 8u);
    std::ofstream(folder() + "/flight-99990101T000000.000000Z.ttmem")
        << "TT";  // its header is not written yet
    const auto recording = Recording::open(folder());
    ASSERT_FALSE(recording.has_value());  // it has no host and no process
    EXPECT_EQ(recording.error().text.find("not a recording"), std::string::npos) << recording.error().text;
    const auto empty = Recording::open(parent_);
    ASSERT_FALSE(empty.has_value());
    EXPECT_NE(empty.error().text.find("folder without a recording"), std::string::npos);
}

// A recording of one second, that begins so many seconds after the epoch.
void add_recording(const std::string& folder, uint64_t epoch_s) {
    auto opened = FlightFolder::open(folder, kSmall);
    ASSERT_TRUE(opened.has_value());
    constexpr uint64_t kStartNs = 1'000'000;
    auto writer = BlockWriter::create(std::move(*opened), kStartNs, epoch_s * base::kNsPerSecond);
    ASSERT_TRUE(writer.has_value());
    ByteWriter payload;
    write_facts(HostFactsRecord{.host = "host " + std::to_string(epoch_s), .program = "test"}, payload);
    ASSERT_TRUE(writer->append(
        {.type = BlockType::host, .first_ns = kStartNs, .last_ns = kStartNs, .payload = payload.bytes()}));
    const uint64_t end_ns = kStartNs + base::kNsPerSecond;
    ASSERT_TRUE(writer->append({.type = BlockType::finish, .first_ns = end_ns, .last_ns = end_ns}));
}

TEST_F(FlightFolderTest, AClockTimeIsFoundInTheRecordingThatHasIt) {
    setenv("TZ", "UTC", 1);
    constexpr uint64_t kNoonS = 1'767'268'800;  // 2026-01-01
    for (const uint64_t minutes : {0u, 10u, 20u}) {
        add_recording(folder(), kNoonS + minutes * 60);
    }
    const auto host_at = [&](const std::optional<std::string>& text) {
        const auto opened = open_moment(folder(), text);
        return opened ? opened->recording->host().host : opened.error().text;
    };
    EXPECT_EQ(host_at(std::nullopt), "host " + std::to_string(kNoonS + 1200));
    EXPECT_EQ(host_at("12:20:00.5"), "host " + std::to_string(kNoonS + 1200));
    EXPECT_EQ(host_at("12:10:00.5"), "host " + std::to_string(kNoonS + 600));
    EXPECT_EQ(host_at("2026-01-01 12:00:01"), "host " + std::to_string(kNoonS));
    EXPECT_NE(host_at("+600s").find("outside the recording"), std::string::npos);
    EXPECT_EQ(host_at("+600s").find("before it"), std::string::npos);
    EXPECT_NE(host_at("12:15:00")
                  .find("outside the recording, which goes from 2026-01-01 12:20:00 to 2026-01-01 "
                        "12:20:01 (+1.000s); before it the folder has 2026-01-01 12:10:00 to "
                        "2026-01-01 12:10:01, 2026-01-01 12:00:00 to 2026-01-01 12:00:01"),
              std::string::npos)
        << host_at("12:15:00");
}

}  // namespace

}  // namespace ttmem::recording
