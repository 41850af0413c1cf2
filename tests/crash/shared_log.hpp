// SPDX-License-Identifier: Apache-2.0
#pragma once

// The oracle outside: a page shared with the victim, in which it writes down each operation before and after the call.
// It survives the victim, and what it says does not come from the client.

#include <sys/mman.h>

#include <atomic>
#include <cstdint>

#include "segment/layout.hpp"

namespace ttmem::crash {

constexpr uint32_t kMostThreads = 4;
constexpr uint32_t kEntriesPerThread = 1u << 15;
constexpr uint32_t kPathCount = 4;  // the scopes that victims use: see kPaths in victim.cpp

enum class Step : uint32_t { none = 0, allocating, live, freeing, freed };

// One allocation of the victim. The owner that it reports is the number of its entry.
struct Entry {
    std::atomic<Step> step;
    uint32_t by;  // the thread whose operation made the last step
    uint32_t path;
    uint8_t set;
    segment::Kind kind;
    uint16_t flags;
    uint64_t address;
    uint64_t requested;
    uint64_t reserved;
};

struct ThreadLog {
    std::atomic<uint32_t> id;  // the kernel's thread id
    std::atomic<uint64_t>
        bulk;  // events of ending a set or a program, in which several entries are freed; 0: none
    std::atomic<uint32_t> bad_free;    // freeing something a second time
    std::atomic<uint64_t> operations;  // completed
    std::atomic<uint64_t> events;      // that the completed operations must have recorded
};

struct SharedLog {
    std::atomic<uint32_t> ready;    // the segment is there
    std::atomic<uint32_t> go;       // the test has opened it
    std::atomic<uint32_t> stopped;  // threads that wait at a test point for the end
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
