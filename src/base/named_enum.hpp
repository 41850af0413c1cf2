// SPDX-License-Identifier: Apache-2.0
#pragma once

// Enumerations whose values have a name each, in JSON, in URLs and after options. The enumerators count from 0. Their names stand
// in that order beside the enumeration:
//
//     enum class Sort : uint8_t { used, age };
//     constexpr auto enum_names(Sort /*of*/) { return std::to_array<std::string_view>({"used", "age"}); }
//     using base::name_of;  // so that name_of(Sort::used) is found wherever the enumeration is

#include <cstddef>
#include <optional>
#include <string_view>
#include <type_traits>

namespace ttmem::base {

template <class T>
concept NamedEnum = std::is_enum_v<T> && requires(T value) {
    enum_names(value);
};

template <NamedEnum T>
constexpr std::string_view name_of(T value) {
    return enum_names(value)[static_cast<size_t>(value)];
}

template <NamedEnum T>
constexpr size_t enum_size() {
    return enum_names(T{}).size();
}

// Nothing for a word that none has.
template <NamedEnum T>
constexpr std::optional<T> by_name(std::string_view name) {
    const auto names = enum_names(T{});
    for (size_t i = 0; i < names.size(); ++i) {
        if (names[i] == name) {
            return static_cast<T>(i);
        }
    }
    return std::nullopt;
}

}  // namespace ttmem::base
