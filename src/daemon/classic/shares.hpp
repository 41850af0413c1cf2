// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the classic wire takes of the budgets of a user.

#include <cstdint>
#include <optional>
#include <utility>

#include "daemon/budgets.hpp"
#include "sources/classic_wire/ledger_budget.hpp"

namespace ttmem::daemon {

// One connection. Its end gives it back.
class ConnectionShare {
public:
    // Nothing if the user has too many connections.
    static std::optional<ConnectionShare> take(Budgets& budgets, User user) {
        return budgets.take(Budget::classic_connections, user) ? std::optional(ConnectionShare(budgets, user))
                                                               : std::nullopt;
    }
    ConnectionShare(ConnectionShare&& other) noexcept
        : budgets_(std::exchange(other.budgets_, nullptr)), user_(other.user_) {}
    ConnectionShare& operator=(ConnectionShare&&) = delete;
    ConnectionShare(const ConnectionShare&) = delete;
    ConnectionShare& operator=(const ConnectionShare&) = delete;
    ~ConnectionShare() { give_back(); }

    void give_back() {
        if (Budgets* const budgets = std::exchange(budgets_, nullptr)) {
            budgets->give_back(Budget::classic_connections, user_);
        }
    }

    User user() const { return user_; }

private:
    ConnectionShare(Budgets& budgets, User user) : budgets_(&budgets), user_(user) {}

    Budgets* budgets_;
    User user_;
};

// The bytes of the ledgers of a user.
class ClassicBytes final : public sources::classic_wire::LedgerBudget {
public:
    ClassicBytes(Budgets& budgets, User user) : budgets_(budgets), user_(user) {}

    bool take(uint64_t bytes) override { return budgets_.take(Budget::classic_bytes, user_, bytes); }
    void give_back(uint64_t bytes) override { budgets_.give_back(Budget::classic_bytes, user_, bytes); }
    bool has_room(uint64_t bytes) const override {
        return budgets_.has_room(Budget::classic_bytes, user_, bytes);
    }

private:
    Budgets& budgets_;
    const User user_;
};

}  // namespace ttmem::daemon
