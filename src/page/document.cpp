// SPDX-License-Identifier: Apache-2.0
#include "page/document.hpp"

namespace ttmem::page {

std::string document_with(std::string_view answers, const DocumentParts& parts) {
    if (parts.before.empty()) {
        return {};
    }
    std::string text(parts.before);
    text += R"(<script type="application/json" id="ttmem-data">)";
    for (const char c : answers) {
        // In JSON a '<' is part of a text, where it may be escaped. So no name can end the element.
        if (c == '<') {
            text += "\\u003c";
        } else {
            text += c;
        }
    }
    text += "</script>";
    text += parts.after;
    return text;
}

}  // namespace ttmem::page
