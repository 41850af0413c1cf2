// SPDX-License-Identifier: Apache-2.0
#pragma once

// Screens as lines of spans. A span is a piece of text with a tone. The command line renders spans with ANSI codes
// (render_ansi below), the dashboard renders them to cells. Nothing reads a rendered text back.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ttmem::view {

enum class Tone : uint8_t { plain, title, good, warn, bad };

// A bar is the text "[####....]". The dashboard may draw it with block characters.
enum class Shape : uint8_t { letters, bar };

struct Span {
    std::string text;
    Tone tone = Tone::plain;
    Shape shape = Shape::letters;

    bool operator==(const Span&) const = default;
};

// One line of a screen, or one cell of a table.
class Line {
public:
    Line() = default;
    // Most lines and cells are plain text, and a row of a table reads best as a list of texts.
    // NOLINTNEXTLINE(google-explicit-constructor)
    Line(std::string text, Tone tone = Tone::plain) { add(std::move(text), tone); }
    Line(const char* text) { add(text); }      // NOLINT(google-explicit-constructor)
    Line(Span span) { add(std::move(span)); }  // NOLINT(google-explicit-constructor)

    // Empty text adds no span.
    Line& add(std::string text, Tone tone = Tone::plain) { return add(Span{std::move(text), tone}); }
    Line& add(const char* text, Tone tone = Tone::plain) { return add(Span{text, tone}); }
    Line& add(Span span);
    Line& add(const Line& other);

    // Removes spaces at the end.
    void trim_end();

    const std::vector<Span>& spans() const& { return spans_; }
    std::vector<Span> spans() && { return std::move(spans_); }
    // The text of all spans.
    std::string plain() const;
    // Terminal columns.
    size_t width() const;

    bool operator==(const Line&) const = default;

private:
    std::vector<Span> spans_;
};

// A screen or a part of one.
class Text {
public:
    Text() = default;
    // Plain lines, each ending in '\n'.
    explicit Text(std::string_view plain_lines);

    Text& add(Line line);
    Text& add(const Text& other);
    Text& blank() { return add(Line()); }

    const std::vector<Line>& lines() const& { return lines_; }
    std::vector<Line> lines() && { return std::move(lines_); }
    bool empty() const { return lines_.empty(); }
    size_t size() const { return lines_.size(); }

    bool operator==(const Text&) const = default;

private:
    std::vector<Line> lines_;
};

// Each line ends in '\n'. Without colour, tones are dropped.
std::string render_ansi(const Line& line, bool colour);
std::string render_ansi(const Text& text, bool colour);
inline std::string render_plain(const Text& text) { return render_ansi(text, false); }

}  // namespace ttmem::view
