// SPDX-License-Identifier: Apache-2.0
#include "observer/thread_data.hpp"

#include <utility>

namespace ttmem::observer {

namespace {

// initial-exec TLS: found without a call. libttmem uses some too; the space is small.
__thread ThreadData* current __attribute__((tls_model("initial-exec"))) = nullptr;

struct Reaper {
    ~Reaper() { delete std::exchange(current, nullptr); }
};

}  // namespace

ThreadData& thread_data() {
    if (current == nullptr) {
        current = new ThreadData;
        thread_local const Reaper reaper;
        static_cast<void>(reaper);
    }
    return *current;
}

}  // namespace ttmem::observer
