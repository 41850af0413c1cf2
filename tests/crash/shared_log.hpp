// SPDX-License-Identifier: Apache-2.0
#pragma once

// A log outside the segment, in a page shared with the victim. The victim logs each operation before and after the
// call. The log survives the victim, and its content does not come from the client.

#include <sys/mman.h>

#include <atomic>
#include <cstdint>

#include "segment/layout.hpp"

namespace ttmem::crash {

constexpr uint32_t kMostThreads = 4;
constexpr uint32_t kEntriesPerThread = 1u << 15;
constexpr uint32_t kPathCount = 4;  // the scopes that victims use: see kPaths in victim.cpp

enum class Step : uint32_t { none = 0, allocating, live, freeing, freed };

// One allocation of the victim. The reported owner is the index of its entry.
struct Entry {
    std::atomic<Step> step;
    uint32_t by;  // the thread that made the last step
    uint32_t path;
    uint8_t set;
    segment::AllocationKind kind;
    segment::AllocationFlags flags;
    uint64_t address;
    uint64_t requested;
    uint64_t reserved;
};

struct ThreadLog {
    std::atomic<uint32_t> id;  // the kernel's thread id
    // Events of an operation that ends a set or a program, and so frees several entries. 0: no such operation.
    std::atomic<uint64_t> bulk;
    std::atomic<uint32_t> bad_free;    // a second free of an allocation is in progress
    std::atomic<uint64_t> operations;  // completed
    std::atomic<uint64_t> events;      // recorded by the completed operations
};

struct SharedLog {
    std::atomic<uint32_t> ready;    // the segment exists
    std::atomic<uint32_t> go;       // the test has opened it
    std::atomic<uint32_t> stopped;  // threads that wait at a test point for the kill
    ThreadLog thread[kMostThreads];
    Entry entry[kMostThreads * kEntriesPerThread];
};

// A log that children inherit.
class LogOwner {
public:
    LogOwner()
        : log_(static_cast<SharedLog*>(mmap(nullptr, sizeof(SharedLog), PROT_READ | PROT_WRITE,
                                            MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))) {}
    ~LogOwner() { munmap(log_, sizeof(SharedLog)); }
    LogOwner(const LogOwner&) = delete;
    LogOwner& operator=(const LogOwner&) = delete;

    SharedLog& operator*() const { return *log_; }
    SharedLog* operator->() const { return log_; }

private:
    SharedLog* log_;
};

}  // namespace ttmem::crash
