// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "recording/block_reader.hpp"
#include "recording/block_writer.hpp"
#include "recording/recording_file.hpp"

namespace ttmem::recording {

namespace {

class BlockFile : public testing::Test {
protected:
    BlockFile() {
        std::string name = testing::TempDir() + "ttmem-recording-XXXXXX";
        folder_ = mkdtemp(name.data());
    }
    ~BlockFile() override { std::filesystem::remove_all(folder_); }
    BlockFile(const BlockFile&) = delete;
    BlockFile& operator=(const BlockFile&) = delete;

    std::string path() const { return folder_ + "/file"; }

    static base::Expected<BlockWriter> create(FileSettings settings, uint64_t now_ns = 0,
                                              uint64_t epoch_ns = 0) {
        auto target = FilePair::create(std::move(settings));
        if (!target) {
            return tl::unexpected(std::move(target.error()));
        }
        return BlockWriter::create(std::move(*target), now_ns, epoch_ns);
    }

    static std::string read_all(const std::string& path) {
        std::ifstream file(path, std::ios::binary);
        std::ostringstream text;
        text << file.rdbuf();
        return text.str();
    }
    static void write_all(const std::string& path, const std::string& text) {
        std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
    }

    static std::string payload_of(uint32_t number) {
        std::string text;
        for (uint32_t i = 0; i < 20 + number * 7; ++i) {
            text += std::to_string(i * (number + 1)) + ",";
        }
        return text;
    }

    // Returns the size of the file before each block.
    std::vector<uint64_t> write_blocks(uint32_t count) const {
        auto writer = create({path()}, 1000, 5'000'000);
        EXPECT_TRUE(writer.has_value());
        std::vector<uint64_t> starts;
        for (uint32_t i = 0; i < count; ++i) {
            starts.push_back(std::filesystem::file_size(path()));
            const std::string payload = payload_of(i);
            EXPECT_TRUE(writer->append({.type = BlockType::events,
                                        .process = i,
                                        .first_ns = 10 * i,
                                        .last_ns = 10 * i + 5,
                                        .events = i,
                                        .payload = payload}));
        }
        return starts;
    }

