// SPDX-License-Identifier: Apache-2.0
#include "daemon/watch/attacher.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <cassert>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <utility>

#include "base/time.hpp"
#include "base/unix_socket.hpp"
#include "daemon/fair_workers.hpp"
#include "sources/segments/announcement.hpp"

namespace ttmem::daemon {

namespace asio = boost::asio;
namespace segments = sources::segments;
using base::Error;
using boost::system::error_code;
using history::Follower;

namespace {

// Processes announce themselves, so a scan finds only those that were there before. Where it takes
// more than one percent of a core, there are fewer.
constexpr std::chrono::nanoseconds kScanInterval = std::chrono::seconds(1);
constexpr std::chrono::nanoseconds kLongestScanInterval = std::chrono::seconds(2);
constexpr int kShareOfScans = 100;
constexpr auto kAnnounceTimeout = std::chrono::seconds(2);  // from connecting to passing the segment
constexpr auto kAcceptAgain = std::chrono::milliseconds(100);
constexpr int kBacklog = 4096;  // the kernel lowers it to its own limit
constexpr size_t kMostAcceptedAtOnce = 64;
constexpr size_t kMostEndedFiles = 4096;
constexpr size_t kMostSuspicions = 1024;

}  // namespace

// A connection that has not passed its segment yet. Most have it with them when they are accepted.
class Attacher::Arrival : public std::enable_shared_from_this<Arrival> {
public:
    Arrival(Attacher& attacher, base::Descriptor connection, segments::Peer peer)
        : attacher_(attacher),
          budgets_(attacher.budgets_),
          connection_(std::move(connection)),
          peer_(std::move(peer)),
          user_(peer_.uid),
          waiting_(attacher.loop_),
          deadline_(attacher.loop_) {}
    ~Arrival() {
        if (waiting_.is_open()) {
            waiting_.release();  // connection_ closes it
        }
        budgets_->give_back(Budget::announcements, user_);
    }
    Arrival(const Arrival&) = delete;
    Arrival& operator=(const Arrival&) = delete;

    void begin() {
        error_code failed;
        waiting_.assign(connection_.get(), failed);
        if (failed) {
            return;
        }
        deadline_.expires_after(kAnnounceTimeout);
        deadline_.async_wait([weak = weak_from_this()](error_code error) {
            if (const auto self = weak.lock(); self && !error) {
                self->waiting_.cancel();
            }
        });
        wait();
    }

private:
    void wait() {
        waiting_.async_wait(asio::posix::stream_descriptor::wait_read,
                            [self = shared_from_this()](error_code error) {
                                if (!error && !self->attacher_.stopping_) {
                                    self->receive();
                                }
                            });
    }

    void receive() {
        auto file = segments::receive_segment(connection_);
        if (!file && file.error().code == Error::Code::unfinished) {
            return wait();
        }
        if (!file) {
            return attacher_.refuse(peer_, file.error());
        }
        attacher_.receive(std::move(peer_), std::move(*file));
    }

