// SPDX-License-Identifier: Apache-2.0
#include "access/access.hpp"

#include "access/daemon.hpp"
#include "access/direct.hpp"

namespace ttmem::access {

using base::Error;

namespace {

std::vector<std::string> notices_in(const std::vector<census::Inexactness>& inexact) {
    std::vector<std::string> notices;
    for (const census::Inexactness& one : inexact) {
        if (one.skipped) {
            notices.push_back("process " + std::to_string(one.pid) + "'s " + one.reason);
        }
    }
    return notices;
}

std::vector<std::string> notices_of(const view::View& view) { return notices_in(view.figures.inexact); }
std::vector<std::string> notices_of(const auto& view) { return notices_in(view.inexact); }

// What the daemon refuses it refuses; where none runs, or it does not answer, this process looks by itself.
template <class View>
base::Expected<Answer<View>> choose(Way way, const auto& ask_daemon, const auto& look_directly) {
    std::vector<std::string> notices;
    if (way == Way::daemon_if_there) {
        base::Expected<View> answer = ask_daemon();
        if (answer) {
            notices = notices_of(*answer);
            return Answer<View>{std::move(*answer), std::move(notices)};
        }
        if (answer.error().code == Error::Code::refused) {
            return tl::unexpected(answer.error());
        }
        if (answer.error().code == Error::Code::failed) {
            notices.push_back(answer.error().text + "; looked directly instead");
        }
    }
    base::Expected<Answer<View>> answer = look_directly();
    if (answer) {
        answer->notices.insert(answer->notices.begin(), notices.begin(), notices.end());
    }
    return answer;
}

template <class View>
base::Expected<Answer<View>> only_daemon(base::Expected<View> answer) {
    if (answer) {
        return Answer<View>{std::move(*answer), {}};
    }
    if (answer.error().code == Error::Code::gone) {
        return base::error(Error::Code::gone,
                           "no daemon runs that could have seen it (start one with 'ttmemd')");
    }
    return tl::unexpected(std::move(answer.error()));
}

}  // namespace

base::Expected<Answer<view::View>> status(Way way) {
    return choose<view::View>(
        way, [] { return daemon::status(); }, [] { return direct::status(); });
}

base::Expected<Answer<view::AllocationView>> allocations(const census::AllocationQuery& query, Way way) {
    return choose<view::AllocationView>(
        way, [&] { return daemon::allocations(query); }, [&] { return direct::allocations(query); });
}

base::Expected<Answer<view::GroupView>> groups(const census::AllocationQuery& query, Way way) {
    return choose<view::GroupView>(
        way, [&] { return daemon::groups(query); }, [&] { return direct::groups(query); });
}

base::Expected<Answer<view::PostMortemListView>> post_mortems() {
    return only_daemon(daemon::post_mortems());
}

base::Expected<Answer<view::PostMortemView>> post_mortem(uint32_t pid, uint64_t limit) {
    return only_daemon(daemon::post_mortem(pid, limit));
}

}  // namespace ttmem::access
