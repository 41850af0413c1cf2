// SPDX-License-Identifier: Apache-2.0
#include "observer/user_scopes.hpp"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

namespace ttmem::observer {

namespace {

constexpr size_t kMostNameBytes = 1024;  // the client cuts names before that
constexpr uint32_t kMostWaiting = 256;   // the client knows fewer scopes inside each other

// The name follows it.
struct WaitingScope {
    WaitingScope* outer;
};

char* name_of(WaitingScope* scope) { return reinterpret_cast<char*>(scope + 1); }

struct ThreadScopes {
    WaitingScope* innermost;
    uint32_t waiting;
    uint32_t too_many;  // innermost ones that found no room
};

__thread ThreadScopes scopes __attribute__((tls_model("initial-exec")));

WaitingScope* new_scope(const char* name) {
    const size_t length = strnlen(name, kMostNameBytes);
    auto* const scope = static_cast<WaitingScope*>(malloc(sizeof(WaitingScope) + length + 1));
    if (scope != nullptr) {
        memcpy(name_of(scope), name, length);
        name_of(scope)[length] = '\0';
    }
    return scope;
}

// The outermost first.
void report(const Observation& observation, WaitingScope* innermost) {
    WaitingScope* outermost = nullptr;
    while (innermost != nullptr) {
        WaitingScope* const outer = innermost->outer;
        innermost->outer = outermost;
        outermost = innermost;
        innermost = outer;
    }
    while (outermost != nullptr) {
        WaitingScope* const inner = outermost->outer;
        if (observation.enter_scope != nullptr) {
            observation.enter_scope(name_of(outermost));
        }
        free(outermost);
        outermost = inner;
    }
}

}  // namespace

__thread const Observation* thread_observation __attribute__((tls_model("initial-exec")));

void push_user_scope(const char* name) {
    const char* const known = name != nullptr ? name : "";
    if (thread_observation != nullptr) {
        if (thread_observation->enter_scope != nullptr) {
            thread_observation->enter_scope(known);
        }
        return;
    }
    WaitingScope* const scope =
        scopes.waiting < kMostWaiting && scopes.too_many == 0 ? new_scope(known) : nullptr;
    if (scope == nullptr) {
        ++scopes.too_many;
        return;
    }
    scope->outer = scopes.innermost;
    scopes.innermost = scope;
    ++scopes.waiting;
}

void pop_user_scope() {
    if (scopes.too_many != 0) {
        --scopes.too_many;
    } else if (scopes.innermost != nullptr) {
        WaitingScope* const scope = scopes.innermost;
        scopes.innermost = scope->outer;
        --scopes.waiting;
        free(scope);
    } else if (thread_observation != nullptr && thread_observation->leave_scope != nullptr) {
        thread_observation->leave_scope();
    }
}

void report_user_scopes(const Observation& observation) {
    WaitingScope* const innermost = scopes.innermost;
    scopes.innermost = nullptr;
    scopes.waiting = 0;
    thread_observation = &observation;
    report(observation, innermost);
}

}  // namespace ttmem::observer
