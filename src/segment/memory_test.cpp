// SPDX-License-Identifier: Apache-2.0
#include "segment/memory.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <thread>
#include <vector>

#include "segment/layout.hpp"
#include "segment/small_segment_test_support.hpp"

namespace ttmem::segment {

namespace {

using base::Error;

base::Descriptor sparse_file(uint64_t size, int seals = all_seals()) {
    return make_memfd("", 0, size, seals);
}

// 64 pages, with data in the pages that are named.
base::Descriptor file_with_data_in(std::initializer_list<uint64_t> pages) {
    base::Descriptor file = sparse_file(64 * kPage, kNoSeals);
    for (const uint64_t page : pages) {
        EXPECT_EQ(1, pwrite(file.get(), "x", 1, static_cast<off_t>(page * kPage)));
    }
    EXPECT_EQ(0, fcntl(file.get(), F_ADD_SEALS, all_seals()));
    return file;
}

Memory map(base::Descriptor file) {
    auto memory = Memory::map(std::move(file));
    EXPECT_TRUE(memory) << memory.error().text;
    return std::move(*memory);
}

Error::Code refusal(base::Descriptor file) {
    const auto memory = Memory::map(std::move(file));
    EXPECT_FALSE(memory);
    return memory ? Error::Code::gone : memory.error().code;
}

}  // namespace

TEST(Memory, TakesASealedMemfd) { EXPECT_EQ(2 * kPage, map(sparse_file(2 * kPage)).size()); }

TEST(Memory, AFileThatLacksAnySealIsRefused) {
    for (const int missing : {F_SEAL_SHRINK, F_SEAL_GROW, F_SEAL_FUTURE_WRITE, F_SEAL_SEAL}) {
        EXPECT_EQ(Error::Code::refused, refusal(sparse_file(kPage, all_seals() & ~missing)))
            << "without " << missing;
    }
    // A stronger seal in place of the one that is needed is none of ours: no client could write to it.
    EXPECT_EQ(Error::Code::refused,
              refusal(sparse_file(kPage, (all_seals() & ~F_SEAL_FUTURE_WRITE) | F_SEAL_WRITE)));
}

TEST(Memory, AFileWithNoSealYetIsUnfinished) {
    EXPECT_EQ(Error::Code::unfinished, refusal(sparse_file(kPage, kNoSeals)));
    EXPECT_EQ(Error::Code::unfinished, refusal(sparse_file(0, kNoSeals)));
}

// Where the administrator forbids programs in memfds, the kernel puts a seal of its own on each new one.
TEST(Memory, TheKernelsOwnSealMakesNoFileFinished) {
    constexpr unsigned kNoExecSeal = 8;  // MFD_NOEXEC_SEAL
    base::Descriptor file(memfd_create(kMemfdName, MFD_CLOEXEC | MFD_ALLOW_SEALING | kNoExecSeal));
    if (!file) {
        GTEST_SKIP() << "this kernel has no such memfds (before 6.3)";
    }
    ASSERT_EQ(0, ftruncate(file.get(), kPage));
    EXPECT_EQ(Error::Code::unfinished, refusal(std::move(file)));
}

TEST(Memory, ASizeThatNoSegmentHasIsRefused) {
    EXPECT_EQ(Error::Code::refused, refusal(sparse_file(kPage + 1)));
    EXPECT_EQ(Error::Code::refused, refusal(sparse_file(8)));
    EXPECT_EQ(Error::Code::refused, refusal(sparse_file(kMaxSegmentBytes + kPage)));
    EXPECT_EQ(Error::Code::refused, refusal(sparse_file(uint64_t{1} << 62)));
    EXPECT_EQ(kMaxSegmentBytes, map(sparse_file(kMaxSegmentBytes)).size());
}

TEST(Memory, WhatIsNoMemfdIsRefused) {
    EXPECT_EQ(Error::Code::refused, refusal(base::Descriptor(open("/proc/self/exe", O_RDONLY | O_CLOEXEC))));
    EXPECT_EQ(Error::Code::refused, refusal(base::Descriptor(open("/dev/null", O_RDONLY | O_CLOEXEC))));
    EXPECT_EQ(Error::Code::refused, refusal(base::Descriptor(open("/", O_RDONLY | O_CLOEXEC))));
    EXPECT_EQ(Error::Code::failed, refusal(base::Descriptor()));
}

// Its pages are taken from a pool that may be empty: a reader that touches one would get a signal.
TEST(Memory, AFileOfHugePagesIsRefused) {
    base::Descriptor file(memfd_create(kMemfdName, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_HUGETLB));
    if (!file) {
        GTEST_SKIP() << "this kernel has no huge pages";
    }
    ASSERT_EQ(0, ftruncate(file.get(), 2 << 20));
    ASSERT_EQ(0, fcntl(file.get(), F_ADD_SEALS, all_seals()));
    EXPECT_EQ(Error::Code::refused, refusal(std::move(file)));
}

TEST(Memory, GivesDataAndNoHoleAndNothingBeyondTheEnd) {
    const Memory memory = map(file_with_data_in({0, 1, 5, 63}));
    EXPECT_NE(nullptr, memory.at(0, 1));
    EXPECT_NE(nullptr, memory.at(0, 2 * kPage));
    EXPECT_EQ(nullptr, memory.at(0, 2 * kPage + 1)) << "its last byte is in a hole";
    EXPECT_EQ(nullptr, memory.at(2 * kPage, 8));
    EXPECT_EQ(nullptr, memory.at(5 * kPage - 4, 8)) << "its first bytes are in a hole";
    EXPECT_NE(nullptr, memory.at(5 * kPage, kPage));
    EXPECT_NE(nullptr, memory.at(64 * kPage - 8, 8));
    EXPECT_EQ(nullptr, memory.at(64 * kPage - 8, 9));
    EXPECT_EQ(nullptr, memory.at(64 * kPage, 1));
    EXPECT_EQ(nullptr, memory.at(UINT64_MAX, 1));
    EXPECT_EQ(nullptr, memory.at(UINT64_MAX - 7, 16)) << "offset and length overflow together";
    EXPECT_EQ(nullptr, memory.at(8, UINT64_MAX));
}

TEST(Memory, FindsWhereDataEndsAndWhereItGoesOn) {
    const Memory memory = map(file_with_data_in({0, 1, 5}));
    const uint64_t size = memory.size();
    EXPECT_EQ(2 * kPage, memory.data_end(0, size));
    EXPECT_EQ(2 * kPage, memory.data_end(100, size));
    EXPECT_EQ(kPage + 7, memory.data_end(100, kPage + 7)) << "no further than it was asked";
    EXPECT_EQ(2 * kPage + 9, memory.data_end(2 * kPage + 9, size)) << "a hole ends where it is looked at";
    EXPECT_EQ(5 * kPage, memory.next_data(2 * kPage, size));
    EXPECT_EQ(3 * kPage, memory.next_data(2 * kPage, 3 * kPage)) << "no further than it was asked";
    EXPECT_EQ(5 * kPage + 3, memory.next_data(5 * kPage + 3, size));
    EXPECT_EQ(size, memory.next_data(6 * kPage, size)) << "no more data";
    EXPECT_EQ(size, memory.next_data(6 * kPage, UINT64_MAX));
}

TEST(Memory, DataThatComesLaterIsSeen) {
    base::Descriptor file = sparse_file(8 * kPage, kNoSeals);
    void* writable = mmap(nullptr, 8 * kPage, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
    ASSERT_NE(MAP_FAILED, writable);
    ASSERT_EQ(0, fcntl(file.get(), F_ADD_SEALS, all_seals()));
    const Memory memory = map(std::move(file));
    EXPECT_EQ(nullptr, memory.at(3 * kPage, 8));
    static_cast<volatile char*>(writable)[3 * kPage] = 'y';
    const unsigned char* there = memory.at(3 * kPage, 8);
    ASSERT_NE(nullptr, there);
    EXPECT_EQ('y', *there);
    EXPECT_EQ(4 * kPage, memory.data_end(3 * kPage, memory.size()));
    munmap(writable, 8 * kPage);
}

TEST(Memory, LookingFillsNoHole) {
    const base::Descriptor file = file_with_data_in({0, 7});
    const auto blocks = [&] {
        struct stat info {};
        fstat(file.get(), &info);
        return info.st_blocks;
    };
    const auto before = blocks();
    const Memory memory = map(base::Descriptor(dup(file.get())));
    for (uint64_t offset = 0; offset < memory.size(); offset += kPage / 2) {
        memory.at(offset, kPage);
        memory.data_end(offset, memory.size());
        memory.next_data(offset, memory.size());
    }
    EXPECT_EQ(before, blocks());
}

TEST(Memory, SeveralThreadsMayLook) {
    const Memory memory = map(file_with_data_in({0, 1, 2, 3, 8, 9, 40}));
    const auto read = [&] {
        for (int round = 0; round < 200; ++round) {
            for (uint64_t page = 0; page < 64; ++page) {
                const bool is_data = page <= 3 || page == 8 || page == 9 || page == 40;
                if ((memory.at(page * kPage, 8) != nullptr) != is_data) {
                    return false;
                }
            }
        }
        return true;
    };
    bool good[2] = {};
    std::vector<std::thread> threads;
    for (bool& result : good) {
        threads.emplace_back([&read, &result] { result = read(); });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_TRUE(good[0] && good[1]);
}

TEST(Memory, OverPlainMemoryEverythingInsideIsData) {
    const std::vector<unsigned char> bytes(100);
    const Memory memory = Memory::over(bytes.data(), bytes.size());
    EXPECT_EQ(bytes.data() + 36, memory.at(36, 64));
    EXPECT_EQ(nullptr, memory.at(36, 65));
    EXPECT_EQ(100u, memory.data_end(0, 1000));
    EXPECT_EQ(50u, memory.next_data(50, 1000));
}

TEST(Memory, ItsMapGoesWithIt) {
    const auto maps_of_it = [] {
        int count = 0;
        FILE* maps = fopen("/proc/self/maps", "re");
        char line[512];
        while (fgets(line, sizeof line, maps) != nullptr) {
            count += std::string(line).find("/memfd:ttmem") != std::string::npos ? 1 : 0;
        }
        fclose(maps);
        return count;
    };
    {
        Memory first = map(sparse_file(kPage));
        Memory second = map(sparse_file(kPage));
        EXPECT_EQ(2, maps_of_it());
        first = std::move(second);
    }
    EXPECT_EQ(0, maps_of_it());
}

}  // namespace ttmem::segment
