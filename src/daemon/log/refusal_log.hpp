// SPDX-License-Identifier: Apache-2.0
#pragma once

// Lines about refusals, which a user can cause at will: at most Budget::log_lines per user and second, and in all.
// The next line of that user says how many were left out.

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>

#include "daemon/budgets.hpp"

namespace ttmem::daemon {

// Thread-safe.
class RefusalLog {
public:
    using WriteLine = std::function<void(const std::string&)>;
    using RefusalClock = std::function<uint64_t()>;  // ns; empty: that of the host

    // `write_line` is called under a lock and must not wait: EventLog::write_note().
    RefusalLog(Budgets& budgets, WriteLine write_line, RefusalClock clock = {});
    ~RefusalLog();
    RefusalLog(const RefusalLog&) = delete;
    RefusalLog& operator=(const RefusalLog&) = delete;

    void write(User user, const std::string& line);

private:
    void begin_second(uint64_t now_ns);
    void count_left_out(User user);
    uint64_t take_left_out(User user);

    Budgets& budgets_;
    const WriteLine write_line_;
    const RefusalClock clock_;
    std::mutex mutex_;
    uint64_t second_ends_ns_ = 0;
    std::map<User, uint64_t> written_;   // in this second
    std::map<User, uint64_t> left_out_;  // since the last line of that user
};

}  // namespace ttmem::daemon
