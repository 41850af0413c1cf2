// SPDX-License-Identifier: Apache-2.0
#include "segment/memory.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "segment/layout.hpp"

namespace ttmem::segment {

using base::Error;

base::Expected<Memory> Memory::map(base::Descriptor file, std::shared_ptr<const void> mapping) {
    struct stat info {};
    if (fstat(file.get(), &info) != 0) {
        return base::error(Error::Code::failed, std::string("can't be examined: ") + strerror(errno));
    }
    const int seals = fcntl(file.get(), F_GET_SEALS);
    constexpr int kNeeded = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL;
    if (seals < 0 || info.st_size == 0) {
        return base::error(seals < 0 ? Error::Code::refused : Error::Code::unfinished,
                           "is not a sealed memfd");
    }
    if ((seals & kNeeded) != kNeeded) {
        // A client seals right after it has mapped: without any seal it may still be creating the segment.
        return base::error((seals & kNeeded) == 0 ? Error::Code::unfinished : Error::Code::refused,
                           "lacks a seal");
    }
    // A file of huge pages can be sealed too, but its holes can't be found, and touching one takes memory from a pool
    // that may be empty.
    struct statfs system {};
    if (fstatfs(file.get(), &system) != 0 || system.f_type != TMPFS_MAGIC) {
        return base::error(Error::Code::refused, "is not a memfd of ordinary pages");
    }
    const auto size = static_cast<uint64_t>(info.st_size);
    if (size < sizeof(Header) || size > kMaxSegmentBytes || size % kPage != 0) {
        return base::error(Error::Code::refused, "has a size that no segment has: " + std::to_string(size));
    }
    if (!mapping) {
        void* map = mmap(nullptr, size, PROT_READ, MAP_SHARED, file.get(), 0);
        if (map == MAP_FAILED) {
            return base::error(Error::Code::failed, std::string("can't be mapped: ") + strerror(errno));
        }
        mapping = std::shared_ptr<const void>(map, [map, size](const void*) { munmap(map, size); });
    }
    Memory memory;
    memory.file_ = std::move(file);
    memory.start_ = static_cast<const unsigned char*>(mapping.get());
    memory.size_ = size;
    memory.mapping_ = std::move(mapping);
    memory.data_pages_ = std::make_unique<std::atomic<uint64_t>[]>(size / kPage / 64 + 1);
    return memory;
}

Memory Memory::over(const void* start, size_t size) {
    Memory memory;
    memory.start_ = static_cast<const unsigned char*>(start);
    memory.size_ = size;
    return memory;
}

Memory::Memory(Memory&& other) noexcept { *this = std::move(other); }

Memory& Memory::operator=(Memory&& other) noexcept {
    std::swap(file_, other.file_);
    std::swap(start_, other.start_);
    std::swap(size_, other.size_);
    std::swap(mapping_, other.mapping_);
    std::swap(data_pages_, other.data_pages_);
    return *this;
}

const unsigned char* Memory::at(uint64_t offset, uint64_t length) const {
    if (offset > size_ || length > size_ - offset) {
        return nullptr;
    }
    return data_end(offset, offset + length) == offset + length ? start_ + offset : nullptr;
}

// A bit describes the file and no other memory, so no order is needed.
bool Memory::is_known_data(uint64_t page) const {
    return (data_pages_[page / 64].load(std::memory_order_relaxed) >> (page % 64) & 1) != 0;
}

// Asks the kernel about the pages from `page` on; returns the first that is a hole, at most `end`.
uint64_t Memory::learn_data(uint64_t page, uint64_t end) const {
    const auto at = static_cast<off_t>(page * kPage);
    if (lseek(file_.get(), at, SEEK_DATA) != at) {
        return page;
    }
    const off_t hole = lseek(file_.get(), at, SEEK_HOLE);
    const uint64_t known = std::min(hole < 0 ? page : static_cast<uint64_t>(hole) / kPage, end);
    for (; page < known; ++page) {
        data_pages_[page / 64].fetch_or(uint64_t{1} << (page % 64), std::memory_order_relaxed);
    }
    return page;
}

uint64_t Memory::data_end(uint64_t offset, uint64_t limit) const {
    limit = std::min(limit, size_);
    if (!mapping_ || offset >= limit) {
        return std::max(offset, limit);
    }
    uint64_t page = offset / kPage;
    const uint64_t end = (limit + kPage - 1) / kPage;
    while (page < end) {
        const uint64_t next = is_known_data(page) ? page + 1 : learn_data(page, end);
        if (next == page) {
            break;
        }
        page = next;
    }
    return std::clamp(page * kPage, offset, limit);
}

uint64_t Memory::resident_bytes() const {
    struct stat info {};
    return mapping_ && fstat(file_.get(), &info) == 0 ? static_cast<uint64_t>(info.st_blocks) * 512 : size_;
}

uint64_t Memory::next_data(uint64_t offset, uint64_t limit) const {
    limit = std::min(limit, size_);
    if (!mapping_ || offset >= limit) {
        return std::min(offset, limit);
    }
    const off_t found = lseek(file_.get(), static_cast<off_t>(offset), SEEK_DATA);
    return found < 0 ? limit : std::clamp(static_cast<uint64_t>(found), offset, limit);
}

}  // namespace ttmem::segment
