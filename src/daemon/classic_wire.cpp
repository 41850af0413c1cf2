// SPDX-License-Identifier: Apache-2.0
#include "daemon/classic_wire.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <cerrno>
#include <chrono>
#include <thread>

#include "base/pidfd.hpp"
#include "daemon/classic_answers.hpp"
#include "daemon/classic_connection.hpp"
#include "daemon/classic_streams.hpp"
#include "sources/segments/announcement.hpp"

namespace ttmem::daemon {

namespace asio = boost::asio;
namespace segments = sources::segments;
using boost::system::error_code;
using sources::classic_wire::LedgerWriter;

namespace {

constexpr size_t kMostConnections = 4096;
constexpr unsigned kMostStreamThreads = 4;
constexpr auto kTryToAcceptAgain = std::chrono::milliseconds(100);
constexpr uint64_t kFreesTold = 100;       // of one process, each by a line of its own
constexpr uint64_t kFreesTogether = 1000;  // then so many by one

}  // namespace

ClassicWire::ClassicWire(Uses uses)
    : uses_(std::move(uses)),
      listener_(uses_.loop),
      accept_again_(uses_.loop),
      streams_(std::clamp(std::thread::hardware_concurrency(), 1U, kMostStreamThreads)),
      buffer_(kBufferBytes) {
    const auto pid = static_cast<uint32_t>(getpid());
    const auto folder = proc_.open(pid);
    const auto identity = folder ? proc_.identify(pid, *folder) : std::nullopt;
    own_start_time_ = identity ? identity->start_time : 0;
}

ClassicWire::~ClassicWire() = default;

base::Expected<void> ClassicWire::listen(const std::string& path) {
    auto taken = ClassicSocket::take(path);
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
        while (connections_.size() < kMostConnections) {
            base::Descriptor socket(accept4(socket_.descriptor().get(), nullptr, nullptr, SOCK_CLOEXEC));
            if (socket) {
                arrive(std::move(socket));
            } else if (errno == EAGAIN) {
                return accept();
            } else if (errno != EINTR && errno != ECONNABORTED) {
                break;
            }
        }
        // No descriptors left, or too many connections: the others wait in the queue, and what they send with them.
        accept_later();
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

void ClassicWire::arrive(base::Descriptor socket) {
    ucred credentials{};
    socklen_t length = sizeof credentials;
    uint64_t start_time = 0;
    if (getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &credentials, &length) == 0 &&
        credentials.pid > 0) {
        const auto pid = static_cast<uint32_t>(credentials.pid);
        const auto folder = proc_.open(pid);
        const auto identity = folder ? proc_.identify(pid, *folder) : std::nullopt;
        start_time = identity ? identity->start_time : 0;
    }
    const uint64_t number = ++last_connection_;
    const auto connection = std::make_shared<Connection>(*this, number, std::move(socket), start_time);
    connections_.emplace(number, connection);
    connection->wait_for_bytes();
}

// The process at the other end, when it first says that it holds something: who only asks is nobody's business.
std::shared_ptr<ClassicWire::Client> ClassicWire::client_of(const base::Descriptor& socket,
                                                            uint64_t start_time) {
    auto peer = segments::peer_of(socket);
    if (!peer) {
        return nullptr;
    }
    if (const auto known = clients_.find({peer->pid, start_time}); known != clients_.end()) {
        return known->second;
    }
    const auto folder = proc_.open(peer->pid);
    auto identity = folder ? proc_.identify(peer->pid, *folder) : std::nullopt;
    // In this order: what was read under that number is then of the process of the handle, and of the one that connected.
    if (!identity || base::has_ended(peer->handle) || identity->start_time != start_time) {
        return nullptr;
    }
    auto made = LedgerWriter::make(identity->inner_pid, identity->start_time);
    if (!made) {
        refuse(peer->pid, made.error().text);
        return nullptr;
    }
    census::Process process(std::move(*identity), census::State::live, std::move(made->reader));
    process.source = census::Source::classic;
    // Of the same clock tick it may be either: then what is not known is said to be unknown.
    process.is_older_than_ledger = start_time <= own_start_time_;
    const auto number = uses_.admit({made->file, std::move(peer->handle), std::move(process)});
    if (!number) {
        refuse(peer->pid, "too many tracked processes: what it reports on the classic wire is not counted");
        return nullptr;
    }
    auto client = std::make_shared<Client>();
    client->pid = peer->pid;
    client->number = *number;
    client->ledger = std::move(made->writer);
    clients_.emplace(ProcessKey{peer->pid, start_time}, client);
    return client;
}

void ClassicWire::refuse(uint32_t pid, const std::string& why) {
    uses_.log.note("! [PID " + std::to_string(pid) + "] " + why);
}

void ClassicWire::note_unknown_free(Client& client, const sources::classic_wire::Request& request) {
    const uint64_t number = ++client.unknown_frees;
    if (number > kFreesTold && number % kFreesTogether != 0) {
        return;
    }
    std::string line = "! [PID " + std::to_string(client.pid) + "] Deallocation for unknown buffer " +
                       std::to_string(request.buffer) + " on device " + std::to_string(request.device);
    if (number > kFreesTold) {
        line += " (" + std::to_string(number) + " by now)";
    }
    uses_.log.note(line);
}

void ClassicWire::ended(uint32_t number) {
    const auto client = std::find_if(clients_.begin(), clients_.end(),
                                     [&](const auto& entry) { return entry.second->number == number; });
    if (client == clients_.end()) {
        return;
    }
    std::vector<std::shared_ptr<Connection>> its;
    for (const auto& [_, connection] : connections_) {
        if (connection->client() == client->second.get()) {
            its.push_back(connection);
        }
    }
    for (const auto& connection : its) {
        connection->read_the_rest(buffer_);
    }
    {
        const std::lock_guard lock(client->second->mutex);  // a child may go on with a connection
        client->second->ledger.reset();
    }
    clients_.erase(client);
}

ClassicWire::Streams& ClassicWire::streams_of(uint64_t connection) {
    std::unique_ptr<Streams>& streams = streams_[connection % streams_.size()];
    if (!streams) {
        streams = std::make_unique<Streams>(uses_.loop);
    }
    return *streams;
}

void ClassicWire::dump(Dump what) {
    const auto index = static_cast<size_t>(what);
    if (is_dumping_[index]) {
        dump_again_[index] = true;  // however often it was asked for meanwhile
        return;
    }
    start_dump(what);
}

void ClassicWire::start_dump(Dump what) {
    const auto index = static_cast<size_t>(what);
    is_dumping_[index] = true;
    dump_again_[index] = false;
    asio::post(uses_.worker, [this, what, index, census = uses_.roster.census()] {
        for (std::string& line : what == Dump::buffers ? dump_buffers(census) : dump_kernels(census)) {
            uses_.output.line(std::move(line));
        }
        asio::post(uses_.loop, [this, what, index] {
            is_dumping_[index] = false;
            if (dump_again_[index] && !stopping_) {
                start_dump(what);
            }
        });
    });
}

void ClassicWire::stop() {
    stopping_ = true;
    if (listener_.is_open()) {
        listener_.release();  // socket_ closes it
    }
    accept_again_.cancel();
    streams_.clear();
    while (!connections_.empty()) {
        const auto connection = connections_.begin()->second;
        connection->close();
    }
    clients_.clear();
    socket_ = ClassicSocket();
}

}  // namespace ttmem::daemon
