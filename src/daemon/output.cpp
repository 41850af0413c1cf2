// SPDX-License-Identifier: Apache-2.0
#include "daemon/output.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>
#include <vector>

namespace ttmem::daemon {

namespace {

constexpr int kPatienceAtEndMs = 200;
constexpr size_t kBatch = size_t{64} << 10;
constexpr size_t kAtOnce = 4096;  // what a pipe that is ready takes without waiting

}  // namespace

Output::Output(int descriptor, size_t most_bytes)
    : descriptor_(descriptor), most_bytes_(most_bytes), thread_([this] { run(); }) {}

Output::~Output() {
    {
        const std::lock_guard lock(mutex_);
        ending_ = true;
    }
    wake_.notify_one();
    thread_.join();
}

void Output::line(std::string text) {
    text += '\n';
    {
        const std::lock_guard lock(mutex_);
        if (bytes_ + text.size() > most_bytes_) {
            ++lost_;
            ++lost_untold_;
            return;
        }
        bytes_ += text.size();
        lines_.push_back({std::move(text), std::exchange(lost_untold_, 0)});
    }
    wake_.notify_one();
}

bool Output::has_room() const {
    const std::lock_guard lock(mutex_);
    return bytes_ < most_bytes_;
}

void Output::count_lost(uint64_t lines) {
    const std::lock_guard lock(mutex_);
    lost_ += lines;
    lost_untold_ += lines;
}

uint64_t Output::lost() const {
    const std::lock_guard lock(mutex_);
    return lost_;
}

void Output::run() {
    std::unique_lock lock(mutex_);
    while (true) {
        wake_.wait(lock, [&] { return ending_ || !lines_.empty(); });
        if (lines_.empty()) {
            return;
        }
        // Several lines at a time, so that a fast log is few system calls.
        std::string batch;
        std::vector<Line> taken;
        while (!lines_.empty() && batch.size() < kBatch) {
            Line& line = taken.emplace_back(std::move(lines_.front()));
            lines_.pop_front();
            if (line.lost_before != 0) {
                batch += "[log] " + std::to_string(line.lost_before) + " lines lost here\n";
            }
            batch += line.text;
        }
        lock.unlock();
        const bool written = write_all(batch);
        lock.lock();
        for (const Line& line : taken) {
            bytes_ -= line.text.size();
        }
        if (!written) {  // a reader that is gone, or a full disk
            std::for_each(taken.begin(), taken.end(), [&](const Line& line) { lose(line); });
            std::for_each(lines_.begin(), lines_.end(), [&](const Line& line) { lose(line); });
            lines_.clear();
            bytes_ = 0;
            if (ending_) {
                return;
            }
        }
    }
}

// What was to be told with it is still untold.
void Output::lose(const Line& line) {
    lost_ += 1;
    lost_untold_ += 1 + line.lost_before;
}

// Waits for the reader as long as it takes, but at the end only a little. The descriptor stays as it is: others may
// share it, so it is not made non-blocking, and no more is written at once than it takes when it is ready.
bool Output::write_all(const std::string& text) {
    std::string_view rest = text;
    while (!rest.empty()) {
        pollfd ready{descriptor_, POLLOUT, 0};
        const int count = poll(&ready, 1, kPatienceAtEndMs);
        if (count == 0) {
            const std::lock_guard lock(mutex_);
            if (ending_) {
                return false;
            }
            continue;
        }
        if (count < 0 && errno != EINTR) {
            return false;
        }
        const ssize_t written = write(descriptor_, rest.data(), std::min(rest.size(), kAtOnce));
        if (written > 0) {
            rest.remove_prefix(static_cast<size_t>(written));
        } else if (errno != EINTR && errno != EAGAIN) {
            return false;  // the reader is gone
        }
    }
    return true;
}

}  // namespace ttmem::daemon
