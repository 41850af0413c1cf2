// SPDX-License-Identifier: Apache-2.0
#pragma once

// Writes lines to standard output on its own thread, so that callers never wait. If the reader stops reading, lines are dropped
// and counted.

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <thread>

namespace ttmem::daemon {

class LogWriter {
public:
    // Writes to `descriptor`. At most `max_bytes` wait in memory.
    explicit LogWriter(int descriptor, size_t max_bytes = size_t{4} << 20);

    // Writes what waits, but does not wait long for a reader that has stopped.
    ~LogWriter();
    LogWriter(const LogWriter&) = delete;
    LogWriter& operator=(const LogWriter&) = delete;

    // Never waits. Without room the line is dropped and counted; the next line that fits says how many are missing.
    void line(std::string text);

    // Counts lines that the caller could not make as lost too.
    void count_lost(uint64_t lines);
    uint64_t lost() const;

private:
    struct LogLine {
        std::string text;
        uint64_t lost_before = 0;  // reported in front of it
    };

    void run();
    void count_lost_line(const LogLine& line);
    bool write_all(const std::string& text);

    const int descriptor_;
    const size_t max_bytes_;
    mutable std::mutex mutex_;
    std::condition_variable wake_;
    std::deque<LogLine> lines_;
    size_t bytes_ = 0;  // of the waiting lines
    uint64_t lost_ = 0;
    uint64_t lost_unreported_ = 0;
    bool stopping_ = false;
    std::thread thread_;
};

}  // namespace ttmem::daemon
