// SPDX-License-Identifier: Apache-2.0
#include "daemon/watch/history_views.hpp"

namespace ttmem::daemon {

void describe(const history::EventHistory& history, view::SelfView& self) {
    const history::EventTotals totals = history.totals();
    self.events_followed = totals.followed;
    self.events_lost = totals.lost;
    self.events_per_second = totals.per_second;
    self.defects = totals.defects;
    self.audits = totals.audits;
    self.lag_ns = totals.lag_ns;
}

}  // namespace ttmem::daemon
