// SPDX-License-Identifier: Apache-2.0
#pragma once

// The process that is killed. It performs random operations with the client, and logs each one before and after.

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>

#include "base/descriptor.hpp"
#include "tests/crash/shared_log.hpp"

namespace ttmem::crash {

struct Plan {
    uint64_t seed = 0;
    uint32_t threads = 1;
    bool short_threads = false;  // each worker runs as consecutive threads of a few hundred operations each
    bool buffers_only = false;   // avoid calls that hold a private lock while they record
    // Called in the victim at each test point, with the index of the worker.
    std::function<void(uint32_t worker, const char* point)> at_point;
};

// The name that an allocation inside path `number` must have.
std::string path_name(uint32_t number);

// A forked child that executes a plan until it is killed. The segment is held open, so that it outlives the child.
class Victim {
public:
    Victim(const Plan& plan, SharedLog& log);
    ~Victim();
    Victim(const Victim&) = delete;
    Victim& operator=(const Victim&) = delete;

    pid_t pid() const { return pid_; }
    // A new descriptor of the child's segment.
    base::Descriptor segment() const;

    // Runs the child until all its threads together have completed this many operations. Returns false if it ended
    // before.
    bool run_until(uint64_t operations);
    void kill();
    // Waits for the child's death. Returns the signal that killed it.
    int signal();

private:
    SharedLog& log_;
    pid_t pid_ = -1;
    base::Descriptor segment_;
};

}  // namespace ttmem::crash
