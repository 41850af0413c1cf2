// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads a JSON document straight into the fields of a view, with no tree of values between: a face that follows a large host
// reads a megabyte twice a second. Fields that come in the order in which they are asked for cost one look each; others are
// searched for.

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

// The reader's side of fields(), as JsonReader is.
class TextReader {
public:
    // At an object; end() leaves the cursor behind it.
    explicit TextReader(JsonCursor& cursor) : cursor_(cursor), first_(cursor), next_(cursor) {
        first_.expect('{');
        next_ = first_;
    }

    void end() {
        while (const auto key = key_at(next_)) {
            next_.skip_value();
        }
        cursor_ = next_;
        cursor_.expect('}');
    }

    template <class T>
    void operator()(std::string_view name, T& value) {
        if (find(name)) {
            from(next_, value);
        }
    }

    void unless_unknown(std::string_view name, uint64_t& value, bool& is_known) {
        if (find(name)) {
            is_known = !next_.take_word("null");
            value = is_known ? next_.number<uint64_t>() : 0;
        }
    }

    void hex(std::string_view name, std::optional<uint64_t>& value) {
        if (find(name)) {
            value.reset();
            if (!next_.take_word("null")) {
                value = std::stoull(next_.string(), nullptr, 16);
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
        if (find(name)) {
            TextReader reader(next_);
            inside(reader);
            reader.end();
        }
    }

    template <class T>
    void derived(const char* /*name*/, const T& /*value*/) {}

private:
    // The key of the next field, with the cursor at its value; nothing at the end of the object.
    static std::optional<std::string_view> key_at(JsonCursor& cursor) {
        cursor.take(',');
        if (cursor.peek() == '}') {
            return std::nullopt;
        }
        const std::string_view key = cursor.raw_string();
        cursor.expect(':');
        return key;
    }

    static bool search(JsonCursor& cursor, std::string_view name) {
        while (const auto key = key_at(cursor)) {
            if (*key == name) {
                return true;
            }
            cursor.skip_value();
        }
        return false;
    }

    // Puts next_ at the value of that field; where there is none it stays.
    bool find(std::string_view name) {
        for (const JsonCursor& from : {next_, first_}) {
            JsonCursor cursor = from;
            if (search(cursor, name)) {
                next_ = cursor;
                return true;
            }
        }
        return false;
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

    JsonCursor& cursor_;
    JsonCursor first_;  // behind the brace
    JsonCursor next_;
};

}  // namespace ttmem::view
