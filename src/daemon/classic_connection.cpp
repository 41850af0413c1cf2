// SPDX-License-Identifier: Apache-2.0
#include "daemon/classic_connection.hpp"

#include <sys/socket.h>

#include <cerrno>

namespace ttmem::daemon {

namespace asio = boost::asio;
using boost::system::error_code;
using sources::classic_wire::Bytes;
using sources::classic_wire::LedgerWriter;
using sources::classic_wire::Type;

namespace {

constexpr size_t kMostATurn = size_t{256} << 10;    // then the others have theirs
constexpr size_t kMostAnswers = size_t{256} << 10;  // bytes, beyond what the socket itself holds

// A client that sends without a pause wakes the reader for each message, which costs both more than the message. So after some
// such wakes it is looked at by the clock instead, as long as that brings several messages at a time. One of many senders has to
// wait for its turn on a core, so a pause as long as those ends nothing.
constexpr uint64_t kSoonNs = 200'000;
constexpr unsigned kQuickWakes = 8;
constexpr size_t kWorthATurn = 8 * sources::classic_wire::kLongest;
constexpr uint64_t kPauseNs = 50'000'000;

uint64_t monotonic_now() { return segment::Clock::now(segment::ClockKind::monotonic_ns).monotonic_ns; }

}  // namespace

ClassicWire::Connection::Connection(ClassicWire& in, uint64_t number, base::Descriptor socket,
                                    uint64_t start_time)
    : in_(in),
      number_(number),
      start_time_(start_time),
      socket_(std::move(socket)),
      waiting_(in.uses_.loop, socket_.get()) {}

ClassicWire::Connection::~Connection() {
    if (waiting_.is_open()) {
        waiting_.release();  // socket_ closes it
    }
}

void ClassicWire::Connection::close() {
    if (waiting_.is_open()) {
        waiting_.release();
    }
    socket_ = base::Descriptor();
    in_.connections_.erase(number_);
}

void ClassicWire::Connection::wait_for_bytes() {
    const auto woken = [self = shared_from_this()](error_code error) {
        if (error || !self->socket_) {
            return;
        }
        self->read(kMostATurn);
        if (!self->socket_ || self->has_ended_) {
            return;
        }
        if (self->is_streaming()) {
            self->in_.look_by_the_clock(self);
        } else {
            self->wait_for_bytes();
        }
    };
    waiting_.async_wait(asio::posix::stream_descriptor::wait_read, woken);
}

bool ClassicWire::Connection::is_streaming() {
    const bool is_soon = now_ns_ - last_wake_ns_ < kSoonNs && !was_asked_;
    quick_wakes_ = is_soon ? quick_wakes_ + 1 : 0;
    last_wake_ns_ = now_ns_;
    return quick_wakes_ >= kQuickWakes;
}

std::optional<size_t> ClassicWire::Connection::read_in_passing() {
    const size_t taken = socket_ ? read(kMostATurn) : 0;
    if (!socket_ || has_ended_) {
        return std::nullopt;
    }
    if (taken >= kWorthATurn) {
        last_wake_ns_ = now_ns_;
    }
    if (now_ns_ - last_wake_ns_ < kPauseNs && !was_asked_) {
        return taken;
    }
    quick_wakes_ = 0;
    wait_for_bytes();
    return std::nullopt;
}

size_t ClassicWire::Connection::read(size_t most_bytes) {
    const auto self = shared_from_this();  // close() takes it out of the table
    std::vector<unsigned char>& buffer = in_.buffer_;
    size_t taken = 0;
    now_ns_ = monotonic_now();
    was_asked_ = false;
    while (taken < most_bytes && !has_ended_) {
        const ssize_t got = recv(socket_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
        if (got > 0) {
            decoder_.feed(Bytes(buffer).first(static_cast<size_t>(got)), *this);
            taken += static_cast<size_t>(got);
            if (decoder_.is_broken()) {
                close();
                return taken;
            }
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
    flush();
    if (has_ended_ && answers_.empty()) {
        close();
    }
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
            return in_.dump(Dump::buffers);
        case Type::dump_kernels:
            return in_.dump(Dump::kernels);
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
    waits_for_room_ = true;
    waiting_.async_wait(asio::posix::stream_descriptor::wait_write,
                        [self = shared_from_this()](error_code error) {
                            self->waits_for_room_ = false;
                            if (error || !self->socket_) {
                                return;
                            }
                            self->flush();
                            if (self->has_ended_ && self->answers_.empty()) {
                                self->close();
                            }
                        });
}

}  // namespace ttmem::daemon
