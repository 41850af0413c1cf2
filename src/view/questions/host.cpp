// SPDX-License-Identifier: Apache-2.0
#include "view/questions/host.hpp"

#include <utility>

#include "census/scan_shares.hpp"
#include "view/questions/events.hpp"
#include "view/questions/history.hpp"
#include "view/questions/self.hpp"

namespace ttmem::view {

using base::Error;

std::vector<census::Inexactness> VisibleProcesses::inexact() const {
    std::vector<census::Inexactness> result = census::compute_figures(census, census::Depth::pools).inexact;
    for (census::Inexactness& one : census::beyond_shares(census)) {
        result.push_back(std::move(one));
    }
    for (const uint32_t pid : hidden) {
        result.push_back({pid, census::Reason::not_listed, 1});
    }
    return result;
}

base::Expected<VisibleProcesses> Host::visible(std::optional<uint32_t> pid) const {
    VisibleProcesses result{census(), {}};
    for (const census::Process& process : result.census.processes) {
        const census::Identity& identity = process.identity;
        if (may_see(identity.uid)) {
            continue;
        }
        if (pid == identity.pid) {
            return base::error(Error::Code::denied,
                               "process " + std::to_string(*pid) + " belongs to " + identity.user +
                                   ": its details are for that user, root and members of group ttmem");
        }
        result.hidden.push_back(identity.pid);
    }
    std::erase_if(result.census.processes,
                  [&](const census::Process& process) { return !may_see(process.identity.uid); });
    census::share_scans(result.census, pid);
    return result;
}

tl::unexpected<Error> needs_daemon() {
    return base::error(Error::Code::gone, "This needs a running daemon (start it with 'ttmemd')");
}

base::Expected<DeadProcesses> Host::dead_processes() const { return needs_daemon(); }
base::Expected<EventsView> Host::events(const EventQuery& /*query*/) const { return needs_daemon(); }
base::Expected<HistoryView> Host::history(const HistoryQuery& /*query*/) const { return needs_daemon(); }
base::Expected<SelfView> Host::self() const { return needs_daemon(); }

}  // namespace ttmem::view
