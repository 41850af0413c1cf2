// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads a JSON document straight into the fields of a view, with no tree of values between: a face that follows a large host
// reads a megabyte twice a second. Fields that come in the order in which they are asked for cost one look each; what is passed
// over on the way to one is remembered, so that nothing is searched twice.

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "view/json_io.hpp"

namespace ttmem::view {

// A place in a text that is JSON, or not: then it throws std::invalid_argument.
class JsonCursor {
public:
    explicit JsonCursor(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}

    // The next character that is no blank; 0 at the end.
    char peek() {
        while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\r' || *at_ == '\t')) {
            ++at_;
        }
        return at_ == end_ ? '\0' : *at_;
    }
    void expect(char wanted) {
        if (peek() != wanted) {
            fail();
        }
        ++at_;
    }
    bool take(char wanted) {
        if (peek() != wanted) {
            return false;
        }
        ++at_;
        return true;
    }
    // A word that is left where it is unless it is this one.
    bool take_word(std::string_view word) {
        peek();
        if (!std::string_view(at_, static_cast<size_t>(end_ - at_)).starts_with(word)) {
            return false;
        }
        at_ += word.size();
        return true;
    }

    // A key and its colon, where this one is next.
    bool take_key(std::string_view key) {
        peek();
        const std::string_view rest(at_, static_cast<size_t>(end_ - at_));
        if (!rest.starts_with('"') || rest.substr(1, key.size()) != key ||
            rest.substr(std::min(key.size() + 1, rest.size()), 2) != "\":") {
            return false;
        }
        at_ += key.size() + 3;
        return true;
    }

    // Between its quotes, as it stands there.
    std::string_view raw_string();
    std::string string();

    template <class Number>
    Number number() {
        peek();
        Number value{};
        const auto [stop, problem] = std::from_chars(at_, end_, value);
        if (problem != std::errc() || is_part_of_number(stop)) {
            fail();
        }
        at_ = stop;
        return value;
    }

    void skip_value(int depth = 0);
    void skip_number();

    [[noreturn]] static void fail() { throw std::invalid_argument("this is not the JSON that was expected"); }

private:
    bool is_part_of_number(const char* place) const {
        return place != end_ &&
               (*place == '.' || *place == 'e' || *place == 'E' || (*place >= '0' && *place <= '9'));
    }
    void skip_list(char close, bool has_keys, int depth);

    const char* at_;
    const char* end_;
};

// The reader's side of fields(). What is not there stays as it is; what is of another type throws std::exception.
class TextReader {
public:
    // At an object; end() leaves the cursor behind it.
    explicit TextReader(JsonCursor& cursor) : next_(cursor) { next_.expect('{'); }

    void end() {
        while (next_key()) {
            next_.skip_value();
        }
        next_.expect('}');
    }

    template <class T>
    void operator()(std::string_view name, T& value) {
        if (JsonCursor* place = find(name)) {
            from(*place, value);
        }
    }

    void unless_unknown(std::string_view name, uint64_t& value, bool& is_known) {
        if (JsonCursor* place = find(name)) {
            is_known = !place->take_word("null");
            value = is_known ? place->number<uint64_t>() : 0;
        }
    }

    void hex(std::string_view name, std::optional<uint64_t>& value) {
        if (JsonCursor* place = find(name)) {
            value.reset();
            if (!place->take_word("null")) {
                value = std::stoull(place->string(), nullptr, 16);
            }
        }
    }

    template <class Names, class T, size_t n>
    void keyed(std::string_view name, const Names& names, std::array<T, n>& values) {
        object(name, [&](TextReader& reader) {
            for (size_t i = 0; i < n; ++i) {
                reader(names[i], values[i]);
            }
        });
    }

    void object(std::string_view name, auto inside) {
        if (JsonCursor* place = find(name)) {
            TextReader reader(*place);
            inside(reader);
            reader.end();
        }
    }

    template <class T>
    void derived(const char* /*name*/, const T& /*value*/) {}

private:
    struct Passed {
        std::string_view key;
        JsonCursor value;
    };

    // The key of the next field, with the cursor at its value; nothing at the end of the object.
    std::optional<std::string_view> next_key() {
        next_.take(',');
        if (next_.peek() == '}') {
            return std::nullopt;
        }
        const std::string_view key = next_.raw_string();
        next_.expect(':');
        return key;
    }

    // The place of that field's value; null where there is none.
    JsonCursor* find(std::string_view name) {
        for (Passed& field : passed_) {
            if (field.key == name) {
                return &field.value;
            }
        }
        next_.take(',');
        if (next_.take_key(name)) {
            return &next_;
        }
        while (const auto key = next_key()) {
            if (*key == name) {
                return &next_;
            }
            passed_.push_back({*key, next_});
            next_.skip_value();
        }
        return nullptr;
    }

    template <class T>
    static void from(JsonCursor& cursor, T& value) {
        if constexpr (std::is_same_v<T, bool>) {
            value = cursor.take_word("true");
            if (!value && !cursor.take_word("false")) {
                JsonCursor::fail();
            }
        } else if constexpr (std::is_arithmetic_v<T>) {
            value = cursor.number<T>();
        } else if constexpr (std::is_same_v<T, std::string>) {
            value = cursor.string();
        } else {
            TextReader reader(cursor);
            fields(reader, value);
            reader.end();
        }
    }
    template <NamedEnum T>
    static void from(JsonCursor& cursor, T& value) {
        const std::string word = cursor.string();
        const std::optional<T> known = by_name<T>(word);
        if (!known) {
            throw std::invalid_argument("unknown word '" + word + "'");
        }
        value = *known;
    }
    static void from(JsonCursor& cursor, census::Core& core) {
        cursor.expect('[');
        core.x = cursor.number<uint32_t>();
        cursor.expect(',');
        core.y = cursor.number<uint32_t>();
        cursor.expect(']');
    }
    template <class T>
    static void from(JsonCursor& cursor, std::optional<T>& value) {
        value.reset();
        if (!cursor.take_word("null")) {
            from(cursor, value.emplace());
        }
    }
    template <class T>
    static void from(JsonCursor& cursor, std::vector<T>& values) {
        values.clear();
        cursor.expect('[');
        if (cursor.take(']')) {
            return;
        }
        do {
            from(cursor, values.emplace_back());
        } while (cursor.take(','));
        cursor.expect(']');
    }

    JsonCursor& next_;            // where the object goes on; at its end, behind it
    std::vector<Passed> passed_;  // that nobody has asked for yet
};

}  // namespace ttmem::view
