// SPDX-License-Identifier: Apache-2.0
#include "observer/thread_data.hpp"

#include <utility>

namespace ttmem::observer {

namespace {

// Of the kind that needs no call to be found; libttmem has some of it too, and there is little of both.
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
