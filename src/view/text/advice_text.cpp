// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "view/text/format.hpp"
#include "view/text/parts.hpp"
#include "view/text/screens.hpp"

namespace ttmem::view {

Text advice_text(const AdviceView& view, const Style& style) {
    if (view.processes == 0) {
        return no_process_text(view.origin, view.inexact, view.hidden, style.bytes);
    }
    Text text;
    text.add(headline(view.origin,
                      view.advice.empty() ? "nothing to advise"
                                          : format_count(view.advice.size(), "advice", "pieces of advice"),
                      view.is_exact()));
    if (view.advice.empty()) {
        text.add("No region is too small or much too large, memory is not fragmented, nothing large")
            .add("was held for half of a process's life, and all chips are used equally.");
    }
    for (const AdviceItem& item : view.advice) {
        text.blank();
        std::string line = "*";
        const std::string words = item.text + " ";
        for (size_t start = 0; start < words.size();) {
            const size_t end = words.find(' ', start);
            const std::string word = words.substr(start, end - start);
            if (line.size() + 1 + word.size() > 79) {
                text.add(line);
                line = " ";
            }
            line += " " + word;
            start = end + 1;
        }
        text.add(line);
    }
    return text.add(end_of_list(view, style.bytes));
}

}  // namespace ttmem::view
