// SPDX-License-Identifier: Apache-2.0
#pragma once

// The reading side of fields(), over the tree that Boost.JSON parses. Fields that come in the order in which they are asked
// for cost one comparison each.

#include <array>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "view/json/json_io.hpp"

namespace ttmem::view {

// Absent fields keep their value and unknown ones are skipped. A value of another type throws std::exception.
class JsonReader {
public:
    explicit JsonReader(const boost::json::object& object) : object_(object), next_(object.begin()) {}

    template <class T>
    void operator()(std::string_view name, T& value, const char* /*meaning*/) {
        if (const boost::json::value* found = find(name)) {
            from(*found, value);
        }
    }

    template <class T>
    void if_present(std::string_view name, std::optional<T>& value, const char* meaning) {
        (*this)(name, value, meaning);
    }

    template <class T>
    void rows(std::string_view name, std::vector<T>& values, const char* meaning) {
        (*this)(name, values, meaning);
    }

    template <std::integral T>
    void unless_unknown(std::string_view name, T& value, bool& is_known, const char* /*meaning*/) {
        if (const boost::json::value* found = find(name)) {
            is_known = !found->is_null();
            value = is_known ? number<T>(*found) : 0;
        }
    }

    void unless_empty(std::string_view name, std::string& text, const char* /*meaning*/) {
        if (const boost::json::value* found = find(name)) {
            text = found->is_null() ? std::string_view() : text_in(*found);
        }
    }

    template <class T>
    void unless_default(std::string_view name, T& value, const char* /*meaning*/) {
        if (const boost::json::value* found = find(name)) {
            value = T{};
            if (!found->is_null()) {
                from(*found, value);
            }
        }
    }

    void hex(std::string_view name, std::optional<uint64_t>& value, const char* /*meaning*/);

    template <class Names, class T, size_t n>
    void keyed(std::string_view name, const Names& names, std::array<T, n>& values, const char* meaning) {
        const auto inside = [&](JsonReader& reader) {
            for (size_t i = 0; i < n; ++i) {
                reader(names[i], values[i], "");
            }
        };
        object(name, inside, meaning);
    }

    template <class Names, class T, size_t n>
    void keyed_unless_unknown(std::string_view name, const Names& names, std::array<T, n>& values,
                              const bool& /*is_known*/, const char* meaning) {
        const boost::json::value* const found = object_.if_contains({name.data(), name.size()});
        if (found == nullptr || !found->is_null()) {
            keyed(name, names, values, meaning);
        }
    }

    void object(std::string_view name, auto inside, const char* /*meaning*/) {
        if (const boost::json::value* found = find(name)) {
            JsonReader reader(object_in(*found));
            inside(reader);
        }
    }

    template <class T>
    void derived(const char* /*name*/, const T& /*value*/, const char* /*meaning*/) {}
    void title(const char* /*text*/) {}

private:
    [[noreturn]] static void fail(const char* wanted) {
        throw std::invalid_argument(std::string("a value is not ") + wanted);
    }

    const boost::json::value* find(std::string_view name) {
        const boost::json::string_view key(name.data(), name.size());
        if (next_ == object_.end() || next_->key() != key) {
            const auto found = object_.find(key);
            if (found == object_.end()) {
                return nullptr;
            }
            next_ = found;
        }
        return &(next_++)->value();
    }

    static const boost::json::object& object_in(const boost::json::value& value) {
        if (const boost::json::object* const object = value.if_object()) {
            return *object;
        }
        fail("an object");
    }
    static const boost::json::array& array_in(const boost::json::value& value) {
        if (const boost::json::array* const array = value.if_array()) {
            return *array;
        }
        fail("a list");
    }
    static std::string_view text_in(const boost::json::value& value) {
        if (const boost::json::string* const text = value.if_string()) {
            return {text->data(), text->size()};
        }
        fail("a text");
    }
    static bool bool_in(const boost::json::value& value) {
        if (const bool* const flag = value.if_bool()) {
            return *flag;
        }
        fail("true or false");
    }

    template <class Number>
    static Number number(const boost::json::value& value) {
        if constexpr (std::is_floating_point_v<Number>) {
            if (const double* const real = value.if_double()) {
                if (std::isfinite(*real)) {
                    return static_cast<Number>(*real);
                }
            }
            if (value.is_int64()) {
                return static_cast<Number>(value.get_int64());
            }
            if (value.is_uint64()) {
                return static_cast<Number>(value.get_uint64());
            }
        } else {
            if (value.is_int64() && std::in_range<Number>(value.get_int64())) {
                return static_cast<Number>(value.get_int64());
            }
            if (value.is_uint64() && std::in_range<Number>(value.get_uint64())) {
                return static_cast<Number>(value.get_uint64());
            }
        }
        fail("a number that fits");
    }

    template <class T>
    static void from(const boost::json::value& from, T& value) {
        if constexpr (std::is_same_v<T, bool>) {
            value = bool_in(from);
        } else if constexpr (std::is_arithmetic_v<T>) {
            value = number<T>(from);
        } else if constexpr (std::is_same_v<T, std::string>) {
            value = text_in(from);
        } else {
            JsonReader reader(object_in(from));
            fields(reader, value);
        }
    }
    template <base::NamedEnum T>
    static void from(const boost::json::value& from, T& value) {
        const std::string_view word = text_in(from);
        std::optional<T> known = base::by_name<T>(word);
        if constexpr (std::is_same_v<T, census::Reason>) {
            known = known.value_or(census::Reason::other);  // of a newer daemon
        }
        if (!known) {
            throw std::invalid_argument("unknown word '" + std::string(word) + "'");
        }
        value = *known;
    }
    static void from(const boost::json::value& from, census::Core& core) {
        const boost::json::array& pair = array_in(from);
        if (pair.size() != 2) {
            fail("a core");
        }
        core = {number<uint32_t>(pair[0]), number<uint32_t>(pair[1])};
    }
    template <class T>
    static void from(const boost::json::value& from, std::optional<T>& value) {
        value.reset();
        if (!from.is_null()) {
            JsonReader::from(from, value.emplace());
        }
    }
    template <class T>
    static void from(const boost::json::value& from, std::vector<T>& values) {
        const boost::json::array& array = array_in(from);
        values.clear();
        values.reserve(array.size());
        for (const boost::json::value& one : array) {
            JsonReader::from(one, values.emplace_back());
        }
    }

    const boost::json::object& object_;
    boost::json::object::const_iterator next_;  // behind the field that was read last
};

// Parses a text and gives its object to `read`. An error says why the text can't be read: no JSON, bytes behind the
// document, not an object, or what `read` throws.
base::Expected<void> read_json_object(std::string_view text,
                                      const std::function<void(const boost::json::object&)>& read);

}  // namespace ttmem::view
