// SPDX-License-Identifier: Apache-2.0
#pragma once

// Texts that wait for the reader of a stream. Any thread fills it; the connection empties it on the loop.

#include <algorithm>
#include <deque>
#include <memory>
#include <mutex>
#include <utility>

#include "daemon/budgets.hpp"
#include "daemon/http/message.hpp"

namespace ttmem::daemon::http {

class StreamBuffer {
public:
    enum class PushResult {
        queued,     // the connection fetches it when the current write ends
        must_wake,  // the connection is idle and must be woken
        overflow,   // the reader is too slow: the connection must be closed
        closed,
    };

    // What waits counts for `user`.
    StreamBuffer(size_t max_bytes, std::shared_ptr<Budgets> budgets, User user,
                 StreamKind kind = StreamKind::events)
        : max_bytes_(max_bytes), budgets_(std::move(budgets)), user_(user), kind_(kind) {}
    ~StreamBuffer() { close(); }
    StreamBuffer(const StreamBuffer&) = delete;
    StreamBuffer& operator=(const StreamBuffer&) = delete;

    StreamKind kind() const { return kind_; }

    void want_end() {
        const std::lock_guard lock(mutex_);
        is_end_wanted_ = true;
    }
    bool is_end_wanted() const {
        const std::lock_guard lock(mutex_);
        return is_end_wanted_;
    }

    StreamWriter::Readiness readiness() const {
        const std::lock_guard lock(mutex_);
        if (is_closed_) {
            return StreamWriter::Readiness::gone;
        }
        const bool is_empty = waiting_.empty() && !in_flight_.text;
        return is_empty && budgets_->has_room(Budget::stream_bytes, user_) ? StreamWriter::Readiness::ready
                                                                           : StreamWriter::Readiness::busy;
    }

    PushResult push(SharedText text) {
        const std::lock_guard lock(mutex_);
        if (is_closed_) {
            return PushResult::closed;
        }
        if (text->empty()) {
            return PushResult::queued;  // nothing to send; the caller asks whether the reader is still there
        }
        // The limit applies to what waited before this push: one long text, as the first view is, must get through.
        if (bytes_ > max_bytes_) {
            close_locked();
            return PushResult::overflow;
        }
        bytes_ += text->size();
        WaitingText& waiting = waiting_.emplace_back(std::move(text), 0);
        waiting.counted = count(waiting.text->size());
        return std::exchange(is_busy_, true) ? PushResult::queued : PushResult::must_wake;
    }

    // Returns the next text; the one before has been sent. When there is none, the next push must wake the connection.
    SharedText take() {
        const std::lock_guard lock(mutex_);
        drop(std::exchange(in_flight_, {}));
        is_busy_ = !waiting_.empty();
        if (is_busy_) {
            in_flight_ = std::move(waiting_.front());
            waiting_.pop_front();
        }
        return in_flight_.text;
    }

    void close() {
        const std::lock_guard lock(mutex_);
        close_locked();
    }

private:
    struct WaitingText {
        WaitingText() = default;
        WaitingText(SharedText shared, uint64_t bytes) : text(std::move(shared)), counted(bytes) {}
        SharedText text;
        uint64_t counted = 0;  // in the budget
    };

    // Takes as much of the budget as there is: a text that is longer than the user's whole share must get through too.
    uint64_t count(uint64_t size) {
        const uint64_t share = budgets_->limit(Budget::stream_bytes).per_user;
        const uint64_t used = budgets_->used_by(Budget::stream_bytes, user_);
        const uint64_t amount = std::min(size, share - std::min(share, used));
        return amount != 0 && budgets_->has_room(Budget::stream_bytes, user_, amount) &&
                       budgets_->take(Budget::stream_bytes, user_, amount)
                   ? amount
                   : 0;
    }

    void drop(const WaitingText& text) {
        bytes_ -= text.text ? text.text->size() : 0;
        if (text.counted != 0) {
            budgets_->give_back(Budget::stream_bytes, user_, text.counted);
        }
    }

    void close_locked() {
        is_closed_ = true;
        drop(std::exchange(in_flight_, {}));
        for (const WaitingText& text : waiting_) {
            drop(text);
        }
        waiting_.clear();
    }

    const size_t max_bytes_;
    const std::shared_ptr<Budgets> budgets_;
    const User user_;
    const StreamKind kind_;
    mutable std::mutex mutex_;
    std::deque<WaitingText> waiting_;
    WaitingText in_flight_;  // the connection sends it
    size_t bytes_ = 0;       // of both
    bool is_busy_ = true;    // the connection writes the response head first
    bool is_closed_ = false;
    bool is_end_wanted_ = false;
};

}  // namespace ttmem::daemon::http
