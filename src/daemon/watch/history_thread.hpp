// SPDX-License-Identifier: Apache-2.0
#pragma once

// Writes the history on its own thread: follows all attached processes, samples used bytes once per second and those of names
// every ten seconds, audits one ledger per second, and writes the event log.

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>

#include "daemon/database/history_keeper.hpp"
#include "daemon/log/event_log.hpp"
#include "daemon/watch/process_table.hpp"
#include "history/event_history.hpp"

namespace ttmem::daemon {

class HistoryThread {
public:
    // `thread` runs one call at a time. All work is done there.
    HistoryThread(boost::asio::any_io_executor thread, history::EventHistory& history,
                  const ProcessTable& process_table, EventLog& event_log, HistoryKeeper& kept);

    void start();

    // Reads new events a last time. Nothing is read or written after this returns.
    void stop();

    // Any thread.
    void process_attached(const AttachedProcess& attached, history::Follower::StartPosition from);
    void process_ended(uint32_t number);

private:
    void tick();
    void write_event_log();
    void reset_log_totals();
    void sample();
    void audit();

    const boost::asio::any_io_executor thread_;
    history::EventHistory& history_;
    const ProcessTable& process_table_;
    EventLog& event_log_;
    HistoryKeeper& kept_;
    boost::asio::steady_timer timer_;
    bool stopping_ = false;
    uint64_t written_ = 0;  // sequence number of the newest record in the event log
    uint64_t next_sample_ns_ = 0;
    uint64_t next_audit_ns_ = 0;
};

}  // namespace ttmem::daemon
