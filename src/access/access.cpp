// SPDX-License-Identifier: Apache-2.0
#include "access/access.hpp"

#include <algorithm>

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
std::vector<std::string> notices_of(const view::FailureView& /*view*/) { return {}; }
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
                           "no daemon runs here, and this only a daemon knows (start one with 'ttmemd')");
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

base::Expected<Answer<view::ProgramView>> programs(const census::ProgramQuery& query, Way way) {
    return choose<view::ProgramView>(
        way, [&] { return daemon::programs(query); }, [&] { return direct::programs(query); });
}

base::Expected<Answer<view::MapView>> map(const census::MapQuery& query, Way way) {
    return choose<view::MapView>(
        way, [&] { return daemon::map(query); }, [&] { return direct::map(query); });
}

base::Expected<Answer<view::CoreView>> cores(const std::string& device, Way way) {
    return choose<view::CoreView>(
        way, [&] { return daemon::cores(device); }, [&] { return direct::cores(device); });
}

namespace {

constexpr uint64_t kMostHolders = 5;  // of each list: who is in the way is among the largest

// The largest holders of what ran out, for each device and kind that did, once.
base::Expected<std::vector<view::HoldersView>> holders_of(const view::FailureView& failures, Way way) {
    std::vector<view::HoldersView> result;
    for (const census::FailureFigures& failure : failures.failures) {
        const bool has_run_out = failure.type == census::FailureType::out_of_memory && failure.kind;
        const std::string device = failure.devices.empty() ? "" : std::to_string(failure.devices.front());
        const bool is_there = std::any_of(result.begin(), result.end(), [&](const view::HoldersView& one) {
            return one.device == device && one.kind == failure.kind;
        });
        if (!has_run_out || device.empty() || is_there) {
            continue;
        }
        census::AllocationQuery query;
        query.device = device;
        query.kind = failure.kind;
        query.limit = kMostHolders;
        query.group = census::GroupBy::pid;
        auto by_process = groups(query, way);
        query.group = census::GroupBy::name;
        auto by_name = groups(query, way);
        if (!by_process || !by_name) {
            return tl::unexpected((!by_process ? by_process : by_name).error());
        }
        result.push_back(
            {device, *failure.kind, std::move(by_process->view.groups), std::move(by_name->view.groups)});
    }
    return result;
}

}  // namespace

base::Expected<Answer<view::WhyView>> why(const census::FailureQuery& query, Way way) {
    auto failures = choose<view::FailureView>(
        way, [&] { return daemon::failures(query); }, [&] { return direct::failures(query); });
    if (!failures) {
        return tl::unexpected(std::move(failures.error()));
    }
    auto holders = holders_of(failures->view, way);
    if (!holders) {
        return tl::unexpected(std::move(holders.error()));
    }
    return Answer<view::WhyView>{{std::move(failures->view), std::move(*holders)},
                                 std::move(failures->notices)};
}

base::Expected<Answer<view::HistoryView>> history(const std::optional<uint32_t>& device,
                                                  const std::optional<census::Kind>& kind,
                                                  uint64_t since_ns) {
    return only_daemon(daemon::history(device, kind, since_ns));
}

base::Expected<Answer<view::EventsView>> events(uint64_t since, uint64_t limit) {
    return only_daemon(daemon::events(since, limit));
}

base::Expected<Answer<view::SelfView>> self() { return only_daemon(daemon::self()); }

base::Expected<Answer<view::PostMortemListView>> post_mortems() {
    return only_daemon(daemon::post_mortems());
}

base::Expected<Answer<view::PostMortemView>> post_mortem(uint32_t pid, uint64_t limit) {
    return only_daemon(daemon::post_mortem(pid, limit));
}

}  // namespace ttmem::access