    Attacher& attacher_;
    std::shared_ptr<Budgets> budgets_;  // this object may outlive the attacher
    base::Descriptor connection_;
    segments::Peer peer_;
    const User user_;
    asio::posix::stream_descriptor waiting_;
    asio::steady_timer deadline_;
};

Attacher::Attacher(asio::io_context& loop, asio::any_io_executor scanner, ProcessTable& process_table,
                   std::shared_ptr<Budgets> budgets, Callbacks callbacks)
    : loop_(loop),
      scanner_(std::move(scanner)),
      process_table_(process_table),
      budgets_(std::move(budgets)),
      callbacks_(std::move(callbacks)),
      listener_(loop),
      accept_again_(loop),
      scan_timer_(loop) {
    assert(callbacks_.attached && callbacks_.ended && callbacks_.refused && callbacks_.scanned);
}

base::Expected<void> Attacher::listen(const std::filesystem::path& path) {
    const auto failed = [&](const char* what) {
        return base::error(Error::Code::failed,
                           std::string("can't ") + what + " " + path.string() + ": " + std::strerror(errno));
    };
    const base::UnixAddress address(path.c_str());
    if (!address.is_valid()) {
        return base::error(Error::Code::refused,
                           "the path of the runtime directory is too long for a socket: " + path.string());
    }
    base::Descriptor listener(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!listener) {
        return failed("create the socket");
    }
    unlink(path.c_str());  // left by a dead daemon: this one holds the lock
    if (!address.bind(listener.get())) {
        return failed("bind");
    }
    if (chmod(path.c_str(), 0666) != 0 || ::listen(listener.get(), kBacklog) != 0) {
        return failed("listen on");
    }
    assert(path_.empty());
    path_ = path;
    listener_.assign(listener.release());
    accept();
    return {};
}

void Attacher::accept() {
    listener_.async_wait(asio::posix::stream_descriptor::wait_read, [this](error_code error) {
        if (error || stopping_) {
            return;
        }
        for (size_t i = 0; i < kMostAcceptedAtOnce; ++i) {
            base::Descriptor connection(accept4(listener_.native_handle(), nullptr, nullptr, SOCK_CLOEXEC));
            if (connection) {
                arrive(std::move(connection));
            } else if (errno == EAGAIN) {
                break;
            } else if (errno != EINTR && errno != ECONNABORTED) {
                return accept_later();
            }
        }
        accept();
    });
}

// No descriptors are left: others wait in the queue, and scans of /proc find them too.
void Attacher::accept_later() {
    accept_again_.expires_after(kAcceptAgain);
    accept_again_.async_wait([this](error_code cancelled) {
        if (!cancelled) {
            accept();
        }
    });
}

// Nobody waits behind a connection that says nothing: only those wait, each user has a share of them, and one beyond it is
// closed.
void Attacher::arrive(base::Descriptor connection) {
    ucred credentials{};
    if (base::read_peer(connection.get(), credentials) && !is_still_examined(credentials.uid)) {
        process_table_.count_missed();
        return;
    }
    auto peer = segments::peer_of(connection);
    if (!peer) {
        process_table_.count_missed();
        return;
    }
    auto file = segments::receive_segment(connection);
    if (file) {
        return receive(std::move(*peer), std::move(*file));
    }
    if (file.error().code != Error::Code::unfinished) {
        return refuse(*peer, file.error());
    }
    if (budgets_->take(Budget::announcements, peer->uid)) {
        std::make_shared<Arrival>(*this, std::move(connection), std::move(*peer))->begin();
    }
}

void Attacher::receive(segments::Peer peer, base::Descriptor file) {
    const auto examined = segments::examine_file(file);
    if (examined && ended_files_.contains(examined->id)) {
        return;  // a scan had found it, and it has ended since
    }
    const segments::Peer who{peer.pid, peer.uid, {}};
    auto attached = segments::attach(proc_, std::move(peer), std::move(file));
    if (!attached) {
        return refuse(who, attached.error());
    }
    if (attached->process.state == census::ProcessState::dead) {
        if (!process_table_.known_files().contains(attached->file.id)) {
            remember_end(attached->file.id);
            callbacks_.ended({0, std::move(attached->process), attached->file}, census::Ending::not_known,
                             std::make_shared<const base::Descriptor>(std::move(attached->handle)));
        }
        return;
    }
    admit(std::move(*attached), Follower::StartPosition::beginning);
}

// Others wait behind each announcement that is examined. A user with many refused ones in this second is not examined any more;
// a scan finds the honest ones.
bool Attacher::is_still_examined(User user) {
    if (const uint64_t now = base::monotonic_ns(); now >= second_ends_ns_) {
        forget_refusals();
        second_ends_ns_ = now + base::kNsPerSecond;
    }
    const bool has_room = budgets_->take(Budget::refusals, user);
    if (has_room) {
        budgets_->give_back(Budget::refusals, user);
    }
    return has_room;
}

void Attacher::forget_refusals() {
    for (const auto& [user, refusals] : refusals_) {
        budgets_->give_back(Budget::refusals, user, refusals);
    }
    refusals_.clear();
}

void Attacher::refuse(const segments::Peer& peer, const Error& error) {
    process_table_.count_missed();
    if (error.code != Error::Code::gone) {
        refusals_[peer.uid] += budgets_->take(Budget::refusals, peer.uid) ? 1u : 0u;
        callbacks_.refused(peer.uid, peer.pid, error.text);
    }
}

std::optional<uint32_t> Attacher::admit(segments::AttachedSegment attached, Follower::StartPosition from) {
    // Without descriptors its end could not be seen. The next scan finds it again.
    asio::posix::stream_descriptor handle(loop_);
    error_code failed;
    handle.assign(attached.handle.get(), failed);
    if (failed) {
        process_table_.count_missed();
        return std::nullopt;
    }
    attached.handle.release();
    const auto number = process_table_.add(attached.process, attached.file);
    if (!number) {
        return std::nullopt;
    }
    callbacks_.attached({*number, attached.process, attached.file}, from);
    watch(*number, std::move(handle));
    return number;
}

void Attacher::watch(uint32_t number, asio::posix::stream_descriptor handle) {
    [[maybe_unused]] const auto [place, is_new] = handles_.emplace(number, std::move(handle));
    assert(is_new);
    place->second.async_wait(asio::posix::stream_descriptor::wait_read, [this, number](error_code error) {
        if (!error && !stopping_) {
            end(number, census::Ending::not_known);
        }
    });
}

void Attacher::end(uint32_t number, census::Ending ending) {
    std::shared_ptr<const base::Descriptor> handle;
    if (const auto found = handles_.find(number); found != handles_.end()) {
        handle = std::make_shared<const base::Descriptor>(found->second.release());
        handles_.erase(found);
    }
    if (const auto member = process_table_.remove(number)) {
        remember_end(member->file.id);
        callbacks_.ended(*member, ending, std::move(handle));
    }
}

void Attacher::remember_end(segments::FileId file) {
    if (ended_files_.insert(file).second) {
        ended_order_.push_back(file);
    }
    for (; ended_order_.size() > kMostEndedFiles; ended_order_.pop_front()) {
        ended_files_.erase(ended_order_.front());
    }
}

struct Attacher::ScanResult {
    segments::FoundSegments found;
    std::vector<uint32_t> replaced;  // numbers of processes that execute another program
    std::vector<uint32_t> changed_user;
    std::chrono::nanoseconds took{};  // of a processor
};

void Attacher::start() {
    process_table_.set_first_scan_running(true);
    scan_proc();
}

void Attacher::scan_proc() {
    asio::post(scanner_, [this, members = process_table_.members()] {
        const uint64_t begin = base::processor_ns();
        auto result = std::make_shared<ScanResult>(scan(members));
        result->took = std::chrono::nanoseconds(base::processor_ns() - begin);
        asio::post(loop_, [this, result] {
            if (!stopping_) {
                on_scan(std::move(*result));
            }
        });
    });
}

Attacher::ScanResult Attacher::scan(const std::vector<AttachedProcess>& members) {
    ScanResult result;
    std::set<segments::FileId> known;
    std::map<uint32_t, std::optional<uint32_t>> descriptors;
    for (const AttachedProcess& member : members) {
        known.insert(member.file.id);
        if (member.process.source != census::ProcessSource::segment) {
            continue;
        }
        auto& descriptor = descriptors[member.number] = descriptors_[member.number];
        switch (continuity_of(proc_, member.process.identity, member.file, descriptor)) {
            case segments::Continuity::same:
                break;
            case segments::Continuity::changed_user:
                result.changed_user.push_back(member.number);
                break;
            case segments::Continuity::replaced:
                result.replaced.push_back(member.number);
                break;
        }
    }
    descriptors_ = std::move(descriptors);
    result.found = discovery_.scan(known);
    return result;
}

// A process that the scan found may have ended before the result arrives here. It must not be attached again.
void Attacher::on_scan(ScanResult result) {
    for (const uint32_t number : result.changed_user) {
        process_table_.set_changed_user(number);
    }
    for (const uint32_t number : result.replaced) {
        end(number, census::Ending::exec);
    }
    for (const census::Omission& omission : result.found.omissions) {
        if (omission.is_suspicious && reported_suspicions_.size() < kMostSuspicions &&
            reported_suspicions_.emplace(omission.pid, omission.detail).second) {
            callbacks_.refused(kDaemonItself, omission.pid, "segment " + omission.detail + ", skipped");
        }
    }
    process_table_.set_omissions(std::move(result.found.omissions), std::move(result.found.unread));
    // Devices get their numbers in the order of the processes' start.
    std::stable_sort(result.found.attached.begin(), result.found.attached.end(),
                     [](const segments::AttachedSegment& a, const segments::AttachedSegment& b) {
                         return a.process.identity.start_time < b.process.identity.start_time;
                     });
    for (segments::AttachedSegment& attached : result.found.attached) {
        if (!ended_files_.contains(attached.file.id)) {
            admit(std::move(attached), Follower::StartPosition::present);
        }
    }
    process_table_.set_first_scan_running(false);
    callbacks_.scanned();
    scan_timer_.expires_after(std::clamp(result.took * kShareOfScans, kScanInterval, kLongestScanInterval));
    scan_timer_.async_wait([this](error_code error) {
        if (!error) {
            scan_proc();
        }
    });
}

void Attacher::stop() {
    stopping_ = true;
    forget_refusals();
    error_code ignored;
    listener_.close(ignored);
    accept_again_.cancel();
    scan_timer_.cancel();
    handles_.clear();
    if (!path_.empty()) {
        unlink(path_.c_str());
    }
}

}  // namespace ttmem::daemon
