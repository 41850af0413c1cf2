// SPDX-License-Identifier: Apache-2.0

// Names of ops, and what all guards share.

#include "ttmem_reporter.hpp"

#include <algorithm>
#include <cstring>
#include <exception>

#include "ttmem_state.hpp"

namespace tt::tt_metal::ttmem_reporter {

void enter_scope(std::string_view name) noexcept {
    if (ttmem_enabled() == 0) {
        return;
    }
    char text[128];  // libttmem cuts longer names too
    const size_t length = std::min(name.size(), sizeof text - 1);
    std::memcpy(text, name.data(), length);
    text[length] = '\0';
    ttmem_scope_push(text);
    ++thread_data.scopes;
}

void leave_scope() noexcept {
    if (thread_data.scopes != 0) {
        --thread_data.scopes;
        ttmem_scope_pop();
    }
}

Guard::Guard() noexcept : exceptions_before_(ttmem_enabled() != 0 ? std::uncaught_exceptions() : -1) {}
bool Guard::has_succeeded() const noexcept {
    return is_on() && std::uncaught_exceptions() == exceptions_before_;
}
bool Guard::has_failed() const noexcept { return is_on() && std::uncaught_exceptions() > exceptions_before_; }

}  // namespace tt::tt_metal::ttmem_reporter
