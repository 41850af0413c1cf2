// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "view/text/format.hpp"
#include "view/text/screens.hpp"

namespace ttmem::view {

namespace {

Tone finding_tone(FindingState state) {
    return state == FindingState::ok ? Tone::good : state == FindingState::note ? Tone::warn : Tone::bad;
}

// Breaks at spaces.
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
                       [](const Finding& each) { return each.state == FindingState::problem; });
}

Text doctor_text(const DoctorView& view, const Style& style) {
    constexpr size_t kBeforeText = 22;
    Text text;
    for (const Finding& finding : view.findings) {
        Line head = Line(fmt::format("{:<12} ", finding.about))
                        .add(std::string(name_of(finding.state)), finding_tone(finding.state));
        head.add(std::string(kBeforeText - std::min(kBeforeText, head.width()), ' '));
        for (const std::string& line : wrap(finding.text, std::max<size_t>(style.width, 50) - kBeforeText)) {
            text.add(head.add(line));
            head = std::string(kBeforeText, ' ');
        }
    }
    text.blank().add(Line("Next", Tone::title).add(fmt::format(", {}:", view.next_why)));
    return text.add("  " + view.next);
}

}  // namespace ttmem::view
