// SPDX-License-Identifier: Apache-2.0
#include "daemon/api/metric_families.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string_view>

namespace ttmem::daemon {

namespace {

enum class Quotes : bool { as_they_are, escaped };

// A value of a label is quoted, a help text is not.
void append_escaped(std::string& text, std::string_view value, Quotes quotes) {
    for (const char character : value) {
        if (character == '\n') {
            text += "\\n";
            continue;
        }
        if (character == '\\' || (character == '"' && quotes == Quotes::escaped)) {
            text += '\\';
        }
        text += character;
    }
}

// Whole numbers without an exponent, as people read them; others with as many digits as they need.
void append_number(std::string& text, double value) {
    constexpr double kEndOfWholeNumbers = 9007199254740992.0;  // beyond 2^53 a double is no exact count
    if (std::isnan(value) || std::isinf(value)) {
        text += std::isnan(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
        return;
    }
    std::array<char, 32> digits{};
    const bool is_whole = std::trunc(value) == value && std::abs(value) <= kEndOfWholeNumbers;
    const auto end = is_whole ? std::to_chars(digits.begin(), digits.end(), static_cast<int64_t>(value))
                              : std::to_chars(digits.begin(), digits.end(), value);
    text.append(digits.data(), end.ptr);
}

void append_series(std::string& text, const std::string& name, const MetricSeries& series) {
    text += name;
    char separator = '{';
    for (const auto& [label, value] : series.labels) {
        text += separator;
        text += label;
        text += "=\"";
        append_escaped(text, value, Quotes::escaped);
        text += '"';
        separator = ',';
    }
    text += series.labels.empty() ? " " : "} ";
    append_number(text, series.value);
    text += '\n';
}

}  // namespace

std::string to_text(const Families& families) {
    std::string text;
    for (const Family& family : families) {
        text += "# HELP " + family.name + ' ';
        append_escaped(text, family.help, Quotes::as_they_are);
        text += "\n# TYPE " + family.name + (family.type == MetricType::counter ? " counter\n" : " gauge\n");
        for (const MetricSeries& series : family.series) {
            append_series(text, family.name, series);
        }
    }
    return text;
}

}  // namespace ttmem::daemon
