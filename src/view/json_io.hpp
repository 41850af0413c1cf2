// SPDX-License-Identifier: Apache-2.0
#pragma once

// Both directions of a JSON object from one list of its fields:
//
//     void fields(auto& io, Like<census::Held> auto& held) {
//         io("used", held.used);
//         io("count", held.count);
//     }
//
// With a JsonWriter it gives the object, with a TextReader it takes it: what the one writes the other reads.

#include <array>
#include <charconv>
#include <concepts>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "census/allocations.hpp"
#include "census/failures.hpp"
#include "census/figures.hpp"

namespace ttmem::view {

using Json = nlohmann::ordered_json;

template <class T, class Of>
concept Like = std::same_as<std::remove_const_t<T>, Of>;

template <class T>
concept JsonScalar = std::integral<T> || std::floating_point<T> || std::same_as<T, std::string>;

// Stands in JSON as a word.
template <class T>
concept NamedEnum = std::same_as<T, census::Kind> || std::same_as<T, census::Sort> ||
    std::same_as<T, census::GroupBy> || std::same_as<T, census::FailureType>;

template <NamedEnum T>
std::optional<T> by_name(std::string_view name) {
    if constexpr (std::same_as<T, census::Kind>) {
        return census::kind_by_name(name);
    } else if constexpr (std::same_as<T, census::Sort>) {
        return census::sort_by_name(name);
    } else if constexpr (std::same_as<T, census::GroupBy>) {
        return census::group_by_name(name);
    } else {
        return census::failure_type_by_name(name);
    }
}

class JsonWriter {
public:
    template <class T>
    void operator()(const char* name, const T& value) {
        object_[name] = to(value);
    }

    // A value that means nothing where it is not known.
    void unless_unknown(const char* name, const uint64_t& value, const bool& is_known) {
        object_[name] = is_known ? Json(value) : Json(nullptr);
    }

    void hex(const char* name, const std::optional<uint64_t>& value) {
        std::array<char, 16> digits{};
        const auto end =
            std::to_chars(digits.data(), digits.data() + digits.size(), value.value_or(0), 16).ptr;
        object_[name] = value ? Json("0x" + std::string(digits.data(), end)) : Json(nullptr);
    }

    // An array as an object, with a name for each place.
    template <class Names, class T, size_t n>
    void keyed(const char* name, const Names& names, const std::array<T, n>& values) {
        for (size_t i = 0; i < n; ++i) {
            object_[name][std::string(names[i])] = to(values[i]);
        }
    }

    // Fields that belong together, as an object of their own: inside(io) lists them.
    void object(const char* name, auto inside) {
        JsonWriter writer;
        inside(writer);
        object_[name] = writer.take();
    }

    // What follows from other fields, and is there for readers elsewhere.
    template <class T>
    void derived(const char* name, const T& value) {
        object_[name] = value;
    }

    // The object; the next one starts empty.
    Json take() { return std::exchange(object_, Json::object()); }

private:
    template <class T>
    static Json to(const T& value) {
        if constexpr (JsonScalar<T>) {
            return value;
        } else {
            JsonWriter writer;
            fields(writer, value);
            return writer.take();
        }
    }
    static Json to(const NamedEnum auto& value) { return std::string(census::name_of(value)); }
    static Json to(const census::Core& core) { return Json::array({core.x, core.y}); }
    template <class T>
    static Json to(const std::optional<T>& value) {
        return value ? to(*value) : Json(nullptr);
    }
    template <class T>
    static Json to(const std::vector<T>& values) {
        Json array = Json::array();
        for (const T& value : values) {
            array.push_back(to(value));
        }
        return array;
    }

    Json object_ = Json::object();
};

}  // namespace ttmem::view
