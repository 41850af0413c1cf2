// SPDX-License-Identifier: Apache-2.0
#pragma once

// Follows every attached process, on a thread of its own: keeps the last events, writes the event log, samples used bytes and
// audits one ledger a second. State is never taken from here: whoever wants to know what is live reads the ledgers.

#include <array>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "census/figures.hpp"
#include "daemon/event_log.hpp"
#include "daemon/roster.hpp"
#include "history/audit.hpp"
#include "history/follower.hpp"
#include "history/pace.hpp"
#include "history/samples.hpp"
#include "view/chronicle.hpp"

namespace ttmem::daemon {

// How many failures there ever were, by census::FailureType.
using FailureTotals = std::array<uint64_t, segment::kFailureTypes>;

class Chronicle {
public:
    // All work is done on `thread`, which runs one thing at a time.
    Chronicle(boost::asio::any_io_executor thread, const Roster& roster, EventLog& log);

    void start();

    // Nothing happens after this returns and what was under way has ended.
    void stop();

    // Any thread. What a process did last is read before its end is told. Whom several sources know is followed by the
    // first of them: the others say the same again.
    void attached(const Roster::Member& member, history::Follower::From from);
    void died(uint32_t number);

    // Any thread, at once: adds what only this knows to figures just counted.
    void annotate(census::Figures& figures);
    uint64_t newest_event() const;

    // Any thread, at once: those of all who are and were followed. It never falls, whoever dies.
    FailureTotals failures() const;

    // Any thread; waits for a look at the rings of one process at most. `may_see` decides by the user of the process.
    using MaySee = std::function<bool(uint32_t uid)>;
    view::EventsView events(uint64_t since, uint64_t limit, const MaySee& may_see) const;
    view::HistoryView history(std::optional<uint32_t> device, std::optional<census::Kind> kind,
                              uint64_t since_ns) const;
    void describe(view::SelfView& self) const;

private:
    // One process, from when it was attached until the last of its events has left the log.
    struct Followed {
        census::Identity identity;
        census::Source source;
        std::shared_ptr<const segment::Reader> ledger;     // as long as it is followed
        std::weak_ptr<const segment::Reader> late_ledger;  // names, as long as somebody keeps them
        history::Follower follower;
        history::Audit audit;
        std::vector<std::optional<uint32_t>> device_ids;  // by entry of its device table
        std::optional<history::Difference> defect;
        uint64_t last_sequence = 0;
    };
    struct Counts {
        uint32_t pid = 0;
        uint64_t followed = 0;
        uint64_t lost = 0;
        uint64_t defects = 0;
        FailureTotals failures{};
        uint64_t at_last_sample = 0;  // followed and lost
        uint64_t per_second = 0;
    };

    void tick();
    void follow_all();
    uint64_t follow(uint32_t number, Followed& one);
    void leave(uint32_t number, Followed& one);
    void publish_counts(uint32_t number, const Followed& one);
    void add_record(Followed& one, uint32_t number, history::What what);
    void write_log();
    void look_at_totals();
    void audit_one();
    void forget_old();
    view::EventView describe(const history::Record& record) const;
    std::vector<uint32_t> devices_of(const Followed& one, uint32_t set) const;

    const boost::asio::any_io_executor thread_;
    const Roster& roster_;
    EventLog& event_log_;
    boost::asio::steady_timer timer_;
    bool stopping_ = false;
    history::Pace pace_;

    mutable std::mutex mutex_;  // held for a look at one process at a time
    history::Log log_;
    std::map<uint32_t, Followed> processes_;
    history::Samples samples_;

    mutable std::mutex counts_mutex_;  // held for moments only
    std::map<uint32_t, Counts> counts_;
    Counts of_the_left_;
    history::SeenPeaks peaks_;
    uint64_t newest_ = 0;  // of the log, for who does not want to wait for it
    uint64_t lag_ns_ = 0;
    uint64_t audits_ = 0;

    uint64_t written_ = 0;  // the newest record that is in the event log
    uint64_t next_sample_ns_ = 0;
    uint64_t sampled_ns_ = 0;
    uint64_t next_audit_ns_ = 0;
    uint32_t last_audited_ = 0;
};

}  // namespace ttmem::daemon
