// SPDX-License-Identifier: Apache-2.0
#include "daemon/classic_connection.hpp"

#include <sys/socket.h>

#include <boost/asio/post.hpp>
#include <cerrno>

#include "daemon/classic_streams.hpp"

namespace ttmem::daemon {

namespace asio = boost::asio;
using boost::system::error_code;
using sources::classic_wire::Bytes;
using sources::classic_wire::LedgerWriter;
using sources::classic_wire::Type;

namespace {

constexpr size_t kMostATurn = size_t{256} << 10;    // then the others have theirs
constexpr size_t kLastTurn = size_t{8} << 20;       // more than a socket holds
constexpr size_t kMostAnswers = size_t{256} << 10;  // bytes, beyond what the socket itself holds

// A client that sends without a pause wakes the reader for each message, which costs both more than the message. So after some
// such wakes it is looked at by the clock instead, as long as that brings several messages at a time; the loop does not watch it
// meanwhile, since to be watched costs a sender something with each message too. One of many senders has to wait for its turn on a
// core, so a pause as long as those ends nothing.
constexpr uint64_t kSoonNs = 200'000;
constexpr unsigned kQuickWakes = 8;
constexpr size_t kWorthATurn = 8 * sources::classic_wire::kLongest;
constexpr uint64_t kPauseNs = 50'000'000;

}  // namespace

ClassicWire::Connection::Connection(ClassicWire& in, uint64_t number, base::Descriptor socket,
                                    uint64_t start_time)
    : in_(in),
      number_(number),
      start_time_(start_time),
      socket_(std::move(socket)),
      watched_(in.uses_.loop) {}

ClassicWire::Connection::~Connection() { unwatch(); }

// False where the kernel has no room to watch it.
bool ClassicWire::Connection::watch() {
    error_code error;
    if (!watched_.is_open()) {
        watched_.assign(socket_.get(), error);
    }
    return !error;
}

void ClassicWire::Connection::unwatch() {
    if (watched_.is_open()) {
        watched_.release();  // socket_ closes it
    }
}

void ClassicWire::Connection::close() {
    unwatch();
    socket_ = base::Descriptor();
    in_.connections_.erase(number_);
}

void ClassicWire::Connection::wait_for_bytes() {
    if (!watch()) {
        in_.uses_.log.note("! a connection of the classic wire is closed: the kernel can't watch any more");
        return close();
    }
    watched_.async_wait(asio::posix::stream_descriptor::wait_read,
                        [self = shared_from_this()](error_code error) {
                            if (error || !self->socket_) {
                                return;
                            }
                            const std::lock_guard turn(self->turn_);
                            const size_t taken = self->read(self->in_.buffer_, kMostATurn);
                            if (self->is_over()) {
                                self->close();
                            } else if (self->is_streaming(taken)) {
                                self->unwatch();
                                self->is_stream_ = true;
                                self->in_.streams_of(self->number_).add(self);
                            } else if (!self->has_ended_) {
                                self->wait_for_bytes();
                            }
                        });
}

// One of many may be long in coming to its turn, and then brings much.
bool ClassicWire::Connection::is_streaming(size_t taken) {
    const uint64_t soon = taken >= kWorthATurn ? kPauseNs : kSoonNs;
    const bool is_quick = now_ns_ - last_wake_ns_ < soon && !was_asked_ && !has_ended_;
    quick_wakes_ = is_quick ? quick_wakes_ + 1 : 0;
    last_wake_ns_ = now_ns_;
    return quick_wakes_ >= kQuickWakes && !waits_for_room_ && (client_ != nullptr || is_refused_);
}

std::optional<size_t> ClassicWire::Connection::read_in_passing(Buffer& buffer) {
    const std::lock_guard turn(turn_);
    const size_t taken = has_ended_ ? 0 : read(buffer, kMostATurn);
    if (taken >= kWorthATurn) {
        last_wake_ns_ = now_ns_;
    }
    const bool goes_on = now_ns_ - last_wake_ns_ < kPauseNs && !was_asked_ && !has_ended_ && !is_broken_;
    return goes_on ? std::optional(taken) : std::nullopt;
}

void ClassicWire::Connection::come_back() {
    const std::lock_guard turn(turn_);
    is_stream_ = false;
    quick_wakes_ = 0;
    flush();
    if (is_over()) {
        close();
    } else if (!has_ended_) {
        wait_for_bytes();
    }
}

void ClassicWire::Connection::read_the_rest(Buffer& buffer) {
    const std::lock_guard turn(turn_);
    if (!has_ended_ && !is_broken_) {
        read(buffer, kLastTurn);
    }
    if (is_over() && !is_stream_) {
        close();
    }
}

// Takes in what is there, until the queue is empty or the turn is over; how many bytes that was.
size_t ClassicWire::Connection::read(Buffer& buffer, size_t most_bytes) {
    size_t taken = 0;
    now_ns_ = segment::monotonic_now();
    was_asked_ = false;
    while (taken < most_bytes && !has_ended_ && !is_broken_) {
        const ssize_t got = recv(socket_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
        if (got > 0) {
            decoder_.feed(Bytes(buffer).first(static_cast<size_t>(got)), *this);
            taken += static_cast<size_t>(got);
            is_broken_ = decoder_.is_broken();
            // Less than there was room for: most likely all. Only who must know asks again.
            if (static_cast<size_t>(got) < buffer.size() && !decoder_.wants_drained()) {
                break;
            }
        } else if (got < 0 && errno == EAGAIN) {
            decoder_.drained(*this);
            break;
        } else if (got == 0 || errno != EINTR) {
            decoder_.ended(*this);
            has_ended_ = true;
        }
    }
    answers_now_.reset();
    writing_ = {};
    flush();
    return taken;
}

void ClassicWire::Connection::message(const Request& request, Generation generation) {
    last_answer_.reset();
    switch (static_cast<Type>(request.type)) {
        case Type::allocate:
        case Type::free:
        case Type::cb_allocate:
        case Type::cb_free:
        case Type::kernel_load:
        case Type::kernel_unload:
            return change(request);
        case Type::query:
            return answer(answers_now().query(request), generation);
        case Type::device_info_query:
            return answer(answers_now().device_info(request), generation);
        case Type::dump_remaining:
            return asio::post(in_.uses_.loop, [&in = in_] { in.dump(Dump::buffers); });
        case Type::dump_kernels:
            return asio::post(in_.uses_.loop, [&in = in_] { in.dump(Dump::kernels); });
        case Type::response:
        case Type::device_info_response:
            return;
    }
}

ClassicAnswers& ClassicWire::Connection::answers_now() {
    if (!answers_now_) {
        answers_now_.emplace(in_.uses_.roster.census());
    }
    return *answers_now_;
}

void ClassicWire::Connection::change(const Request& request) {
    answers_now_.reset();
    if (!client_ && !is_refused_) {
        client_ = in_.client_of(socket_, start_time_);
        is_refused_ = client_ == nullptr;
    }
    if (client_ && !writing_.owns_lock()) {
        writing_ = std::unique_lock(client_->mutex);
    }
    if (!client_ || !client_->ledger) {
        return;  // its process has ended, or can't be told: a child that goes on with its connection is not it
    }
    if (client_->ledger->apply(request, now_ns_) == LedgerWriter::Outcome::unknown_free) {
        in_.note_unknown_free(*client_, request);
    }
}

void ClassicWire::Connection::answer(const sources::classic_wire::Answer& answer, Generation generation) {
    was_asked_ = true;
    last_answer_ = answer;
    const auto bytes = encode(answer, generation);
    answers_.append(reinterpret_cast<const char*>(bytes.data()), size_of(generation));
    if (answers_.size() > kMostAnswers) {
        flush();
    }
}

// The question was longer than thought, and so is what the client waits for.
void ClassicWire::Connection::revised(Generation from, Generation to) {
    if (last_answer_) {
        const auto bytes = encode(*last_answer_, to);
        answers_.append(reinterpret_cast<const char*>(bytes.data()) + size_of(from),
                        size_of(to) - size_of(from));
    }
}

void ClassicWire::Connection::flush() {
    if (!is_answered_) {
        answers_.clear();
    }
    while (!answers_.empty() && !waits_for_room_) {
        const ssize_t sent =
            send(socket_.get(), answers_.data(), answers_.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent > 0) {
            answers_.erase(0, static_cast<size_t>(sent));
        } else if (errno == EAGAIN && is_stream_) {
            break;  // who asked comes back to the loop, and waits there
        } else if (errno == EAGAIN) {
            wait_for_room();
        } else if (errno != EINTR) {
            return stop_answering();  // it is gone; what it sent before is still to be read
        }
    }
    if (answers_.size() > kMostAnswers) {
        stop_answering();
    }
}

// It sees the end of its answers, and can go on to send: to close the connection might end a traced application.
void ClassicWire::Connection::stop_answering() {
    shutdown(socket_.get(), SHUT_WR);
    is_answered_ = false;
    answers_.clear();
}

void ClassicWire::Connection::wait_for_room() {
    if (!watch()) {
        return stop_answering();
    }
    waits_for_room_ = true;
    watched_.async_wait(asio::posix::stream_descriptor::wait_write,
                        [self = shared_from_this()](error_code error) {
                            const std::lock_guard turn(self->turn_);
                            self->waits_for_room_ = false;
                            if (error || !self->socket_) {
                                return;
                            }
                            self->flush();
                            if (self->is_over()) {
                                self->close();
                            }
                        });
}

}  // namespace ttmem::daemon
