// SPDX-License-Identifier: Apache-2.0
#include "tests/hostile/hostile_file.hpp"

#include <fcntl.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

namespace ttmem::hostile {

namespace {

void require(bool good, const char* what) {
    if (!good) {
        perror(what);
        abort();
    }
}

}  // namespace

HostileFile::HostileFile(const segment::Sizes& sizes, uint64_t size)
    : file_(memfd_create(segment::kMemfdName, MFD_CLOEXEC | MFD_ALLOW_SEALING)) {
    segment::Region table[segment::kRegionTableEntries] = {};
    size_ = std::max(size, segment::lay_out(sizes, table));
    require(file_ && ftruncate(file_.get(), static_cast<off_t>(size_)) == 0, "memfd");
    void* map = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file_.get(), 0);
    require(map != MAP_FAILED, "mmap");
    start_ = static_cast<unsigned char*>(map);
    require(
        fcntl(file_.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL) == 0,
        "seals");
    header().version = segment::kSegmentVersion;
    header().header_bytes = sizeof(segment::Header);
    header().segment_bytes = size_;
    header().pid = static_cast<uint32_t>(getpid());
    std::memcpy(header().region, table, sizeof table);
    header().magic.store(segment::kMagic);
}

HostileFile::~HostileFile() { munmap(start_, size_); }

void HostileFile::make_data(uint64_t offset, uint64_t length) {
    for (uint64_t at = offset; at < std::min(offset + length, size_); at += segment::kPage) {
        words()[at / sizeof(segment::Word)].fetch_add(1);
    }
}

void HostileFile::claim_everything() {
    for (segment::Word* mark : {&header().devices_used, &header().sets_used, &header().core_sets_used,
                                &header().names_used, &header().writers_used, &header().slots_used}) {
        mark->store(UINT64_MAX);
    }
}

base::Expected<segment::Reader> HostileFile::open() const {
    return segment::Reader::open(base::Descriptor(dup(file_.get())));
}

int64_t HostileFile::blocks() const {
    struct stat info {};
    require(fstat(file_.get(), &info) == 0, "fstat");
    return info.st_blocks;
}

uint64_t heap_in_use() {
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

uint64_t anonymous_memory() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return 0;
#endif
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
        if (line.rfind("RssAnon:", 0) == 0) {
            return std::stoull(line.substr(8)) * 1024;
        }
    }
    return 0;
}

}  // namespace ttmem::hostile
