// SPDX-License-Identifier: Apache-2.0
#include "daemon/log/log_writer.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.hpp"

namespace ttmem::daemon {

namespace {

constexpr int kPollTimeoutMs = 200;
constexpr size_t kBatch = size_t{64} << 10;
constexpr size_t kWriteBytes = 4096;  // a pipe that is ready takes this much without blocking

}  // namespace

LogWriter::LogWriter(int descriptor, size_t max_bytes)
    : descriptor_(descriptor), max_bytes_(max_bytes), thread_([this] { run(); }) {}

LogWriter::~LogWriter() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    wake_.notify_one();
    thread_.join();
}

void LogWriter::line(std::string text) {
    text += '\n';
    {
        const std::lock_guard lock(mutex_);
        if (bytes_ + text.size() > max_bytes_) {
            ++lost_;
            ++lost_unreported_;
            return;
        }
        bytes_ += text.size();
        assert(bytes_ <= max_bytes_);
        lines_.push_back({std::move(text), std::exchange(lost_unreported_, 0)});
    }
    wake_.notify_one();
}

void LogWriter::count_lost(uint64_t lines) {
    const std::lock_guard lock(mutex_);
    lost_ += lines;
    lost_unreported_ += lines;
}

uint64_t LogWriter::lost() const {
    const std::lock_guard lock(mutex_);
    return lost_;
}

void LogWriter::run() {
    std::unique_lock lock(mutex_);
    while (true) {
        wake_.wait(lock, [&] { return stopping_ || !lines_.empty(); });
        if (lines_.empty()) {
            return;
        }
        // Several lines per system call, for fast logs.
        std::string batch;
        std::vector<LogLine> taken;
        while (!lines_.empty() && batch.size() < kBatch) {
            LogLine& line = taken.emplace_back(std::move(lines_.front()));
            lines_.pop_front();
            if (line.lost_before != 0) {
                batch += "[log] " + base::format_count(line.lost_before, "line", "lines") + " lost here\n";
            }
            batch += line.text;
        }
        lock.unlock();
        const bool written = write_all(batch);
        lock.lock();
        for (const LogLine& line : taken) {
            assert(bytes_ >= line.text.size());
            bytes_ -= line.text.size();
        }
        assert(!lines_.empty() || bytes_ == 0);
        if (!written) {  // the reader has gone, or the disk is full
            std::for_each(taken.begin(), taken.end(), [&](const LogLine& line) { count_lost_line(line); });
            std::for_each(lines_.begin(), lines_.end(), [&](const LogLine& line) { count_lost_line(line); });
            lines_.clear();
            bytes_ = 0;
            if (stopping_) {
                return;
            }
        }
    }
}

// The lines that it would have reported stay unreported.
void LogWriter::count_lost_line(const LogLine& line) {
    lost_ += 1;
    lost_unreported_ += 1 + line.lost_before;
}

// Waits for the reader without limit, but only shortly when this object is being destroyed. Other processes may share the
// descriptor, so it is not made non-blocking; instead each write is small enough for a descriptor that is ready.
bool LogWriter::write_all(const std::string& text) {
    std::string_view rest = text;
    while (!rest.empty()) {
        pollfd ready{descriptor_, POLLOUT, 0};
        const int count = poll(&ready, 1, kPollTimeoutMs);
        if (count == 0) {
            const std::lock_guard lock(mutex_);
            if (stopping_) {
                return false;
            }
            continue;
        }
        if (count < 0) {
            if (errno != EINTR) {
                return false;
            }
            continue;  // nothing is known about the descriptor, and a write may block
        }
        const ssize_t written = write(descriptor_, rest.data(), std::min(rest.size(), kWriteBytes));
        if (written > 0) {
            rest.remove_prefix(static_cast<size_t>(written));
        } else if (errno != EINTR && errno != EAGAIN) {
            return false;  // the reader has gone
        }
    }
    return true;
}

}  // namespace ttmem::daemon
