// SPDX-License-Identifier: Apache-2.0
#pragma once

// The observer's data of the calling thread.

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "observer/programs.hpp"
#include "observer/sets.hpp"

namespace ttmem::observer {

constexpr size_t kBufferKinds = 5;

// What the runtime does while it lays out dataflow buffers or scratchpads.
struct NotedLayout {
    std::vector<MarkedAddress> marks;
    bool has_asked_kernels = false;  // for their arguments, which receive the addresses of scratchpads
};

struct ThreadData {
    bool is_watched = false;  // op names come
    unsigned scans = 0;       // for another reporter in this process
    // The names of the current ops that libttmem does not know yet, the innermost last, and the number of the outer ones
    // that it knows.
    std::vector<std::string> unreported_scopes;
    size_t reported_scopes = 0;
    Frame frame;                      // of the program whose function runs
    NotedLayout* layout = nullptr;    // while dataflow buffers or scratchpads are laid out
    const void* hooked = nullptr;     // the last buffer that a hook took over
    const void* allocated = nullptr;  // the last one that an allocator gave something, and which
    const void* allocator = nullptr;
    // Copies of what all threads know, to be read without a lock.
    const metal::IDevice* last_device = nullptr;  // with its set, as of a state of the sets
    ObservedSet last_set;
    uint64_t last_state = 0;
    size_t buffer_id_place = 0;
    std::array<bool, kBufferKinds> is_kind_checked{};
    std::array<bool, kBufferKinds> is_kind_measured{};
    bool is_measuring = false;  // inside the allocation that is compared with the runtime's statistics
    uint64_t failed_frame = 0;  // the last one whose clash was reported
};

// initial-exec TLS: found without a call. libttmem uses some too; the space is small.
extern __thread ThreadData* current_thread_data __attribute__((tls_model("initial-exec")));
ThreadData& new_thread_data();

// Valid after the thread's own data were destroyed: other destructors may still free memory.
inline ThreadData& thread_data() {
    return current_thread_data != nullptr ? *current_thread_data : new_thread_data();
}

}  // namespace ttmem::observer
