// SPDX-License-Identifier: Apache-2.0
#include "observer/thread_data.hpp"

#include <utility>

namespace ttmem::observer {

namespace {

struct Reaper {
    ~Reaper() { delete std::exchange(current_thread_data, nullptr); }
};

}  // namespace

__thread ThreadData* current_thread_data __attribute__((tls_model("initial-exec"))) = nullptr;

ThreadData& new_thread_data() {
    current_thread_data = new ThreadData;
    thread_local const Reaper reaper;
    static_cast<void>(reaper);
    return *current_thread_data;
}

}  // namespace ttmem::observer
