// SPDX-License-Identifier: Apache-2.0
#include "view/questions/host.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "census/arithmetic.hpp"
#include "census/scan_shares.hpp"
#include "census/selection.hpp"
#include "view/questions/events.hpp"
#include "view/questions/history.hpp"
#include "view/questions/process_history.hpp"
#include "view/questions/self.hpp"

namespace ttmem::view {

using base::Error;

namespace {

void add_holdings(std::array<census::Holding, census::kDeviceKinds>& sums,
                  const census::DeviceHoldings& held) {
    for (size_t kind = 0; kind < census::kDeviceKinds; ++kind) {
        const census::Holding& part = held.memory[kind];
        census::Holding& sum = sums[kind];
        sum.used = census::saturating_add(sum.used, part.used);
        sum.requested = census::saturating_add(sum.requested, part.requested);
        sum.count = census::saturating_add(sum.count, part.count);
        sum.is_known = sum.is_known && part.is_known;
        sum.is_count_known = sum.is_count_known && part.is_count_known;
    }
}

// The devices asked for; none if one does not exist.
std::vector<uint32_t> asked_devices(const census::Census& census, const std::optional<std::string>& device) {
    std::vector<uint32_t> ids;
    const auto selection = census::Selection::of(census, {.device = device});
    for (size_t i = 0; device && selection && i < selection->table().devices().size(); ++i) {
        if (selection->selects(i)) {
            ids.push_back(selection->table().devices()[i].id);
        }
    }
    return ids;
}

// Leaves what concerns the processes of the list, and adds the hidden ones. A list of one process hides none.
void judge_list(VisibleProcesses& result, const std::set<uint32_t>& hidden_pids, std::optional<uint32_t> pid,
                const std::optional<std::string>& device) {
    const census::Figures all = census::compute_figures(result.census, census::Depth::pools);
    for (const census::Inexactness& reason : all.inexact) {
        const bool is_of_list = reason.pid == 0 || !pid || reason.pid == *pid;
        if (is_of_list && !hidden_pids.contains(reason.pid)) {
            result.inexact.push_back(reason);
        }
    }
    for (census::Inexactness& reason : census::beyond_shares(result.census)) {
        result.inexact.push_back(std::move(reason));
    }
    result.devices = asked_devices(result.census, device);
    result.device = result.devices.empty() ? 0 : result.devices.front();
    for (const census::ProcessFigures& process : all.processes) {
        if (pid || !hidden_pids.contains(process.pid)) {
            continue;
        }
        bool is_asked = !device;
        for (const census::DeviceHoldings& held : process.devices) {
            const auto& asked = result.devices;
            if (!device || std::find(asked.begin(), asked.end(), held.id) != asked.end()) {
                is_asked = true;
                add_holdings(result.hidden.memory, held);
            }
        }
        if (is_asked) {
            ++result.hidden.processes;
            result.inexact.push_back({process.pid, census::Reason::not_listed, 1});
        }
    }
}

}  // namespace

base::Expected<VisibleProcesses> Host::visible(std::optional<uint32_t> pid,
                                               const std::optional<std::string>& device) const {
    VisibleProcesses result;
    result.census = census();
    std::set<uint32_t> hidden_pids;
    for (census::Process& process : result.census.processes) {
        const census::Identity& identity = process.identity;
        process.is_hidden = !may_see(identity.uid);
        if (!process.is_hidden) {
            ++result.processes;
            continue;
        }
        if (pid == identity.pid) {
            return not_for_asker(identity);
        }
        hidden_pids.insert(identity.pid);
    }
    census::share_scans(result.census, pid);
    judge_list(result, hidden_pids, pid, device);
    return result;
}

tl::unexpected<Error> not_for_asker(const census::Identity& process) {
    return base::error(Error::Code::denied,
                       "process " + std::to_string(process.pid) + " belongs to " + process.user +
                           ": only that user, root and members of group ttmem may see its details");
}

tl::unexpected<Error> needs_daemon() {
    return base::error(Error::Code::gone, "This needs a running daemon (start it with 'ttmemd')");
}

base::Expected<DeadProcesses> Host::dead_processes() const { return needs_daemon(); }

base::Expected<ProcessHistoryView> Host::process_history(const ProcessHistoryQuery& /*query*/) const {
    return needs_daemon();
}
base::Expected<EventsView> Host::events(const EventQuery& /*query*/) const { return needs_daemon(); }
base::Expected<HistoryView> Host::history(const HistoryQuery& /*query*/) const { return needs_daemon(); }
base::Expected<SelfView> Host::self() const { return needs_daemon(); }

}  // namespace ttmem::view
