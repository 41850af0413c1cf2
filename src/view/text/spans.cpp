// SPDX-License-Identifier: Apache-2.0
#include "view/text/spans.hpp"

#include <algorithm>

#include "view/text/format.hpp"

namespace ttmem::view {

namespace {

std::string_view ansi_code(Tone tone) {
    switch (tone) {
        case Tone::plain:
            return "";
        case Tone::title:
            return "1";
        case Tone::good:
            return "32";
        case Tone::warn:
            return "33";
        case Tone::bad:
            return "31";
    }
    return "";
}

}  // namespace

Line& Line::add(Span span) {
    if (!span.text.empty()) {
        spans_.push_back(std::move(span));
    }
    return *this;
}

Line& Line::add(const Line& other) {
    // By value, because `other` may be this line.
    const std::vector<Span> more = other.spans_;
    spans_.insert(spans_.end(), more.begin(), more.end());
    return *this;
}

void Line::trim_end() {
    while (!spans_.empty()) {
        std::string& text = spans_.back().text;
        text.erase(text.find_last_not_of(' ') + 1);
        if (!text.empty()) {
            return;
        }
        spans_.pop_back();
    }
}

std::string Line::plain() const {
    std::string text;
    for (const Span& span : spans_) {
        text += span.text;
    }
    return text;
}

size_t Line::width() const {
    size_t width = 0;
    for (const Span& span : spans_) {
        width += display_width(span.text);
    }
    return width;
}

Text::Text(std::string_view plain_lines) {
    while (!plain_lines.empty()) {
        const size_t end = std::min(plain_lines.find('\n'), plain_lines.size());
        add(std::string(plain_lines.substr(0, end)));
        plain_lines.remove_prefix(std::min(end + 1, plain_lines.size()));
    }
}

Text& Text::add(Line line) {
    lines_.push_back(std::move(line));
    return *this;
}

Text& Text::add(const Text& other) {
    const std::vector<Line> more = other.lines_;
    lines_.insert(lines_.end(), more.begin(), more.end());
    return *this;
}

std::string render_ansi(const Line& line, bool colour) {
    if (!colour) {
        return line.plain() + "\n";
    }
    std::string text;
    for (const Span& span : line.spans()) {
        const std::string_view code = ansi_code(span.tone);
        if (code.empty()) {
            text += span.text;
        } else {
            text.append("\x1b[").append(code).append("m").append(span.text).append("\x1b[0m");
        }
    }
    return text + "\n";
}

std::string render_ansi(const Text& text, bool colour) {
    std::string rendered;
    for (const Line& line : text.lines()) {
        rendered += render_ansi(line, colour);
    }
    return rendered;
}

}  // namespace ttmem::view
