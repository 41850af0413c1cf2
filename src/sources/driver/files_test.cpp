// SPDX-License-Identifier: Apache-2.0
#include "sources/driver/files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <utility>

#include "sources/driver/tree_test_support.hpp"

namespace ttmem::sources::driver {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::SizeIs;

class Files : public testing::Test {
protected:
    Folder folder() const { return std::move(*Folder::open(place_.path)); }
    void write(const std::string& text) const { write_file(place_.path / "value", text); }

    TemporaryFolder place_;
};

TEST_F(Files, ANumberIsTheWholeLineOrNothing) {
    const std::vector<std::pair<std::string, std::optional<uint32_t>>> cases = {
        {"0\n", 0},
        {"1000\n", 1000},
        {"1000", 1000},  // no newline at the end
        {"4294967295\n", 4294967295},
        {"4294967296\n", {}},
        {"99999999999999999999999\n", {}},
        {"", {}},
        {"\n", {}},
        {" 12\n", {}},
        {"12 \n", {}},
        {"12x\n", {}},
        {"abc\n", {}},
        {"-1\n", {}},
        {"+1\n", {}},
        {"1.5\n", {}},
        {"0x10\n", {}},
        {"1\n2\n", {}},
        {"12\n\n", {}},
        {std::string("12\0", 3), {}},
        {std::string(4097, '0'), {}},
        {std::string(1'000'000, '1'), {}},
    };
    for (const auto& [text, value] : cases) {
        write(text);
        EXPECT_EQ(read_number<uint32_t>(folder(), "value"), value) << text.substr(0, 80);
    }
}

TEST_F(Files, ANumberOutOfBoundsIsAbsent) {
    write("-1\n");
    EXPECT_EQ(read_number<int32_t>(folder(), "value"), -1);
    EXPECT_EQ((read_number<int32_t>(folder(), "value", 0, 8)), std::nullopt);
    write("8\n");
    EXPECT_EQ((read_number<int32_t>(folder(), "value", 0, 8)), 8);
    write("9\n");
    EXPECT_EQ((read_number<int32_t>(folder(), "value", 0, 8)), std::nullopt);
}

TEST_F(Files, HexIsReadWithItsPrefixAndWithout) {
    const std::vector<std::pair<std::string, std::optional<uint64_t>>> cases = {
        {"0x1e52\n", 0x1e52},
        {"1E52\n", 0x1e52},
        {"0X1e52", 0x1e52},
        {"FFFFFFFFFFFFFFFF\n", UINT64_MAX},
        {"1FFFFFFFFFFFFFFFF\n", {}},
        {"0x\n", {}},
        {"0x0x1\n", {}},
        {"-1\n", {}},
        {"xyz\n", {}},
        {"", {}},
    };
    for (const auto& [text, value] : cases) {
        write(text);
        EXPECT_EQ(read_hex(folder(), "value"), value) << text;
    }
}

TEST_F(Files, AWordHasNothingInItThatCouldMoveACursor) {
    const std::vector<std::pair<std::string, std::optional<std::string>>> cases = {
        {"p150a\n", "p150a"},
        {"galaxy-wormhole\n", "galaxy-wormhole"},
        {"18.10.0.0\n", "18.10.0.0"},
        {std::string(64, 'a'), std::string(64, 'a')},
        {std::string(65, 'a'), {}},
        {"\x1b[2J\n", {}},
        {"two words\n", {}},
        {"\xff\xfe\n", {}},
        {"\n", {}},
    };
    for (const auto& [text, value] : cases) {
        write(text);
        EXPECT_EQ(read_word(folder(), "value"), value) << text;
    }
}

TEST_F(Files, WhatIsNoPlainFileOrDoesNotAnswerIsAbsent) {
    EXPECT_EQ(read_line(folder(), "nowhere"), std::nullopt);
    fs::create_directory(place_.path / "folder");
    EXPECT_EQ(read_line(folder(), "folder"), std::nullopt);
    fs::create_symlink("nowhere", place_.path / "dangling");
    EXPECT_EQ(read_line(folder(), "dangling"), std::nullopt);
    fs::create_symlink("/dev/zero", place_.path / "device");
    EXPECT_EQ(read_line(folder(), "device"), std::nullopt);
    ASSERT_EQ(mkfifo((place_.path / "fifo").c_str(), 0600), 0);
    OpenWatch watch(place_.path / "fifo");
    EXPECT_EQ(read_line(folder(), "fifo"), std::nullopt);
    EXPECT_FALSE(watch.was_opened());  // a device would not have been opened either
    fs::create_symlink("/proc/self/mem", place_.path / "eio");
    EXPECT_EQ(read_line(folder(), "eio"), std::nullopt);
}

TEST_F(Files, AFileOfTheLimitIsReadAndALongerOneIsNot) {
    write(std::string(10'000, 'x'));
    EXPECT_THAT(folder().read("value", 10'000), testing::Optional(SizeIs(10'000)));
    EXPECT_EQ(folder().read("value", 9'999), std::nullopt);
}

TEST_F(Files, AFolderIsCutAtTheLimit) {
    for (int i = 0; i < 10; ++i) {
        fs::create_symlink("x", place_.path / std::to_string(i));
    }
    EXPECT_THAT(folder().names(12), SizeIs(12));  // "." and ".." count
    EXPECT_THAT(folder().names(11), SizeIs(11));
}

TEST_F(Files, AFolderKnowsItsNameBehindALinkAndItself) {
    fs::create_directory(place_.path / "0000:01:00.0");
    fs::create_directory(place_.path / "0000:02:00.0");
    fs::create_directory_symlink("0000:01:00.0", place_.path / "device");
    const Folder all = folder();
    EXPECT_THAT(all.names(), Contains("device"));
    EXPECT_EQ(all.below("device")->own_name(), "0000:01:00.0");
    EXPECT_TRUE(all.below("device")->is_same(*all.below("0000:01:00.0")));
    EXPECT_FALSE(all.below("device")->is_same(*all.below("0000:02:00.0")));
    EXPECT_FALSE(all.below("nowhere"));
}

}  // namespace
}  // namespace ttmem::sources::driver
