// SPDX-License-Identifier: Apache-2.0
#include "daemon/classic/connection.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <cassert>
#include <cerrno>
#include <exception>

#include "daemon/classic/polled_connections.hpp"

namespace ttmem::daemon {

namespace asio = boost::asio;
using boost::system::error_code;
using sources::classic_wire::Bytes;
using sources::classic_wire::LedgerWriter;
using sources::classic_wire::MessageType;

namespace {

constexpr size_t kMaxLoopRead = size_t{16}
                                << 10;  // then other connections are served: a question waits behind few
constexpr size_t kMaxPolledRead = size_t{256} << 10;     // on a thread without questions
constexpr size_t kMaxLastRead = size_t{8} << 20;         // more than a socket holds
constexpr size_t kMaxUnsentAnswers = size_t{256} << 10;  // beyond what the socket itself holds
constexpr size_t kMaxLastQuestions = 1024;               // of a process that has ended

// A client that sends continuously wakes the reader for each message, which costs both more than the message, and delays the
// questions of others. After some bytes without a pause the connection is therefore polled by a timer, as long as each poll brings
// several messages. The loop does not watch it
// meanwhile, because a watched socket costs the sender time for each message too. With many senders each must wait for a core, so
// a pause of that length does not end polling.
constexpr uint64_t kQuickNs = 200'000;
constexpr size_t kStreamBytes = size_t{4} << 10;
constexpr size_t kManyBytes = 8 * sources::classic_wire::kLongest;
constexpr uint64_t kPauseNs = 50'000'000;

bool is_question(uint8_t type) {
    return type == static_cast<uint8_t>(MessageType::query) ||
           type == static_cast<uint8_t>(MessageType::device_info_query);
}

}  // namespace

ClassicWire::ClientConnection::ClientConnection(ClassicWire& in, uint64_t number, ConnectionShare share,
                                                base::Descriptor socket, uint64_t start_time)
    : in_(in),
      number_(number),
      start_time_(start_time),
      share_(std::move(share)),
      socket_(std::move(socket)),
      watched_(in.dependencies_.loop) {}

ClassicWire::ClientConnection::~ClientConnection() { unwatch(); }

// False if the kernel cannot watch another descriptor.
bool ClassicWire::ClientConnection::watch() {
    error_code error;
    if (!watched_.is_open()) {
        watched_.assign(socket_.get(), error);
    }
    return !error;
}

void ClassicWire::ClientConnection::unwatch() {
    if (watched_.is_open()) {
        watched_.release();  // socket_ closes it
    }
}

void ClassicWire::ClientConnection::close() {
    unwatch();
    socket_ = base::Descriptor();
    share_.give_back();
    in_.closed(*this);
}

void ClassicWire::ClientConnection::wait_for_bytes() {
    assert(!is_polled_);
    if (waits_for_bytes_) {
        return;
    }
    if (!watch()) {
        in_.dependencies_.refusals.write(
            user(),
            "! a connection of the classic wire was closed: the kernel cannot watch more descriptors");
        return close();
    }
    waits_for_bytes_ = true;
    watched_.async_wait(asio::posix::stream_descriptor::wait_read,
                        [self = shared_from_this()](error_code error) {
                            const std::lock_guard lock(self->mutex_);
                            self->waits_for_bytes_ = false;
                            if (!error && self->socket_) {
                                self->read_on_loop();
                            }
                        });
}

void ClassicWire::ClientConnection::read_on_loop() {
    const size_t taken = read(in_.buffer_, kMaxLoopRead);
    if (waiting_.empty() && !is_over() && should_poll(taken)) {
        unwatch();
        is_polled_ = true;
        return in_.polled_connections_of(number_).add(shared_from_this());
    }
    go_on();
}

void ClassicWire::ClientConnection::go_on() {
    assert(!is_polled_);
    if (!waiting_.empty()) {
        ask_worker();
    } else if (is_over()) {
        close();
    } else if (!has_ended_) {
        wait_for_bytes();
    }
}

// One of many senders may wait long for a core, and then sends much at once.
bool ClassicWire::ClientConnection::should_poll(size_t taken) {
    const uint64_t soon = taken >= kManyBytes ? kPauseNs : kQuickNs;
    const bool is_quick = now_ns_ - last_wake_ns_ < soon;
    streamed_bytes_ = was_asked_ || has_ended_ ? 0 : taken + (is_quick ? streamed_bytes_ : 0);
    last_wake_ns_ = now_ns_;
    return streamed_bytes_ >= kStreamBytes && !waits_for_room_ && (client_ != nullptr || is_refused_);
}

std::optional<size_t> ClassicWire::ClientConnection::poll(Buffer& buffer) {
    const std::lock_guard lock(mutex_);
    assert(is_polled_ && socket_);
    const size_t taken = has_ended_ ? 0 : read(buffer, kMaxPolledRead);
    if (taken >= kManyBytes) {
        last_wake_ns_ = now_ns_;
    }
    const bool goes_on =
        now_ns_ - last_wake_ns_ < kPauseNs && !was_asked_ && waiting_.empty() && !has_ended_ && !is_broken_;
    return goes_on ? std::optional(taken) : std::nullopt;
}

void ClassicWire::ClientConnection::return_to_loop() {
    const std::lock_guard lock(mutex_);
    assert(is_polled_);
    is_polled_ = false;
    streamed_bytes_ = 0;
    flush();
    go_on();
}

// The ledger is about to be closed, so changes do not wait for the answers before them. Those answers are for a child process that
// has the connection too, if there is one.
void ClassicWire::ClientConnection::drain(Buffer& buffer) {
    const std::lock_guard lock(mutex_);
    is_draining_ = true;
    std::vector<WaitingMessage> waiting;
    waiting.swap(waiting_);
    for (const WaitingMessage& message : waiting) {
        if (is_question(message.request.type)) {
            waiting_.push_back(message);
        } else {
            handle(message.request, message.generation);
        }
    }
    is_last_waiting_ = is_last_waiting_ && is_question(waiting.back().request.type);
    finish_batch();
    if (!has_ended_ && !is_broken_) {
        read(buffer, kMaxLastRead);
    }
    is_draining_ = false;
    if (!is_polled_ && (is_over() || !waiting_.empty())) {
        go_on();
    }
}

// Reads until the queue is empty, `max_bytes` are reached or a message must wait. Returns the number of bytes.
size_t ClassicWire::ClientConnection::read(Buffer& buffer, size_t max_bytes) {
    assert(!buffer.empty() && !answers_ && !ledger_lock_.owns_lock());
    size_t taken = 0;
    now_ns_ = segment::monotonic_now();
    was_asked_ = false;
    const auto can_go_on = [&] {
        return decoder_.wants_drained() || (taken < max_bytes && (waiting_.empty() || is_draining_));
    };
    while (!has_ended_ && !is_broken_ && can_go_on()) {
        const size_t room = taken < max_bytes ? max_bytes - taken : sources::classic_wire::kLongest;
        const size_t most = std::min(buffer.size(), room);
        const ssize_t got = recv(socket_.get(), buffer.data(), most, MSG_DONTWAIT);
        if (got > 0) {
            decoder_.feed(Bytes(buffer).first(static_cast<size_t>(got)), *this);
            taken += static_cast<size_t>(got);
            is_broken_ = decoder_.is_broken();
            // A short read has most likely emptied the queue. Only a decoder that must know reads again.
            if (static_cast<size_t>(got) < most && !decoder_.wants_drained()) {
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
    finish_batch();
    return taken;
}

void ClassicWire::ClientConnection::finish_batch() {
    answers_.reset();
    ledger_lock_ = {};
    flush();
}

void ClassicWire::ClientConnection::message(const WireRequest& request, Generation generation) {
    const bool is_behind = !waiting_.empty() && (!is_draining_ || is_question(request.type));
    is_last_waiting_ = is_behind || !handle(request, generation);
    if (is_last_waiting_) {
        keep(request, generation);
    }
}

void ClassicWire::ClientConnection::keep(const WireRequest& request, Generation generation) {
    was_asked_ = true;
    waiting_.push_back({request, generation});
    if (is_draining_ && waiting_.size() > kMaxLastQuestions) {
        stop_answering();
        waiting_.clear();
        is_last_waiting_ = false;
    }
}

// False: a question that a worker must answer first.
bool ClassicWire::ClientConnection::handle(const WireRequest& request, Generation generation) {
    last_answer_.reset();
    switch (static_cast<MessageType>(request.type)) {
        case MessageType::allocate:
        case MessageType::free:
        case MessageType::cb_allocate:
        case MessageType::cb_free:
        case MessageType::kernel_load:
        case MessageType::kernel_unload:
            change(request);
            return true;
        case MessageType::query:
        case MessageType::device_info_query:
            return answer_question(request, generation);
        case MessageType::dump_remaining:
            asio::post(in_.dependencies_.loop, [&in = in_, user = user()] { in.dump(Dump::buffers, user); });
            return true;
        case MessageType::dump_kernels:
            asio::post(in_.dependencies_.loop, [&in = in_, user = user()] { in.dump(Dump::kernels, user); });
            return true;
        case MessageType::response:
        case MessageType::device_info_response:
            return true;
    }
    return true;
}

bool ClassicWire::ClientConnection::answer_question(const WireRequest& request, Generation generation) {
    was_asked_ = true;
    if (!is_answered_) {
        return true;
    }
    const auto question = static_cast<MessageType>(request.type);
    const bool is_prepared = answers_ && answers_->is_prepared(question);
    if (!is_prepared && !prepare_here(question)) {
        return false;
    }
    answer(answers_->answer(request), generation);
    return true;
}

// Other users' processes decide how long a computation takes, so this thread does only small ones, and not too many.
bool ClassicWire::ClientConnection::prepare_here(MessageType question) {
    const uint64_t begin_ns = segment::monotonic_now();
    const ProcessTable& process_table = in_.dependencies_.process_table;
    if (!in_.question_time_.has_room(begin_ns) || process_table.size() > ClassicAnswers::kQuickProcesses) {
        return false;
    }
    if (!answers_) {
        answers_ = std::make_shared<ClassicAnswers>(process_table.census());
    }
    const bool is_quick = answers_->prepare_quickly(question);
    if (!is_quick) {
        answers_.reset();  // of this moment; the worker takes a later one
    }
    in_.question_time_.spend(segment::monotonic_now() - begin_ns);
    return is_quick;
}

void ClassicWire::ClientConnection::ask_worker() {
    assert(!waiting_.empty() && is_question(waiting_.front().request.type) && !is_polled_);
    if (is_asking_) {
        return;
    }
    is_asking_ = true;
    const auto question = static_cast<MessageType>(waiting_.front().request.type);
    in_.dependencies_.workers.post(
        user(), [self = shared_from_this(), question] { self->prepare_on_worker(question); });
}

void ClassicWire::ClientConnection::prepare_on_worker(MessageType question) {
    std::shared_ptr<ClassicAnswers> answers;
    try {
        answers = std::make_shared<ClassicAnswers>(in_.dependencies_.process_table.census());
        answers->prepare(question);
    } catch (const std::exception&) {
        answers.reset();  // no memory: this client gets no more answers
    }
    asio::post(in_.dependencies_.loop, [self = shared_from_this(), answers = std::move(answers)]() mutable {
        self->take_answers(std::move(answers));
    });
}

// On the loop.
void ClassicWire::ClientConnection::take_answers(std::shared_ptr<ClassicAnswers> answers) {
    const std::lock_guard lock(mutex_);
    assert(is_asking_);
    is_asking_ = false;
    if (!socket_ || is_polled_) {
        return;  // what waits then is asked again when the connection returns to the loop
    }
    if (!answers) {
        stop_answering();
    }
    now_ns_ = segment::monotonic_now();
    answers_ = std::move(answers);
    handle_waiting();
    finish_batch();
    go_on();
}

void ClassicWire::ClientConnection::handle_waiting() {
    size_t handled = 0;
    while (handled < waiting_.size() && handle(waiting_[handled].request, waiting_[handled].generation)) {
        ++handled;
    }
    if (handled == waiting_.size()) {
        waiting_ = {};
        is_last_waiting_ = false;
    } else {
        waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(handled));
    }
}

void ClassicWire::ClientConnection::change(const WireRequest& request) {
    answers_.reset();
    if (!client_ && !is_refused_) {
        assert(!is_polled_);  // the loop owns the table of clients
        client_ = in_.client_of(*this, socket_, start_time_);
        is_refused_ = client_ == nullptr;
    }
    if (client_ && !ledger_lock_.owns_lock()) {
        ledger_lock_ = std::unique_lock(client_->mutex);
    }
    if (!client_ || !client_->ledger) {
        return;  // its process has ended or is unknown: a child that inherits the connection does not count
    }
    if (client_->ledger->apply(request, now_ns_) == LedgerWriter::Outcome::unknown_free) {
        in_.note_unknown_free(*client_, request);
    }
}

void ClassicWire::ClientConnection::answer(const sources::classic_wire::WireAnswer& answer,
                                           Generation generation) {
    was_asked_ = true;
    last_answer_ = answer;
    const auto bytes = encode(answer, generation);
    unsent_answers_.append(reinterpret_cast<const char*>(bytes.data()), size_of(generation));
    if (unsent_answers_.size() > kMaxUnsentAnswers) {
        flush();
    }
}

// The query was longer than assumed, so the client expects a longer answer.
void ClassicWire::ClientConnection::revised(Generation from, Generation to) {
    assert(size_of(from) < size_of(to));
    if (is_last_waiting_) {
        waiting_.back().generation = to;
    } else if (last_answer_) {
        const auto bytes = encode(*last_answer_, to);
        unsent_answers_.append(reinterpret_cast<const char*>(bytes.data()) + size_of(from),
                               size_of(to) - size_of(from));
    }
}

void ClassicWire::ClientConnection::flush() {
    if (!is_answered_) {
        unsent_answers_.clear();
    }
    while (!unsent_answers_.empty() && !waits_for_room_) {
        const ssize_t sent =
            send(socket_.get(), unsent_answers_.data(), unsent_answers_.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent > 0) {
            unsent_answers_.erase(0, static_cast<size_t>(sent));
        } else if (errno == EAGAIN && is_polled_) {
            break;  // a connection that asks returns to the loop and waits there
        } else if (errno == EAGAIN) {
            wait_for_room();
        } else if (errno != EINTR) {
            return stop_answering();  // the client has gone; what it sent before is still read
        }
    }
    if (unsent_answers_.size() > kMaxUnsentAnswers) {
        stop_answering();
    }
}

// The client sees the end of its answers and can go on sending. Closing the connection might end a traced application.
void ClassicWire::ClientConnection::stop_answering() {
    shutdown(socket_.get(), SHUT_WR);
    is_answered_ = false;
    unsent_answers_.clear();
}

void ClassicWire::ClientConnection::wait_for_room() {
    if (!watch()) {
        return stop_answering();
    }
    assert(!is_polled_ && !waits_for_room_);
    waits_for_room_ = true;
    watched_.async_wait(asio::posix::stream_descriptor::wait_write,
                        [self = shared_from_this()](error_code error) {
                            const std::lock_guard lock(self->mutex_);
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
