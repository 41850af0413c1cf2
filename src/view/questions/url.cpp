// SPDX-License-Identifier: Apache-2.0
#include "view/questions/url.hpp"

#include <algorithm>

#include "base/nearest.hpp"
#include "base/text.hpp"

namespace ttmem::view {

using base::Error;

namespace {

// "a, b or c".
std::string alternatives(const std::vector<std::string>& words) {
    std::string text;
    for (size_t i = 0; i < words.size(); ++i) {
        text += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + words[i];
    }
    return text;
}

std::string suggestion(const std::string& text, const std::vector<std::string>& words) {
    const auto near = base::nearest(text, words);
    return near ? " (did you mean '" + *near + "'?)" : "";
}

}  // namespace

std::string escape_url(std::string_view text) {
    constexpr std::string_view kDigits = "0123456789ABCDEF";
    std::string escaped;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        const bool is_plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                              std::string_view("-._~").find(c) != std::string_view::npos;
        if (is_plain) {
            escaped += c;
        } else {
            escaped += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
        }
    }
    return escaped;
}

void UrlReader::read_flag(const char* name, const std::string& text, bool& value) {
    if (text == "true" || text == "1" || text == "yes") {
        value = true;
    } else if (text == "false" || text == "0" || text == "no") {
        value = false;
    } else {
        refuse_word(name, text, {"true", "false"});
    }
}

void UrlReader::refuse(std::string problem) {
    if (!problem_) {
        problem_ = std::move(problem);
    }
}

void UrlReader::refuse_number(const char* name, const std::string& text, uint64_t least, uint64_t most) {
    refuse("'" + std::string(name) + "' must be a number from " + std::to_string(least) + " to " +
           std::to_string(most) + ", not '" + base::printable(text) + "'");
}

void UrlReader::refuse_word(const char* name, const std::string& text,
                            const std::vector<std::string>& words) {
    refuse("'" + std::string(name) + "' must be " + alternatives(words) + ", not '" + base::printable(text) +
           "'" + suggestion(text, words));
}

base::Expected<void> UrlReader::finish(const std::vector<std::string>& also) const {
    std::vector<std::string> valid = known_;
    valid.insert(valid.end(), also.begin(), also.end());
    for (const auto& [name, value] : parameters_) {
        if (std::find(known_.begin(), known_.end(), name) == known_.end()) {
            return base::error(
                Error::Code::refused,
                "unknown parameter '" + base::printable(name) + "'" + suggestion(name, valid) +
                    (valid.empty() ? ": there are none here" : ": valid are " + alternatives(valid)));
        }
    }
    if (problem_) {
        return base::error(Error::Code::refused, *problem_);
    }
    return {};
}

}  // namespace ttmem::view
