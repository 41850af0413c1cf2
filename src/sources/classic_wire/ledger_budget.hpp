// SPDX-License-Identifier: Apache-2.0
#pragma once

// The memory of ledgers, which their clients make grow. The owner of the ledgers decides how much that may be.

#include <cassert>
#include <cstdint>
#include <memory>
#include <utility>

namespace ttmem::sources::classic_wire {

// What the ledgers of one user may take together. Thread-safe.
class LedgerBudget {
public:
    virtual ~LedgerBudget() = default;

    virtual bool take(uint64_t bytes) = 0;
    virtual void give_back(uint64_t bytes) = 0;

    // Whether take() would succeed.
    virtual bool has_room(uint64_t bytes) const = 0;
};

// What one ledger has taken. Its end gives that back.
class LedgerAccount {
public:
    // Without a budget everything is granted.
    explicit LedgerAccount(std::shared_ptr<LedgerBudget> budget) : budget_(std::move(budget)) {}
    LedgerAccount(LedgerAccount&& other) noexcept
        : budget_(std::move(other.budget_)), taken_(std::exchange(other.taken_, 0)) {}
    LedgerAccount& operator=(LedgerAccount&&) = delete;
    LedgerAccount(const LedgerAccount&) = delete;
    LedgerAccount& operator=(const LedgerAccount&) = delete;
    ~LedgerAccount() { give_back(taken_); }

    bool take(uint64_t bytes) {
        if (budget_ && !budget_->take(bytes)) {
            return false;
        }
        taken_ += bytes;
        return true;
    }

    void give_back(uint64_t bytes) {
        assert(bytes <= taken_);
        taken_ -= bytes;
        if (budget_ && bytes != 0) {
            budget_->give_back(bytes);
        }
    }

    uint64_t taken() const { return taken_; }

private:
    std::shared_ptr<LedgerBudget> budget_;
    uint64_t taken_ = 0;
};

}  // namespace ttmem::sources::classic_wire
