// SPDX-License-Identifier: Apache-2.0
#include "view/text_reader.hpp"

namespace ttmem::view {

namespace {

constexpr int kDeepest = 64;  // lists in lists: a view has five

uint32_t hex_digits(std::string_view text) {
    uint32_t code = 0;
    if (text.size() < 4) {
        JsonCursor::fail();
    }
    const auto [stop, problem] = std::from_chars(text.data(), text.data() + 4, code, 16);
    if (problem != std::errc() || stop != text.data() + 4) {
        JsonCursor::fail();
    }
    return code;
}

void append_utf8(std::string& text, uint32_t code) {
    const auto add = [&](uint32_t byte) { text += static_cast<char>(static_cast<unsigned char>(byte)); };
    if (code < 0x80) {
        add(code);
    } else if (code < 0x800) {
        add(0xc0 | code >> 6);
        add(0x80 | (code & 0x3f));
    } else if (code < 0x10000) {
        add(0xe0 | code >> 12);
        add(0x80 | (code >> 6 & 0x3f));
        add(0x80 | (code & 0x3f));
    } else {
        add(0xf0 | code >> 18);
        add(0x80 | (code >> 12 & 0x3f));
        add(0x80 | (code >> 6 & 0x3f));
        add(0x80 | (code & 0x3f));
    }
}

// What stands behind "\u": one unit of UTF-16, or two of them. Takes what it has read from `rest`.
uint32_t take_code(std::string_view& rest) {
    const uint32_t first = hex_digits(rest);
    rest.remove_prefix(4);
    if (first < 0xd800 || first > 0xdfff) {
        return first;
    }
    if (first > 0xdbff || !rest.starts_with("\\u")) {
        JsonCursor::fail();
    }
    const uint32_t second = hex_digits(rest.substr(2));
    if (second < 0xdc00 || second > 0xdfff) {
        JsonCursor::fail();
    }
    rest.remove_prefix(6);
    return 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
}

std::string unescaped(std::string_view raw) {
    constexpr std::string_view kLetters = "\"\\/bfnrt";
    constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    std::string text;
    while (!raw.empty()) {
        const size_t plain = std::min(raw.find('\\'), raw.size());
        text += raw.substr(0, plain);
        raw.remove_prefix(plain);
        if (raw.empty()) {
            break;
        }
        const char letter = raw[1];  // there is one: a string does not end with a backslash
        raw.remove_prefix(2);
        if (letter == 'u') {
            append_utf8(text, take_code(raw));
        } else if (const size_t known = kLetters.find(letter); known != std::string_view::npos) {
            text += kMeanings[known];
        } else {
            JsonCursor::fail();
        }
    }
    return text;
}

}  // namespace

std::string_view JsonCursor::raw_string() {
    expect('"');
    const char* const start = at_;
    while (at_ != end_ && *at_ != '"') {
        if (static_cast<unsigned char>(*at_) < 0x20) {
            fail();
        }
        at_ += *at_ == '\\' && at_ + 1 != end_ ? 2 : 1;
    }
    if (at_ == end_) {
        fail();
    }
    return {start, static_cast<size_t>(at_++ - start)};
}

std::string JsonCursor::string() {
    const std::string_view raw = raw_string();
    return raw.find('\\') == std::string_view::npos ? std::string(raw) : unescaped(raw);
}

void JsonCursor::skip_list(char close, bool has_keys, int depth) {
    if (depth > kDeepest) {
        fail();
    }
    ++at_;
    if (take(close)) {
        return;
    }
    do {
        if (has_keys) {
            peek();
            raw_string();
            expect(':');
        }
        skip_value(depth + 1);
    } while (take(','));
    expect(close);
}

void JsonCursor::skip_value(int depth) {
    switch (peek()) {
        case '{':
            return skip_list('}', true, depth);
        case '[':
            return skip_list(']', false, depth);
        case '"':
            raw_string();
            return;
        default:
            if (!take_word("null") && !take_word("true") && !take_word("false")) {
                skip_number();
            }
    }
}

// What no number begins with is refused; how it goes on matters to who reads it.
void JsonCursor::skip_number() {
    const char* const start = at_;
    while (at_ != end_ &&
           ((*at_ >= '0' && *at_ <= '9') || std::string_view("+-.eE").find(*at_) != std::string_view::npos)) {
        ++at_;
    }
    if (at_ == start) {
        fail();
    }
}

}  // namespace ttmem::view
