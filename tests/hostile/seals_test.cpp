// SPDX-License-Identifier: Apache-2.0

// What the seals of a segment forbid, to its readers and to its own process. Without them, a reader's mapping could be
// truncated.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "segment/layout.hpp"
#include "tests/support/child.hpp"
#include "tests/support/own_segment.hpp"
#include "ttmem/ttmem.h"

namespace ttmem::hostile {

namespace {

// The segment of this process, opened for writing.
base::Descriptor open_writable() {
    ttmem_device_info info{};
    ttmem_register_device(&info);
    const base::Descriptor reading = test::open_segment_of(getpid());
    return base::Descriptor(
        open(("/proc/self/fd/" + std::to_string(reading.get())).c_str(), O_RDWR | O_CLOEXEC));
}

uint64_t size_of(const base::Descriptor& file) {
    struct stat info {};
    EXPECT_EQ(0, fstat(file.get(), &info));
    return static_cast<uint64_t>(info.st_size);
}

int64_t blocks_of(const base::Descriptor& file) {
    struct stat info {};
    EXPECT_EQ(0, fstat(file.get(), &info));
    return info.st_blocks;
}

// The errno of a failed call, or 0 if it succeeded.
template <class Result>
int error_of(Result result) {
    return result == static_cast<Result>(-1) ? errno : 0;
}

TRACKED_TEST(Seals, AreAllThereAndFinal) {
    const base::Descriptor file = open_writable();
    ASSERT_TRUE(file);
    EXPECT_EQ(F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL,
              fcntl(file.get(), F_GET_SEALS) & 0x1f);
    EXPECT_EQ(EPERM, error_of(fcntl(file.get(), F_ADD_SEALS, F_SEAL_WRITE)));
}

TRACKED_TEST(Seals, NobodyCanMapItForWritingAnyMore) {
    const base::Descriptor file = open_writable();
    ASSERT_TRUE(file);
    const uint64_t size = size_of(file);
    void* map = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
    EXPECT_EQ(MAP_FAILED, map);
    EXPECT_EQ(EPERM, errno);
    map = mmap(nullptr, size, PROT_READ, MAP_SHARED, file.get(), 0);
    ASSERT_NE(MAP_FAILED, map);
    EXPECT_EQ(EACCES, error_of(mprotect(map, size, PROT_READ | PROT_WRITE)))
        << "nor make its map writable later";
    munmap(map, size);
}

TRACKED_TEST(Seals, NobodyCanWriteToTheFile) {
    const base::Descriptor file = open_writable();
    ASSERT_TRUE(file);
    EXPECT_EQ(EPERM, error_of(pwrite(file.get(), "x", 1, 0)));
    EXPECT_EQ(EPERM, error_of(write(file.get(), "x", 1)));
}

TRACKED_TEST(Seals, NobodyCanCutOrStretchIt) {
    const base::Descriptor file = open_writable();
    ASSERT_TRUE(file);
    const auto size = static_cast<off_t>(size_of(file));
    EXPECT_EQ(EPERM, error_of(ftruncate(file.get(), 0)));
    EXPECT_EQ(EPERM, error_of(ftruncate(file.get(), size - 4096)));
    EXPECT_EQ(EPERM, error_of(ftruncate(file.get(), size + 4096)));
    EXPECT_EQ(EPERM, error_of(fallocate(file.get(), 0, size, 4096)));
    EXPECT_EQ(size, static_cast<off_t>(size_of(file)));
}

TRACKED_TEST(Seals, NobodyCanPunchAHole) {
    const base::Descriptor file = open_writable();
    ASSERT_TRUE(file);
    const auto blocks = blocks_of(file);
    EXPECT_EQ(EPERM, error_of(fallocate(file.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096)));
    // The process itself can't either, through its writable mapping.
    const auto own = test::own_mapping();
    ASSERT_TRUE(own);
    EXPECT_EQ(EPERM, error_of(madvise(const_cast<void*>(own->start), 4096, MADV_REMOVE)));
    EXPECT_EQ(blocks, blocks_of(file));
    EXPECT_EQ(segment::kMagic, static_cast<const segment::Header*>(own->start)->magic.load());
}

TRACKED_TEST(Seals, TheProcessItselfGoesOnWriting) {
    const base::Descriptor file = open_writable();
    ASSERT_TRUE(file);
    const ttmem_device device = 1;
    const ttmem_set set = ttmem_open_set(&device, 1, nullptr);
    EXPECT_NE(0u, ttmem_allocate(set, TTMEM_DRAM, 0x1000, 64, 64, 1));
    EXPECT_EQ(64u, test::own_reader().totals().sets.at(0).pools[TTMEM_DRAM].used);
}

}  // namespace

}  // namespace ttmem::hostile
