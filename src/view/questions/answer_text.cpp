// SPDX-License-Identifier: Apache-2.0
#include "view/questions/answer_text.hpp"

#include "view/questions/questions.hpp"

namespace ttmem::view {

namespace {

template <class Question>
base::Expected<std::string> answer_one(const Host& host, const Parameters& parameters) {
    const auto query = UrlForm<typename Question::Query>::read(parameters);
    if (!query) {
        return tl::unexpected(query.error());
    }
    const auto view = Question::answer(host, *query);
    if (!view) {
        return tl::unexpected(view.error());
    }
    return to_json(*view);
}

}  // namespace

base::Expected<std::string> answer_text(const Host& host, const std::string& path,
                                        const Parameters& parameters) {
    // A question with a selector goes before the one that has only the path.
    base::Expected<std::string> (*chosen)(const Host&, const Parameters&) = nullptr;
    Questions::for_each([&]<class Question>() {
        const std::string selector = selector_of<Question>();
        const bool is_chosen = selector.empty() ? chosen == nullptr : parameters.contains(selector);
        if (path == Question::kPath && is_chosen) {
            chosen = &answer_one<Question>;
        }
    });
    if (chosen == nullptr) {
        return base::error(base::Error::Code::refused, "no question has the address " + path);
    }
    return chosen(host, parameters);
}

}  // namespace ttmem::view
