// SPDX-License-Identifier: Apache-2.0
#pragma once

// Attaches processes: those that announce themselves on a socket, and those that a scan of /proc finds. Detaches them when the
// kernel reports their end.

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "census/post_mortem.hpp"
#include "daemon/budgets.hpp"
#include "daemon/watch/process_table.hpp"
#include "history/follower.hpp"
#include "sources/proc.hpp"
#include "sources/segments/discover.hpp"

namespace ttmem::daemon {

class Attacher {
public:
    struct Callbacks {
        std::function<void(const AttachedProcess&, history::Follower::StartPosition)> attached;
        // It died, or executes another program. Also for a process that had ended before it could be attached.
        // The handle is a pidfd, or null.
        std::function<void(const AttachedProcess&, census::Ending,
                           std::shared_ptr<const base::Descriptor> handle)>
            ended;
        std::function<void(User user, uint32_t pid, const std::string& reason)> refused;
        std::function<void()> scanned;  // after each scan of /proc
    };

    // Runs on the loop, except for scans of /proc, which run on `scanner`. Callbacks run on the loop.
    Attacher(boost::asio::io_context& loop, boost::asio::any_io_executor scanner, ProcessTable& process_table,
             std::shared_ptr<Budgets> budgets, Callbacks callbacks);

    // The socket is open to all local users: each process can announce only itself.
    base::Expected<void> listen(const std::filesystem::path& path);

    // Adds a process from any source. Returns its number, or nothing if it is known already or the table is full.
    std::optional<uint32_t> admit(sources::segments::AttachedSegment attached,
                                  history::Follower::StartPosition from);

    // Scans /proc now, and every second from then on: for processes that did not announce themselves, and for attached ones that
    // execute another program now.
    void start();
    void stop();

private:
    class Arrival;
    struct ScanResult;
    void accept();
    void accept_later();
    void arrive(base::Descriptor connection);
    void receive(sources::segments::Peer peer, base::Descriptor file);
    // Whether this user's announcements are still examined in this second.
    bool is_still_examined(User user);
    void forget_refusals();
    void refuse(const sources::segments::Peer& peer, const base::Error& error);
    void watch(uint32_t number, boost::asio::posix::stream_descriptor handle);
    void end(uint32_t number, census::Ending ending);
    void remember_end(sources::segments::FileId file);
    void scan_proc();
    ScanResult scan(const std::vector<AttachedProcess>& members);
    void on_scan(ScanResult result);

    boost::asio::io_context& loop_;
    boost::asio::any_io_executor scanner_;
    ProcessTable& process_table_;
    std::shared_ptr<Budgets> budgets_;
    Callbacks callbacks_;
    sources::Proc proc_;
    std::filesystem::path path_;
    boost::asio::posix::stream_descriptor listener_;
    boost::asio::steady_timer accept_again_;
    boost::asio::steady_timer scan_timer_;
    std::map<uint32_t, boost::asio::posix::stream_descriptor> handles_;  // by number
    bool stopping_ = false;
    uint64_t second_ends_ns_ = 0;
    std::map<User, uint64_t> refusals_;  // in this second

    // Files of processes that have ended lately. A scan, or an announcement that is read late, may find them again.
    std::set<sources::segments::FileId> ended_files_;
    std::deque<sources::segments::FileId> ended_order_;

    // Used by scans only.
    sources::segments::Discovery discovery_{proc_};
    std::map<uint32_t, std::optional<uint32_t>>
        descriptors_;  // by number: where the process has its segment open
    std::set<std::pair<uint32_t, std::string>> reported_suspicions_;  // pid and text: each is logged once
};

}  // namespace ttmem::daemon
