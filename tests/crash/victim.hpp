// SPDX-License-Identifier: Apache-2.0
#pragma once

// The process that is killed: random work with the client, each operation written down before and after.

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
    bool short_threads = false;  // each worker is a chain of threads, of a few hundred operations each
    bool buffers_only = false;   // no call that holds a private lock while it records
    // Called in the victim at each test point, with the number of the worker.
    std::function<void(uint32_t worker, const char* point)> at_point;
};

// The name that an allocation made inside path `number` must have.
std::string path_name(uint32_t number);

// A forked child that carries out a plan until it is killed. The segment is held open, so that it outlives the child.
class Victim {
public:
    Victim(const Plan& plan, SharedLog& log);
    ~Victim();
    Victim(const Victim&) = delete;
    Victim& operator=(const Victim&) = delete;

    pid_t pid() const { return pid_; }
    // A descriptor of its segment of its own.
    base::Descriptor segment() const;

    // Lets it run until all its threads together have completed so many operations; false if it ended before.
    bool run_until(uint64_t operations);
    void kill();
    // Waits for its death; the signal that it died of.
    int signal();

private:
    SharedLog& log_;
    pid_t pid_ = -1;
    base::Descriptor segment_;
};

}  // namespace ttmem::crash