    std::string folder_;
};

TEST_F(BlockFile, BlocksAreReadAsWritten) {
    write_blocks(20);
    const auto reader = BlockReader::open(path());
    ASSERT_TRUE(reader.has_value()) << reader.error().text;
    ASSERT_EQ(reader->blocks().size(), 20u);
    EXPECT_EQ(reader->file_header().epoch_offset_ns, 5'000'000u - 1000);
    for (uint32_t i = 0; i < 20; ++i) {
        const StoredBlock& block = reader->blocks()[i];
        EXPECT_EQ(block.header.process, i);
        EXPECT_EQ(block.header.sequence, i);
        EXPECT_EQ(block.header.first_ns, 10u * i);
        EXPECT_EQ(reader->read(block).value(), payload_of(i));
    }
    EXPECT_EQ(reader->cut_bytes() + reader->damaged_bytes(), 0u);
}

TEST_F(BlockFile, OnlyItsOwnerMayReadIt) {
    write_blocks(1);
    struct stat found {};
    ASSERT_EQ(stat(path().c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777u, 0600u);
}

TEST_F(BlockFile, AnExistingFileIsReplacedOnlyOnRequest) {
    write_all(path(), "precious");
    const auto refused = create({path()});
    ASSERT_FALSE(refused.has_value());
    EXPECT_NE(refused.error().text.find("--force"), std::string::npos);
    EXPECT_EQ(read_all(path()), "precious");
    EXPECT_TRUE(create({path(), true}).has_value());
    EXPECT_NE(read_all(path()), "precious");
}

TEST_F(BlockFile, AnEarlierPartThatIsInTheWayIsReplacedOnlyOnRequest) {
    const std::string earlier = earlier_part_of(path());
    write_all(earlier, "precious");
    const auto refused = create({path(), false, kLeastMaxBytes});
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().text, earlier + " exists (replace it with --force)");
    EXPECT_FALSE(std::filesystem::exists(path()));
    EXPECT_EQ(read_all(earlier), "precious");
    EXPECT_TRUE(create({path(), true, kLeastMaxBytes}).has_value());
    EXPECT_TRUE(create({path() + "2", false, 0}).has_value());
    std::filesystem::remove(earlier);
    std::filesystem::create_directory(earlier);
    const auto folder = create({path(), true, kLeastMaxBytes});
    ASSERT_FALSE(folder.has_value());
    EXPECT_NE(folder.error().text.find("is not a file"), std::string::npos);
    // Without a limit there is no earlier part.
    EXPECT_TRUE(create({path(), true, 0}).has_value());
}

TEST_F(BlockFile, ACutAtAnyByteLeavesTheBlocksBefore) {
    const std::vector<uint64_t> starts = write_blocks(12);
    const std::string whole = read_all(path());
    for (size_t length = 0; length < whole.size(); ++length) {
        write_all(path(), whole.substr(0, length));
        const auto reader = BlockReader::open(path());
        if (length < starts.front()) {
            EXPECT_FALSE(reader.has_value());
            continue;
        }
        ASSERT_TRUE(reader.has_value()) << reader.error().text;
        const auto next = std::upper_bound(starts.begin(), starts.end(), length);
        const auto expected = static_cast<size_t>(next - starts.begin()) - 1;
        ASSERT_EQ(reader->blocks().size(), expected) << length;
        for (size_t i = 0; i < expected; ++i) {
            EXPECT_EQ(reader->read(reader->blocks()[i]).value(), payload_of(static_cast<uint32_t>(i)));
        }
        EXPECT_EQ(reader->cut_bytes(), length - starts[expected]);
    }
}

TEST_F(BlockFile, ADamagedBlockLosesNoOther) {
    const std::vector<uint64_t> starts = write_blocks(8);
    const std::string whole = read_all(path());
    for (size_t at = starts.front(); at < whole.size(); ++at) {
        std::string damaged = whole;
        damaged[at] = static_cast<char>(damaged[at] ^ (1 << at % 8));
        write_all(path(), damaged);
        const auto reader = BlockReader::open(path());
        ASSERT_TRUE(reader.has_value()) << reader.error().text;
        const auto hit =
            static_cast<size_t>(std::upper_bound(starts.begin(), starts.end(), at) - starts.begin() - 1);
        size_t good = 0;
        for (const StoredBlock& block : reader->blocks()) {
            const auto payload = reader->read(block);
            if (payload) {
                EXPECT_EQ(*payload, payload_of(block.header.process));
                EXPECT_NE(block.header.process, hit);
                ++good;
            }
        }
        EXPECT_EQ(good, 7u) << at;
    }
}

TEST_F(BlockFile, ADamagedHeaderOfTheFileIsAnError) {
    write_blocks(1);
    const std::string whole = read_all(path());
    for (size_t at = 0; at < sizeof(FileHeader); ++at) {
        std::string damaged = whole;
        damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
        write_all(path(), damaged);
        EXPECT_FALSE(BlockReader::open(path()).has_value()) << at;
    }
}

TEST_F(BlockFile, ErrorsSayWhatTheFileIs) {
    const auto error_of = [&] { return BlockReader::open(path()).error().text; };
    EXPECT_NE(error_of().find("No such file"), std::string::npos);
    write_all(path(), "");
    EXPECT_NE(error_of().find("it is empty"), std::string::npos);
    write_all(path(), std::string(200, 'x'));
    EXPECT_NE(error_of().find("is not a recording"), std::string::npos);
    FileHeader newer;
    newer.version = 2;
    write_all(path(), std::string(reinterpret_cast<const char*>(&newer), sizeof newer));
    EXPECT_NE(error_of().find("version 2, this program reads 1: upgrade ttmem"), std::string::npos);
    EXPECT_NE(BlockReader::open(folder_).error().text.find("not a file"), std::string::npos);
}

TEST_F(BlockFile, ALimitKeepsTwoParts) {
    auto writer = create({path(), false, kLeastMaxBytes});
    ASSERT_TRUE(writer.has_value());
    std::string payload(60'000, '\0');
    std::generate(payload.begin(), payload.end(), [] { return static_cast<char>(std::rand()); });
    uint64_t parts = 0;
    for (uint32_t i = 0; i < 60; ++i) {
        ASSERT_TRUE(writer->append({.process = i, .payload = payload}));
        if (writer->is_full()) {
            ASSERT_TRUE(writer->begin_part());
            ++parts;
        }
        uint64_t bytes = std::filesystem::file_size(path());
        if (parts != 0) {
            bytes += std::filesystem::file_size(earlier_part_of(path()));
        }
        EXPECT_LE(bytes, kLeastMaxBytes + payload.size());
    }
    EXPECT_GE(parts, 3u);
    EXPECT_EQ(BlockReader::open(path())->file_header().part, parts);
    EXPECT_EQ(BlockReader::open(earlier_part_of(path()))->file_header().part, parts - 1);
}

TEST_F(BlockFile, AFullDiskIsAnErrorAndLeavesWholeBlocks) {
    auto writer = create({path()});
    ASSERT_TRUE(writer.has_value());
    rlimit before{};
    getrlimit(RLIMIT_FSIZE, &before);
    const rlimit small{100'000, before.rlim_max};
    const auto old = std::signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    std::string payload(30'000, '\0');
    std::generate(payload.begin(), payload.end(), [] { return static_cast<char>(std::rand()); });
    uint32_t written = 0;
    while (written < 10 && writer->append({.payload = payload})) {
        ++written;
    }
    setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, old);
    EXPECT_EQ(written, 3u);
    const auto reader = BlockReader::open(path());
    ASSERT_TRUE(reader.has_value());
    EXPECT_EQ(reader->blocks().size(), 3u);
    EXPECT_EQ(reader->cut_bytes(), 0u);
}

}  // namespace

}  // namespace ttmem::recording
