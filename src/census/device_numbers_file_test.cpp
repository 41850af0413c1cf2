// SPDX-License-Identifier: Apache-2.0
#include "census/device_numbers_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

namespace ttmem::census {
namespace {

using base::Error;
using testing::HasSubstr;

const std::vector<DeviceNumber> kNumbers = {{asic_key(0x1f), 0, std::nullopt},
                                            {asic_key(UINT64_MAX), 4, 1000},
                                            {unnamed_key(2), UINT32_MAX, UINT32_MAX}};

struct DeviceNumbersFile : testing::Test {
    DeviceNumbersFile() {
        std::string made = testing::TempDir() + "numbers-XXXXXX";
        EXPECT_NE(mkdtemp(made.data()), nullptr);
        folder = made;
        file = folder / kDeviceNumbersFile;
    }
    ~DeviceNumbersFile() override { std::filesystem::remove_all(folder); }

    void write(const std::string& text) const { std::ofstream(file) << text; }
    Error read_error() const {
        const auto read = read_device_numbers(folder);
        return read ? Error{Error::Code::unfinished, "was read"} : read.error();
    }

    std::filesystem::path folder;
    std::filesystem::path file;
};

TEST_F(DeviceNumbersFile, IsReadAsItWasWrittenAndEverybodyMayReadIt) {
    const mode_t before = umask(0077);
    ASSERT_TRUE(write_device_numbers(folder, kNumbers));
    umask(before);
    const auto read = read_device_numbers(folder);
    ASSERT_TRUE(read) << read.error().text;
    EXPECT_EQ(*read, kNumbers);
    struct stat info {};
    ASSERT_EQ(stat(file.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0644u);
}

TEST_F(DeviceNumbersFile, HasOneLinePerDevice) {
    EXPECT_EQ(device_numbers_text(kNumbers),
              "ttmem device numbers 1\n0 asic 0x1f driver\n4 asic 0xffffffffffffffff user 1000\n"
              "4294967295 unnamed 2 user 4294967295\n");
    EXPECT_EQ(*parse_device_numbers(""), std::vector<DeviceNumber>());
}

TEST_F(DeviceNumbersFile, ThatIsMissingIsNoProblem) {
    EXPECT_EQ(read_error().code, Error::Code::gone);
    folder /= "missing";
    EXPECT_EQ(read_error().code, Error::Code::gone);
}

TEST_F(DeviceNumbersFile, IsRefusedWhereALineIsNotValidAndTheErrorNamesIt) {
    const std::string first = "ttmem device numbers 1\n";
    for (const char* text :
         {"0 asic 0x1f\n", "0 asic 1f driver\n", "-1 asic 0x1f driver\n", "0 asic 0x1f driver \n",
          "0 asic 0x1f user\n", "0 asic 0x1f user 5000000000\n", "4294967296 asic 0x1f driver\n", "\n",
          "0 chip 0x1f driver\n", "0 asic 0x driver\n", "0 asic 0x1f driver", "0 unnamed 0x1 driver\n"}) {
        const auto parsed = parse_device_numbers(first + text);
        ASSERT_FALSE(parsed) << text;
        EXPECT_EQ(parsed.error().text, "line 2 is not valid") << text;
    }
    EXPECT_FALSE(parse_device_numbers("ttmem device numbers 2\n"));
    EXPECT_FALSE(parse_device_numbers(first + "0 asic 0x1 driver\n0 asic 0x2 driver\n")) << "a number twice";
    EXPECT_FALSE(parse_device_numbers(first + "0 asic 0x1 driver\n1 asic 0x1 driver\n")) << "a device twice";
    write(first + "nonsense\n");
    EXPECT_EQ(read_error().text, file.string() + ": line 2 is not valid");
}

TEST_F(DeviceNumbersFile, ThatOthersMayHaveWrittenIsRefused) {
    ASSERT_TRUE(write_device_numbers(folder, kNumbers));
    chmod(file.c_str(), 0664);
    EXPECT_EQ(read_error().code, Error::Code::refused);
    chmod(file.c_str(), 0644);
    EXPECT_EQ(read_error().text, "was read");
    if (geteuid() == 0) {
        ASSERT_EQ(chown(file.c_str(), 1000, 1000), 0);
        EXPECT_THAT(read_error().text, HasSubstr("others than the owner of its directory"));
    }
}

TEST_F(DeviceNumbersFile, ThatIsALinkAFifoOrTooLargeIsRefusedAndDelaysNobody) {
    ASSERT_EQ(symlink("/etc/passwd", file.c_str()), 0);
    EXPECT_EQ(read_error().code, Error::Code::failed);
    unlink(file.c_str());
    ASSERT_EQ(mkfifo(file.c_str(), 0644), 0);
    EXPECT_EQ(read_error().code, Error::Code::refused);
    unlink(file.c_str());
    write("");
    ASSERT_EQ(truncate(file.c_str(), off_t{1} << 40), 0);
    EXPECT_EQ(read_error().code, Error::Code::refused);
}

}  // namespace
}  // namespace ttmem::census
