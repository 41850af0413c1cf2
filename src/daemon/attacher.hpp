// SPDX-License-Identifier: Apache-2.0
#pragma once

// How processes get in: those that announce themselves on a socket, and those that a look under /proc finds. And how they
// get out: by the kernel's word.

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "base/error.hpp"
#include "daemon/roster.hpp"
#include "history/follower.hpp"
#include "sources/proc.hpp"

namespace ttmem::daemon {

class Attacher {
public:
    struct Told {
        std::function<void(const Roster::Member&, history::Follower::From)> attached;
        std::function<void(const Roster::Member&)> died;
        std::function<void(uint32_t pid, const std::string& why)> refused;
    };

    // All on the loop, but for the looks under /proc, which are taken on `worker`.
    Attacher(boost::asio::io_context& loop, boost::asio::any_io_executor worker, Roster& roster, Told told);

    // The socket is open to all local users: each can only bring his own.
    base::Expected<void> listen(const std::filesystem::path& path);

    // A process that came in another way. Its number, or nothing where it is known or one too many.
    std::optional<uint32_t> admit(sources::segments::Attached attached, history::Follower::From from);

    // Looks under /proc at once, and from then on every 1.5 s.
    void start();
    void stop();

private:
    class Arrival;
    void accept();
    void arrive(base::Descriptor connection);
    void watch(uint32_t number, base::Descriptor handle);
    void look_under_proc();

    boost::asio::io_context& loop_;
    boost::asio::any_io_executor worker_;
    Roster& roster_;
    Told told_;
    sources::Proc proc_;
    std::filesystem::path path_;
    boost::asio::posix::stream_descriptor listener_;
    boost::asio::steady_timer accept_again_;
    boost::asio::steady_timer look_again_;
    std::shared_ptr<size_t> arriving_ = std::make_shared<size_t>(0);     // outlives this, as arrivals may
    std::map<uint32_t, boost::asio::posix::stream_descriptor> handles_;  // by number
    std::set<sources::segments::FileId> ended_meanwhile_;  // since the last look under /proc began
    bool stopping_ = false;
};

}  // namespace ttmem::daemon
