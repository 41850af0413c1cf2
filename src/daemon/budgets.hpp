// SPDX-License-Identifier: Apache-2.0
#pragma once

// What one user may make the daemon hold, and what all users together may. census/budgets.hpp has the budgets of work. A user
// beyond a share is refused alone: each refusal is counted, and `ttmem self`, the metrics and the log show it.

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <string_view>
#include <vector>

#include "base/named_enum.hpp"

namespace ttmem::daemon {

// A uid, or kUnknownUser.
using User = int64_t;
constexpr User kUnknownUser = -1;  // over TCP: all such callers share one budget

enum class Budget : uint8_t {
    processes,            // attached segments; each needs two descriptors and a map
    announcements,        // connections that have not passed their segment yet
    refusals,             // per second, of announcements
    api_connections,      // connections to the HTTP API
    answers,              // answers that are being made or sent
    stream_bytes,         // of texts that wait for slow readers of streams
    classic_connections,  // connections of the classic wire
    classic_bytes,        // of ledgers that the daemon writes for classic clients
    log_lines,            // per second, about refusals
    recordings,           // that are made for clients; each needs a thread and reads all events
};
constexpr auto enum_names(Budget /*of*/) {
    return std::to_array<std::string_view>({"processes", "announcements", "refusals", "api_connections",
                                            "answers", "stream_bytes", "classic_connections", "classic_bytes",
                                            "log_lines", "recordings"});
}
using base::name_of;

struct BudgetLimit {
    uint64_t per_user = 0;
    uint64_t total = 0;
};
using BudgetLimits = std::array<BudgetLimit, base::enum_size<Budget>()>;

constexpr uint64_t kMebibyte = uint64_t{1} << 20;
constexpr BudgetLimits kBudgetLimits = {{
    {1024, 4096},                      // processes
    {16, 256},                         // announcements
    {100, 100'000},                    // refusals
    {64, 256},                         // api_connections
    {8, 64},                           // answers
    {16 * kMebibyte, 64 * kMebibyte},  // stream_bytes
    {256, 4096},                       // classic_connections
    {24 * kMebibyte, 48 * kMebibyte},  // classic_bytes
    {10, 100},                         // log_lines
    {2, 8},                            // recordings
}};

struct BudgetUse {
    Budget budget = Budget::processes;
    uint64_t used = 0;           // by all users
    uint64_t largest_share = 0;  // of one user
    uint64_t refused = 0;        // since the start
};

// Thread-safe.
class Budgets {
public:
    Budgets() : Budgets(kBudgetLimits) {}
    explicit Budgets(const BudgetLimits& limits) : limits_(limits) {}

    // False if the user's share or the total does not suffice. Nothing is taken then, and the refusal is counted.
    bool take(Budget budget, User user, uint64_t amount = 1);

    // Gives back what take() took.
    void give_back(Budget budget, User user, uint64_t amount = 1);

    // Whether take() would succeed. Counts nothing.
    bool has_room(Budget budget, User user, uint64_t amount = 1) const;

    // What a user has taken.
    uint64_t used_by(Budget budget, User user) const;

    std::vector<BudgetUse> uses() const;
    const BudgetLimit& limit(Budget budget) const { return limits_[static_cast<size_t>(budget)]; }

private:
    struct Account {
        std::map<User, uint64_t> by_user;
        uint64_t total = 0;
        uint64_t refused = 0;
    };
    const Account& account(Budget budget) const { return accounts_[static_cast<size_t>(budget)]; }
    Account& account(Budget budget) { return accounts_[static_cast<size_t>(budget)]; }
    bool fits(Budget budget, User user, uint64_t amount) const;

    const BudgetLimits limits_;
    mutable std::mutex mutex_;
    std::array<Account, base::enum_size<Budget>()> accounts_;
};

}  // namespace ttmem::daemon
