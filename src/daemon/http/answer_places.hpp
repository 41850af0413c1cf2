// SPDX-License-Identifier: Apache-2.0
#pragma once

// Places for answers that are being made or sent (Budget::answers). A request beyond its user's share waits until an earlier answer
// of that user has left; it is not refused. On the loop.

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>

#include "daemon/budgets.hpp"

namespace ttmem::daemon::http {

class AnswerPlaces {
public:
    explicit AnswerPlaces(std::shared_ptr<Budgets> budgets) : budgets_(std::move(budgets)) {}
    AnswerPlaces(const AnswerPlaces&) = delete;
    AnswerPlaces& operator=(const AnswerPlaces&) = delete;
    ~AnswerPlaces();

    // Calls `begin` as soon as the user has this many places: now, or after others have left. `who` identifies the answer and is
    // inside at most once. An exception of `begin` ends only that answer.
    void enter(const void* who, User user, uint64_t places, std::function<void()> begin);

    // Gives the places back, or stops waiting. False if `who` is not inside.
    bool leave(const void* who);

    // Nobody has a place.
    bool is_empty() const { return inside_.empty(); }

private:
    struct Taken {
        User user = kUnknownUser;
        uint64_t places = 0;
    };
    struct Waiting {
        const void* who = nullptr;
        uint64_t places = 0;
        std::function<void()> begin;
    };

    void begin(User user, Waiting answer);
    void admit_waiting();
    // The first of the user's answers that has room. A small one may overtake a large one.
    std::list<Waiting>::iterator next_of(User user, std::list<Waiting>& queue);

    std::shared_ptr<Budgets> budgets_;
    std::map<const void*, Taken> inside_;
    std::map<User, std::list<Waiting>> waiting_;  // of users with waiting answers, oldest first
    User last_ = kUnknownUser;                    // who was admitted last; users take turns
};

}  // namespace ttmem::daemon::http
