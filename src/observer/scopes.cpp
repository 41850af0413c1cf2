// SPDX-License-Identifier: Apache-2.0
#include "observer/scopes.hpp"

#include <ttmem/ttmem.h>

#include <string>

#include "observer/thread_data.hpp"

namespace ttmem::observer {

namespace {

// The runtime does not say that an op ended if the op throws, so its name stays. Beyond this number the outermost names are
// such ones. libttmem knows more.
constexpr size_t kMostScopes = 63;

}  // namespace

void enter_scope(std::string_view name) {
    auto& names = thread_data().unreported_scopes;
    if (names.size() == kMostScopes) {
        names.erase(names.begin());
    }
    names.emplace_back(name);
}

void leave_scope() {
    ThreadData& data = thread_data();
    if (!data.unreported_scopes.empty()) {
        data.unreported_scopes.pop_back();
    } else if (data.reported_scopes != 0) {
        --data.reported_scopes;
        ttmem_scope_pop();
    }
}

void report_scopes() {
    ThreadData& data = thread_data();
    if (data.reported_scopes + data.unreported_scopes.size() > kMostScopes) {
        for (; data.reported_scopes != 0; --data.reported_scopes) {
            ttmem_scope_pop();
        }
    }
    for (const std::string& name : data.unreported_scopes) {
        ttmem_scope_push(name.c_str());
    }
    data.reported_scopes += data.unreported_scopes.size();
    data.unreported_scopes.clear();
}

bool has_scope() {
    const ThreadData& data = thread_data();
    return !data.unreported_scopes.empty() || data.reported_scopes != 0;
}

}  // namespace ttmem::observer
