// SPDX-License-Identifier: Apache-2.0
#include "daemon/http/answer_places.hpp"

#include <algorithm>
#include <cassert>
#include <utility>
#include <vector>

namespace ttmem::daemon::http {

AnswerPlaces::~AnswerPlaces() {
    for (const auto& [who, taken] : inside_) {
        budgets_->give_back(Budget::answers, taken.user, taken.places);
    }
}

void AnswerPlaces::enter(const void* who, User user, uint64_t places, std::function<void()> begin) {
    assert(!inside_.contains(who));
    // More than a share would wait forever.
    places = std::clamp<uint64_t>(places, 1, budgets_->limit(Budget::answers).per_user);
    Waiting answer{who, places, std::move(begin)};
    if (budgets_->has_room(Budget::answers, user, places)) {
        this->begin(user, std::move(answer));
    } else {
        waiting_[user].push_back(std::move(answer));
    }
}

void AnswerPlaces::begin(User user, Waiting answer) {
    inside_.emplace(answer.who, Taken{user, answer.places});
    [[maybe_unused]] const bool has_taken = budgets_->take(Budget::answers, user, answer.places);
    assert(has_taken);  // only the loop takes places, and there was room
    try {
        answer.begin();
    } catch (...) {
        // The connection notices that nobody makes its answer, and closes.
    }
}

bool AnswerPlaces::leave(const void* who) {
    const auto inside = inside_.find(who);
    if (inside != inside_.end()) {
        budgets_->give_back(Budget::answers, inside->second.user, inside->second.places);
        inside_.erase(inside);
        admit_waiting();
        return true;
    }
    for (auto& [user, queue] : waiting_) {
        const auto found =
            std::find_if(queue.begin(), queue.end(), [&](const Waiting& one) { return one.who == who; });
        if (found != queue.end()) {
            const Waiting dropped = std::move(*found);  // destroyed last, because it may hold anything
            queue.erase(found);
            if (queue.empty()) {
                waiting_.erase(user);
            }
            return true;
        }
    }
    return false;
}

std::list<AnswerPlaces::Waiting>::iterator AnswerPlaces::next_of(User user, std::list<Waiting>& queue) {
    return std::find_if(queue.begin(), queue.end(), [&](const Waiting& one) {
        return budgets_->has_room(Budget::answers, user, one.places);
    });
}

// Users take turns, so that no user alone takes the places that others leave.
void AnswerPlaces::admit_waiting() {
    for (bool has_admitted = true; has_admitted && !waiting_.empty();) {
        has_admitted = false;
        std::vector<User> users;
        users.reserve(waiting_.size());
        for (auto user = waiting_.upper_bound(last_); user != waiting_.end(); ++user) {
            users.push_back(user->first);
        }
        for (auto user = waiting_.begin(); user != waiting_.upper_bound(last_); ++user) {
            users.push_back(user->first);
        }
        for (const User user : users) {
            const auto queue = waiting_.find(user);
            if (queue == waiting_.end()) {
                continue;
            }
            const auto next = next_of(user, queue->second);
            if (next == queue->second.end()) {
                continue;
            }
            Waiting answer = std::move(*next);
            queue->second.erase(next);
            if (queue->second.empty()) {
                waiting_.erase(queue);
            }
            last_ = user;
            has_admitted = true;
            begin(user, std::move(answer));
        }
    }
}

}  // namespace ttmem::daemon::http
