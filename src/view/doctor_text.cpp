// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "view/doctor.hpp"
#include "view/format.hpp"
#include "view/json_document.hpp"

namespace ttmem::view {

namespace {

Tone tone_of(const std::string& state) {
    return state == "ok" ? Tone::good : state == "note" ? Tone::warn : Tone::bad;
}

// At blanks, so that no word is cut.
std::vector<std::string> wrap(const std::string& text, size_t width) {
    std::vector<std::string> lines(1);
    for (size_t at = 0; at < text.size();) {
        const size_t end = std::min(text.find(' ', at), text.size());
        const std::string word = text.substr(at, end - at);
        if (!lines.back().empty() && display_width(lines.back()) + 1 + display_width(word) > width) {
            lines.emplace_back();
        }
        lines.back() += (lines.back().empty() ? "" : " ") + word;
        at = end + 1;
    }
    return lines;
}

}  // namespace

bool DoctorView::has_problem() const {
    return std::any_of(findings.begin(), findings.end(),
                       [](const Finding& each) { return each.state == "problem"; });
}

std::string doctor_text(const DoctorView& view, const Style& style) {
    constexpr size_t kBeforeText = 22;
    std::string text;
    for (const Finding& finding : view.findings) {
        // The padding stands outside of the colour, whose letters take no room.
        const std::string padding(finding.state.size() < 7 ? 7 - finding.state.size() : 0, ' ');
        std::string head = fmt::format("{:<12} {}{} ", finding.about,
                                       coloured(finding.state, tone_of(finding.state), style), padding);
        for (const std::string& line : wrap(finding.text, std::max<size_t>(style.width, 50) - kBeforeText)) {
            text += fmt::format("{} {}\n", head, line);
            head.assign(kBeforeText - 1, ' ');
        }
    }
    return text +
           fmt::format("\n{}, {}:\n  {}\n", coloured("Next", Tone::title, style), view.next_why, view.next);
}

void fields(auto& io, Like<Finding> auto& finding) {
    io("about", finding.about);
    io("state", finding.state);
    io("text", finding.text);
}

void fields(auto& io, Like<DoctorView> auto& view) {
    head(io, view.origin);
    io("findings", view.findings);
    io.derived("problem", view.has_problem());
    io("next", view.next);
    io("next_why", view.next_why);
}

std::string to_json(const DoctorView& view) { return write_document(view); }

}  // namespace ttmem::view
