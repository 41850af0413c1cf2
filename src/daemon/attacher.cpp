// SPDX-License-Identifier: Apache-2.0
#include "daemon/attacher.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <boost/asio/post.hpp>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "sources/segments/announcement.hpp"
#include "sources/segments/discover.hpp"

namespace ttmem::daemon {

namespace asio = boost::asio;
namespace segments = sources::segments;
using base::Error;
using boost::system::error_code;
using history::Follower;

namespace {

constexpr auto kLookEvery = std::chrono::milliseconds(1500);
constexpr auto kTimeToSpeak = std::chrono::seconds(2);  // from connecting to handing over
constexpr auto kAcceptAgain = std::chrono::milliseconds(100);
constexpr size_t kMostArriving = 64;
constexpr int kBacklog = 128;

}  // namespace

// One connection, until it has brought its segment or its time is up.
class Attacher::Arrival : public std::enable_shared_from_this<Arrival> {
public:
    Arrival(Attacher& in, base::Descriptor connection)
        : in_(in),
          arriving_(in.arriving_),
          connection_(std::move(connection)),
          waiting_(in.loop_),
          deadline_(in.loop_) {
        ++*arriving_;
    }
    ~Arrival() {
        if (waiting_.is_open()) {
            waiting_.release();  // connection_ closes it
        }
        --*arriving_;
    }
    Arrival(const Arrival&) = delete;
    Arrival& operator=(const Arrival&) = delete;

    void begin() {
        peer_ = segments::peer_of(connection_);
        if (!peer_) {
            return;
        }
        waiting_.assign(connection_.get());
        deadline_.expires_after(kTimeToSpeak);
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
                                if (!error && !self->in_.stopping_) {
                                    self->take();
                                }
                            });
    }

    void take() {
        auto file = segments::receive_segment(connection_);
        if (!file && file.error().code == Error::Code::unfinished) {
            return wait();
        }
        if (!file) {
            return refuse(file.error());
        }
        auto attached = segments::attach(in_.proc_, peer_->pid, std::move(peer_->handle), std::move(*file));
        if (!attached) {
            return refuse(attached.error());
        }
        in_.admit(std::move(*attached), Follower::From::beginning);
    }

    void refuse(const Error& error) const {
        if (error.code != Error::Code::gone) {
            in_.told_.refused(peer_->pid, error.text);
        }
    }

    Attacher& in_;
    std::shared_ptr<size_t> arriving_;
    base::Descriptor connection_;
    asio::posix::stream_descriptor waiting_;
    asio::steady_timer deadline_;
    base::Expected<segments::Peer> peer_;
};

Attacher::Attacher(asio::io_context& loop, asio::any_io_executor worker, Roster& roster, Told told)
    : loop_(loop),
      worker_(std::move(worker)),
      roster_(roster),
      told_(std::move(told)),
      listener_(loop),
      accept_again_(loop),
      look_again_(loop) {}

base::Expected<void> Attacher::listen(const std::filesystem::path& path) {
    const auto failed = [&](const char* what) {
        return base::error(Error::Code::failed,
                           std::string("can't ") + what + " " + path.string() + ": " + std::strerror(errno));
    };
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.string().size() >= sizeof address.sun_path) {
        return base::error(Error::Code::refused,
                           "the path of the runtime directory is too long for a socket: " + path.string());
    }
    std::memcpy(address.sun_path, path.c_str(), path.string().size());
    base::Descriptor listener(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!listener) {
        return failed("make the socket");
    }
    unlink(path.c_str());  // a dead daemon's: this one has the lock
    if (bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
        return failed("bind");
    }
    if (chmod(path.c_str(), 0666) != 0 || ::listen(listener.get(), kBacklog) != 0) {
        return failed("listen on");
    }
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
        while (*arriving_ < kMostArriving) {
            base::Descriptor connection(accept4(listener_.native_handle(), nullptr, nullptr, SOCK_CLOEXEC));
            if (!connection && (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED)) {
                return accept();
            }
            if (!connection) {
                break;
            }
            arrive(std::move(connection));
        }
        // No descriptors left, or too many that don't speak: the others wait in the queue, and /proc tells of them too.
        accept_again_.expires_after(kAcceptAgain);
        accept_again_.async_wait([this](error_code cancelled) {
            if (!cancelled) {
                accept();
            }
        });
    });
}

void Attacher::arrive(base::Descriptor connection) {
    std::make_shared<Arrival>(*this, std::move(connection))->begin();
}

std::optional<uint32_t> Attacher::admit(segments::Attached attached, Follower::From from) {
    const auto number = roster_.add(attached.process, attached.file);
    if (!number) {
        return std::nullopt;
    }
    told_.attached({*number, attached.process, attached.file}, from);
    watch(*number, std::move(attached.handle));
    return number;
}

void Attacher::watch(uint32_t number, base::Descriptor handle) {
    const auto place =
        handles_.emplace(number, asio::posix::stream_descriptor(loop_, handle.release())).first;
    place->second.async_wait(asio::posix::stream_descriptor::wait_read, [this, number](error_code error) {
        if (error || stopping_) {
            return;
        }
        handles_.erase(number);
        if (const auto member = roster_.remove(number)) {
            ended_meanwhile_.insert(member->file);
            told_.died(*member);
        }
    });
}

void Attacher::start() { look_under_proc(); }

// A process that was found and has ended by the time the findings come must not be attached again, to die twice.
void Attacher::look_under_proc() {
    ended_meanwhile_.clear();
    asio::post(worker_, [this, known = roster_.known_files()] {
        auto found = std::make_shared<segments::Found>(segments::discover(proc_, known));
        asio::post(loop_, [this, found] {
            if (stopping_) {
                return;
            }
            roster_.set_skipped(std::move(found->skipped));
            for (segments::Attached& attached : found->attached) {
                if (!ended_meanwhile_.contains(attached.file)) {
                    admit(std::move(attached), Follower::From::present);
                }
            }
            look_again_.expires_after(kLookEvery);
            look_again_.async_wait([this](error_code error) {
                if (!error) {
                    look_under_proc();
                }
            });
        });
    });
}

void Attacher::stop() {
    stopping_ = true;
    error_code ignored;
    listener_.close(ignored);
    accept_again_.cancel();
    look_again_.cancel();
    handles_.clear();
    if (!path_.empty()) {
        unlink(path_.c_str());
    }
}

}  // namespace ttmem::daemon
