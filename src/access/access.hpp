// SPDX-License-Identifier: Apache-2.0
#pragma once

// Answers a question (view/questions/questions.hpp): asks the daemon if one runs, else reads every segment that this
// user may read. Both give the same figures. The daemon also has the totals of other users, and the history. A program that
// shows a recording (access/answer_source.hpp) answers all its questions from that.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "access/answer_source.hpp"
#include "access/daemon_client.hpp"
#include "access/direct_host.hpp"
#include "base/error.hpp"
#include "view/json/json.hpp"
#include "view/questions/questions.hpp"

namespace ttmem::access {

template <class View>
struct Reply {
    View view;
    std::vector<std::string> notices;  // for standard error: "process 4711's segment lacks a seal, skipped"
};

enum class ReadMode : uint8_t { daemon_first, direct };

// Returns an error if the device or the process of the query does not exist, or if the question needs a daemon and
// none runs.
template <class Question>
base::Expected<Reply<typename Question::View>> ask(const typename Question::Query& query = {},
                                                   ReadMode mode = ReadMode::daemon_first);

// One answer of the daemon, which may be the first page of several.
template <class Question>
base::Expected<typename Question::View> ask_page(const typename Question::Query& query) {
    const auto body = get(view::target_of<Question>(query));
    if (!body) {
        return tl::unexpected(body.error());
    }
    auto view = view::from_json<typename Question::View>(*body);
    if (!view) {
        return base::error(base::Error::Code::failed,
                           "the daemon's answer can't be read: " + view.error().text);
    }
    return view;
}

// Returns Error::Code::gone if no daemon runs, and refused or not_found if it answers so. Any other error means that a
// daemon runs and did not answer.
template <class Question>
base::Expected<typename Question::View> ask_daemon(const typename Question::Query& query) {
    auto view = ask_page<Question>(query);
    if constexpr (requires { Question::next_page(query, *view); }) {
        auto rest = view ? Question::next_page(query, *view) : std::nullopt;
        while (rest) {
            auto page = ask_page<Question>(*rest);
            if (!page) {
                return page;
            }
            rest = Question::next_page(*rest, *page);
            Question::append(*view, std::move(*page));
        }
    }
    return view;
}

template <class Question>
base::Expected<Reply<typename Question::View>> ask(const typename Question::Query& query, ReadMode mode) {
    using View = typename Question::View;
    if (const auto host = chosen_host()) {
        auto view = Question::answer(*host, query);
        if (!view) {
            return tl::unexpected(std::move(view.error()));
        }
        return Reply<View>{std::move(*view), host->notices()};
    }
    std::string problem;  // set if a daemon runs but does not answer
    if (mode == ReadMode::daemon_first) {
        auto view = ask_daemon<Question>(query);
        if (view) {
            std::vector<std::string> notices = notices_of(inexactness_of(*view));
            return Reply<View>{std::move(*view), std::move(notices)};
        }
        if (view.error().code == base::Error::Code::refused ||
            view.error().code == base::Error::Code::not_found) {
            return tl::unexpected(std::move(view.error()));
        }
        problem = view.error().code == base::Error::Code::gone ? "" : view.error().text;
    }
    const DirectHost host;
    auto view = Question::answer(host, query);
    if (!view) {
        return problem.empty() ? tl::unexpected(std::move(view.error()))
                               : base::error(base::Error::Code::failed, problem);
    }
    std::vector<std::string> notices = host.notices();
    if (!problem.empty()) {
        notices.insert(notices.begin(), problem + "; read directly instead");
    }
    return Reply<View>{std::move(*view), std::move(notices)};
}

}  // namespace ttmem::access
