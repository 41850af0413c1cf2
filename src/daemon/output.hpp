// SPDX-License-Identifier: Apache-2.0
#pragma once

// Lines to standard output that cost nobody's time: a thread of its own writes them, and a reader that stops reading
// costs lines, which are counted, and nothing else.

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <thread>

namespace ttmem::daemon {

class Output {
public:
    // Writes to `descriptor` until this object ends; what waits is at most `most_bytes`.
    explicit Output(int descriptor, size_t most_bytes = size_t{4} << 20);

    // Writes what it can without waiting for a reader that has stopped, and ends.
    ~Output();
    Output(const Output&) = delete;
    Output& operator=(const Output&) = delete;

    // Never waits. A line that finds no room is dropped and counted; when there is room again, a line says how many.
    void line(std::string text);

    // Whether a line would find room now: saves the work of making it.
    bool has_room() const;

    // Lines that were never made count like lines that found no room.
    void count_lost(uint64_t lines);
    uint64_t lost() const;

private:
    struct Line {
        std::string text;
        uint64_t lost_before = 0;  // that are told with it
    };

    void run();
    void lose(const Line& line);
    bool write_all(const std::string& text);

    const int descriptor_;
    const size_t most_bytes_;
    mutable std::mutex mutex_;
    std::condition_variable wake_;
    std::deque<Line> lines_;
    size_t bytes_ = 0;  // of their texts
    uint64_t lost_ = 0;
    uint64_t lost_untold_ = 0;
    bool ending_ = false;
    std::thread thread_;
};

}  // namespace ttmem::daemon
