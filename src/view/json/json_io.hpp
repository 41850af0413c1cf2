// SPDX-License-Identifier: Apache-2.0
#pragma once

// One list of fields serves all directions of an object:
//
//     void fields(auto& io, Like<census::Held> auto& held) {
//         io("used", held.used, "reserved bytes");
//         io("count", held.count, "allocations");
//     }
//
// A JsonWriter writes the object, a JsonReader (view/json/json_reader.hpp) reads it, and a FieldLister
// (view/json/field_table.hpp) makes the table of the manual. The last argument of each field is its meaning, for that table.

#include <array>
#include <charconv>
#include <concepts>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/named_enum.hpp"
#include "census/figures.hpp"

namespace ttmem::view {

using Json = nlohmann::ordered_json;

template <class T, class Of>
concept Like = std::same_as<std::remove_const_t<T>, Of>;

template <class T>
concept JsonScalar = std::integral<T> || std::floating_point<T> || std::same_as<T, std::string>;

class JsonWriter {
public:
    template <class T>
    void operator()(const char* name, const T& value, const char* /*meaning*/) {
        object_[name] = to(value);
    }

    // A field that is left out where it has no value.
    template <class T>
    void if_present(const char* name, const std::optional<T>& value, const char* /*meaning*/) {
        if (value) {
            object_[name] = to(*value);
        }
    }

    // The list that makes a document long. PieceWriter (view/json/json_document.hpp) writes it row by row.
    template <class T>
    void rows(const char* name, const std::vector<T>& values, const char* /*meaning*/) {
        object_[name] = to(values);
    }

    // A number that is null where it is not known.
    template <std::integral T>
    void unless_unknown(const char* name, const T& value, const bool& is_known, const char* /*meaning*/) {
        object_[name] = is_known ? Json(value) : Json(nullptr);
    }

    // A text that is null where it is empty.
    void unless_empty(const char* name, const std::string& text, const char* /*meaning*/) {
        object_[name] = text.empty() ? Json(nullptr) : Json(text);
    }

    // An object that is null where nothing in it is known.
    template <class T>
    void unless_default(const char* name, const T& value, const char* /*meaning*/) {
        object_[name] = value == T{} ? Json(nullptr) : to(value);
    }

    void hex(const char* name, const std::optional<uint64_t>& value, const char* /*meaning*/) {
        std::array<char, 16> digits{};
        const auto end =
            std::to_chars(digits.data(), digits.data() + digits.size(), value.value_or(0), 16).ptr;
        object_[name] = value ? Json("0x" + std::string(digits.data(), end)) : Json(nullptr);
    }

    // An array as an object, with a name for each place.
    template <class Names, class T, size_t n>
    void keyed(const char* name, const Names& names, const std::array<T, n>& values,
               const char* /*meaning*/) {
        Json object = Json::object();
        for (size_t i = 0; i < n; ++i) {
            object[std::string(names[i])] = to(values[i]);
        }
        object_[name] = std::move(object);
    }

    // The same, null where the values are not known.
    template <class Names, class T, size_t n>
    void keyed_unless_unknown(const char* name, const Names& names, const std::array<T, n>& values,
                              const bool& is_known, const char* meaning) {
        is_known ? keyed(name, names, values, meaning) : void(object_[name] = nullptr);
    }

    // Fields that belong together, as an object of their own: inside(io) lists them.
    void object(const char* name, auto inside, const char* /*meaning*/) {
        JsonWriter writer;
        inside(writer);
        object_[name] = writer.take();
    }

    // A value that follows from other fields. Readers skip it.
    template <class T>
    void derived(const char* name, const T& value, const char* /*meaning*/) {
        object_[name] = value;
    }

    // The manual shows a type that has a title in a table of its own.
    void title(const char* /*text*/) {}

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
    static Json to(const base::NamedEnum auto& value) { return std::string(base::name_of(value)); }
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
