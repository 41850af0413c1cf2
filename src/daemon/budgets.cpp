// SPDX-License-Identifier: Apache-2.0
#include "daemon/budgets.hpp"

#include <algorithm>
#include <cassert>

namespace ttmem::daemon {

bool Budgets::fits(Budget budget, User user, uint64_t amount) const {
    const Account& account = this->account(budget);
    const BudgetLimit& limit = this->limit(budget);
    const auto share = account.by_user.find(user);
    const uint64_t used = share == account.by_user.end() ? 0 : share->second;
    return used <= limit.per_user && amount <= limit.per_user - used && account.total <= limit.total &&
           amount <= limit.total - account.total;
}

bool Budgets::take(Budget budget, User user, uint64_t amount) {
    const std::lock_guard lock(mutex_);
    Account& account = this->account(budget);
    if (!fits(budget, user, amount)) {
        ++account.refused;
        return false;
    }
    account.by_user[user] += amount;
    account.total += amount;
    return true;
}

void Budgets::give_back(Budget budget, User user, uint64_t amount) {
    const std::lock_guard lock(mutex_);
    Account& account = this->account(budget);
    const auto share = account.by_user.find(user);
    assert(share != account.by_user.end() && share->second >= amount && account.total >= amount);
    share->second -= amount;
    account.total -= amount;
    if (share->second == 0) {
        account.by_user.erase(share);
    }
}

bool Budgets::has_room(Budget budget, User user, uint64_t amount) const {
    const std::lock_guard lock(mutex_);
    return fits(budget, user, amount);
}

uint64_t Budgets::used_by(Budget budget, User user) const {
    const std::lock_guard lock(mutex_);
    const auto share = account(budget).by_user.find(user);
    return share == account(budget).by_user.end() ? 0 : share->second;
}

std::vector<BudgetUse> Budgets::uses() const {
    const std::lock_guard lock(mutex_);
    std::vector<BudgetUse> result;
    for (size_t i = 0; i < accounts_.size(); ++i) {
        BudgetUse use{static_cast<Budget>(i), accounts_[i].total, 0, accounts_[i].refused};
        for (const auto& [user, used] : accounts_[i].by_user) {
            use.largest_share = std::max(use.largest_share, used);
        }
        result.push_back(use);
    }
    return result;
}

}  // namespace ttmem::daemon
