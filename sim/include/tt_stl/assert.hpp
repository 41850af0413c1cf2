// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>

namespace ttsl::detail {

[[noreturn]] inline void fail(const std::string& message) { throw std::runtime_error(message); }

}  // namespace ttsl::detail

// How the runtime refuses a call: an exception with a text for the user.
#define TT_THROW(...) ::ttsl::detail::fail(::fmt::format(__VA_ARGS__))
#define TT_FATAL(condition, ...)   \
    do {                           \
        if (!(condition)) {        \
            TT_THROW(__VA_ARGS__); \
        }                          \
    } while (false)
