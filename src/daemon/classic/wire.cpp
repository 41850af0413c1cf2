// SPDX-License-Identifier: Apache-2.0
#include "daemon/classic/wire.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <cassert>
#include <cerrno>
#include <chrono>
#include <exception>
#include <thread>

#include "base/pidfd.hpp"
#include "base/proc_stat.hpp"
#include "base/unix_socket.hpp"
#include "daemon/classic/answers.hpp"
#include "daemon/classic/connection.hpp"
#include "daemon/classic/polled_connections.hpp"
#include "daemon/classic/shares.hpp"
#include "sources/segments/announcement.hpp"

namespace ttmem::daemon {

namespace asio = boost::asio;
namespace segments = sources::segments;
using boost::system::error_code;
using sources::classic_wire::LedgerWriter;

namespace {

constexpr int kAcceptsAtOnce = 64;  // then others are served
constexpr size_t kMaxCrowdedUsers = 1024;
constexpr auto kDumpPause = std::chrono::seconds(1);
constexpr unsigned kMaxPollThreads = 4;
constexpr auto kTryToAcceptAgain = std::chrono::milliseconds(100);
constexpr uint64_t kLoggedFrees = 100;         // per process, with a line each
constexpr uint64_t kFreesPerLaterLine = 1000;  // then one line for this many

}  // namespace

ClassicWire::ClassicWire(ClassicWireDependencies dependencies)
    : dependencies_(std::move(dependencies)),
      listener_(dependencies_.loop),
      accept_again_(dependencies_.loop),
      pollers_(std::clamp(std::thread::hardware_concurrency(), 1U, kMaxPollThreads)),
      buffer_(kBufferBytes),
      dumps_{DumpState(dependencies_.loop), DumpState(dependencies_.loop)} {
    assert(dependencies_.admit);
    const auto pid = static_cast<uint32_t>(getpid());
    const auto folder = proc_.open(pid);
    const auto identity = folder ? proc_.identify(pid, *folder) : std::nullopt;
    own_start_time_ = identity ? identity->start_time : 0;
}

ClassicWire::~ClassicWire() = default;

base::Expected<void> ClassicWire::listen(const std::string& path) {
    auto taken = ClassicSocket::acquire(path);
    if (!taken) {
        return tl::unexpected(std::move(taken.error()));
    }
    socket_ = std::move(*taken);
    listener_.assign(socket_.descriptor().get());
    accept();
    return {};
}

void ClassicWire::accept() {
    listener_.async_wait(asio::posix::stream_descriptor::wait_read, [this](error_code error) {
        if (error || stopping_) {
            return;
        }
        for (int i = 0; i < kAcceptsAtOnce; ++i) {
            base::Descriptor socket(accept4(socket_.descriptor().get(), nullptr, nullptr, SOCK_CLOEXEC));
            if (socket) {
                arrive(std::move(socket));
            } else if (errno == EAGAIN) {
                break;
            } else if (errno != EINTR && errno != ECONNABORTED) {
                return accept_later();  // no descriptors left: others wait in the queue with what they send
            }
        }
        accept();
    });
}

void ClassicWire::accept_later() {
    accept_again_.expires_after(kTryToAcceptAgain);
    accept_again_.async_wait([this](error_code cancelled) {
        if (!cancelled) {
            accept();
        }
    });
}

// A connection beyond the share of its user is closed, so that nobody waits behind it.
void ClassicWire::arrive(base::Descriptor socket) {
    ucred credentials{};
    const bool has_peer = base::read_peer(socket.get(), credentials) && credentials.pid > 0;
    const User user = has_peer ? User{credentials.uid} : kUnknownUser;
    auto share = ConnectionShare::take(dependencies_.budgets, user);
    if (!share) {
        return refuse_connection(user);
    }
    uint64_t start_time = 0;
    if (const auto folder = has_peer ? proc_.open(static_cast<uint32_t>(credentials.pid)) : std::nullopt) {
        const auto stat = folder->read("stat");
        start_time = stat ? base::parse_start_time(stat->data(), stat->size()) : 0;
    }
    const uint64_t number = ++last_connection_;
    const auto connection =
        std::make_shared<ClientConnection>(*this, number, std::move(*share), std::move(socket), start_time);
    connections_.emplace(number, connection);
    connection->wait_for_bytes();
}

// Logged once, until the user has no connection any more.
void ClassicWire::refuse_connection(User user) {
    if (crowded_users_.size() >= kMaxCrowdedUsers) {
        crowded_users_.clear();
    }
    if (!crowded_users_.insert(user).second) {
        return;
    }
    const BudgetLimit& limit = dependencies_.budgets.limit(Budget::classic_connections);
    dependencies_.refusals.write(user, "! further connections of uid " + std::to_string(user) +
                                           " to the classic wire are closed: at most " +
                                           std::to_string(limit.per_user) + " per user, " +
                                           std::to_string(limit.total) + " in all");
}

void ClassicWire::closed(const ClientConnection& connection) {
    const User user = connection.user();
    const bool was_skipped = skipped_.erase(connection.number()) != 0;
    connections_.erase(connection.number());  // may destroy it
    if (dependencies_.budgets.used_by(Budget::classic_connections, user) == 0) {
        crowded_users_.erase(user);
    }
    if (was_skipped) {
        report_skipped();
    }
}

// The process at the other end, looked up when it first reports an allocation. Processes that only query are not tracked.
std::shared_ptr<ClassicWire::Client> ClassicWire::client_of(const ClientConnection& connection,
                                                            const base::Descriptor& socket,
                                                            uint64_t start_time) {
    auto peer = segments::peer_of(socket);
    if (!peer || !peer->handle) {
        return nullptr;
    }
    if (const auto known = clients_.find({peer->pid, start_time}); known != clients_.end()) {
        return known->second;
    }
    const auto folder = proc_.open(peer->pid);
    auto identity = folder ? proc_.identify(peer->pid, *folder) : std::nullopt;
    // This order proves that the identity is that of the process of the handle and of the one that connected: pids are reused.
    if (!identity || base::has_ended(peer->handle) || identity->start_time != start_time) {
        return nullptr;
    }
    const auto budget = std::make_shared<ClassicBytes>(dependencies_.budgets, connection.user());
    auto made = LedgerWriter::make(identity->inner_pid, identity->start_time,
                                   LedgerWriter::sizes_for(*budget), budget);
    if (!made) {
        return refuse(connection, peer->pid, made.error().text);
    }
    census::Process process(std::move(*identity), census::ProcessState::live, std::move(made->reader));
    process.source = census::ProcessSource::classic;
    // Within the same clock tick either may be older: then its earlier allocations count as unknown.
    process.is_older_than_ledger = start_time <= own_start_time_;
    const auto number = dependencies_.admit({made->file, std::move(peer->handle), std::move(process)});
    if (!number) {
        return refuse(connection, peer->pid, "too many tracked processes");
    }
    auto client = std::make_shared<Client>();
    client->pid = peer->pid;
    client->user = connection.user();
    client->number = *number;
    client->ledger = std::move(made->writer);
    [[maybe_unused]] const bool is_new = clients_.emplace(ProcessKey{peer->pid, start_time}, client).second;
    assert(is_new);
    return client;
}

std::shared_ptr<ClassicWire::Client> ClassicWire::refuse(const ClientConnection& connection, uint32_t pid,
                                                         const std::string& reason) {
    dependencies_.refusals.write(connection.user(), "! [PID " + std::to_string(pid) + "] " + reason +
                                                        ": its reports on the classic wire are not counted");
    skipped_[connection.number()] = {pid, census::Reason::segment_skipped, "of the classic wire: " + reason};
    report_skipped();
    return nullptr;
}

void ClassicWire::report_skipped() const {
    if (!dependencies_.set_skipped) {
        return;
    }
    std::map<uint32_t, census::Omission> by_pid;
    for (const auto& [number, omission] : skipped_) {
        by_pid.emplace(omission.pid, omission);
    }
    std::vector<census::Omission> omissions;
    omissions.reserve(by_pid.size());
    for (auto& [pid, omission] : by_pid) {
        omissions.push_back(std::move(omission));
    }
    dependencies_.set_skipped(std::move(omissions));
}

void ClassicWire::note_unknown_free(Client& client, const sources::classic_wire::WireRequest& request) {
    const uint64_t number = ++client.unknown_frees;
    if (number > kLoggedFrees && number % kFreesPerLaterLine != 0) {
        return;
    }
    std::string line = "⚠ [PID " + std::to_string(client.pid) + "] Deallocation for unknown buffer " +
                       std::to_string(request.buffer) + " on device " + std::to_string(request.device);
    if (number > kLoggedFrees) {
        line += " (" + std::to_string(number) + " so far)";
    }
    dependencies_.refusals.write(client.user, line);
}

void ClassicWire::ended(uint32_t number) {
    const auto client = std::find_if(clients_.begin(), clients_.end(),
                                     [&](const auto& entry) { return entry.second->number == number; });
    if (client == clients_.end()) {
        return;
    }
    std::vector<std::shared_ptr<ClientConnection>> connections;
    for (const auto& [_, connection] : connections_) {
        if (connection->client() == client->second.get()) {
            connections.push_back(connection);
        }
    }
    for (const auto& connection : connections) {
        connection->drain(buffer_);
    }
    {
        const std::lock_guard lock(client->second->mutex);  // a child process may still use a connection
        client->second->ledger.reset();
    }
    clients_.erase(client);
}

ClassicWire::PolledConnections& ClassicWire::polled_connections_of(uint64_t connection) {
    assert(!pollers_.empty());
    std::unique_ptr<PolledConnections>& poller = pollers_[connection % pollers_.size()];
    if (!poller) {
        poller = std::make_unique<PolledConnections>(dependencies_.loop);
    }
    return *poller;
}

void ClassicWire::dump(Dump what, User user) {
    if (!dependencies_.writes_dumps) {
        return;
    }
    DumpState& state = dumps_[static_cast<size_t>(what)];
    if (state.is_busy) {
        state.again = user;  // one more dump serves all requests that came meanwhile
        return;
    }
    start_dump(what, user);
}

void ClassicWire::start_dump(Dump what, User user) {
    DumpState& state = dumps_[static_cast<size_t>(what)];
    assert(!state.is_busy);
    state.is_busy = true;
    state.again.reset();
    dependencies_.workers.post(user, [this, what] {
        try {
            const census::Census census = dependencies_.process_table.census();
            for (std::string& line : what == Dump::buffers ? dump_buffers(census) : dump_kernels(census)) {
                dependencies_.log_writer.line(std::move(line));
            }
        } catch (const std::exception&) {
            dependencies_.log_writer.count_lost(1);  // no memory for the dump
        }
        asio::post(dependencies_.loop, [this, what] { finish_dump(what); });
    });
}

// The next dump waits, so that nobody can fill the log with dumps.
void ClassicWire::finish_dump(Dump what) {
    if (stopping_) {
        return;
    }
    DumpState& state = dumps_[static_cast<size_t>(what)];
    state.pause.expires_after(kDumpPause);
    state.pause.async_wait([this, what](error_code cancelled) {
        DumpState& paused = dumps_[static_cast<size_t>(what)];
        paused.is_busy = false;
        if (!cancelled && !stopping_ && paused.again) {
            start_dump(what, *paused.again);
        }
    });
}

void ClassicWire::stop() {
    stopping_ = true;
    if (listener_.is_open()) {
        listener_.release();  // socket_ closes it
    }
    accept_again_.cancel();
    for (DumpState& state : dumps_) {
        state.pause.cancel();
    }
    pollers_.clear();
    while (!connections_.empty()) {
        const auto connection = connections_.begin()->second;
        connection->close();
    }
    clients_.clear();
    socket_ = ClassicSocket();
}

}  // namespace ttmem::daemon
