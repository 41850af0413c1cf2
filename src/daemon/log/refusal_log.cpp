// SPDX-License-Identifier: Apache-2.0
#include "daemon/log/refusal_log.hpp"

#include <cassert>
#include <utility>

#include "base/time.hpp"

namespace ttmem::daemon {

namespace {

constexpr uint64_t kSecondNs = 1'000'000'000;
// A user with a range of uids has very many. Beyond this, their lines are counted together.
constexpr size_t kMaxUsersLeftOut = 1024;

}  // namespace

RefusalLog::RefusalLog(Budgets& budgets, WriteLine write_line, RefusalClock clock)
    : budgets_(budgets),
      write_line_(std::move(write_line)),
      clock_(clock ? std::move(clock) : [] { return base::clock_ns(CLOCK_MONOTONIC); }) {
    assert(write_line_);
}

RefusalLog::~RefusalLog() { begin_second(0); }

void RefusalLog::begin_second(uint64_t now_ns) {
    for (const auto& [user, lines] : written_) {
        budgets_.give_back(Budget::log_lines, user, lines);
    }
    written_.clear();
    second_ends_ns_ = now_ns + kSecondNs;
}

void RefusalLog::count_left_out(User user) {
    const bool is_known = left_out_.contains(user) || left_out_.size() < kMaxUsersLeftOut;
    ++left_out_[is_known ? user : kUnknownUser];
}

uint64_t RefusalLog::take_left_out(User user) {
    const auto found = left_out_.find(user);
    if (found == left_out_.end()) {
        return 0;
    }
    const uint64_t lines = found->second;
    left_out_.erase(found);
    return lines;
}

void RefusalLog::write(User user, const std::string& line) {
    const std::lock_guard lock(mutex_);
    if (const uint64_t now = clock_(); now >= second_ends_ns_) {
        begin_second(now);
    }
    if (!budgets_.take(Budget::log_lines, user)) {
        return count_left_out(user);
    }
    ++written_[user];
    const uint64_t left_out = take_left_out(user);
    write_line_(left_out == 0
                    ? line
                    : line + " (" + std::to_string(left_out) + (left_out == 1 ? " line" : " lines") +
                          " about this user left out before)");
}

}  // namespace ttmem::daemon
