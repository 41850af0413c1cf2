// SPDX-License-Identifier: Apache-2.0

// The preloaded library: tt-metal's functions under their names. It is loaded into every child of the user's program, so it
// has no constructor, no exceptions and no C++ runtime. Exceptions of the runtime pass through it.

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>

#include "observer/find_runtime.hpp"
#include "observer/user_scopes.hpp"

namespace ttmem::observer {
namespace {

pthread_once_t once = PTHREAD_ONCE_INIT;
Observation observation;  // the observer's functions, or the originals if nothing is observed

// For threads that ask before their first call of the runtime.
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
decltype(Observation::find_client_function) find_function = nullptr;

void choose() {
    const int saved = errno;
    const Runtime runtime = find_runtime();
    observation.functions = runtime.originals;
    observe(runtime, observation);
    pthread_mutex_lock(&lock);
    find_function = observation.find_client_function;
    pthread_mutex_unlock(&lock);
    errno = saved;
}

const Functions& chosen() {
    if (!are_scopes_reported()) {
        pthread_once(&once, choose);
        report_user_scopes(observation);
    }
    return observation.functions;
}

}  // namespace
}  // namespace ttmem::observer

// A function without an original has no callers, because a caller would have been linked with it. Do nothing if called.
#define TTMEM_INTERPOSE(name, symbol, result, parameters, arguments, needed)                           \
    extern "C" __attribute__((visibility("default"))) result ttmem_##name parameters __asm__(#symbol); \
    extern "C" result ttmem_##name parameters {                                                        \
        auto* const call = ttmem::observer::chosen().name;                                             \
        using Result = result;                                                                         \
        return call != nullptr ? call arguments : Result();                                            \
    }

TTMEM_INTERPOSED(TTMEM_INTERPOSE)

// For 'ttmem doctor', in a separate process: 0 if an observer fits the tt-metal in this file. The text is "+" and the
// observer, or "-" and the reason.
extern "C" __attribute__((visibility("default"))) int ttmem_observer_probe(const char* library, char* text,
                                                                           size_t size);

extern "C" int ttmem_observer_probe(const char* library, char* text, size_t size) {
    using namespace ttmem::observer;
    if (size < 2) {
        return 1;
    }
    text[0] = '-';
    // A symbol that nobody calls may be missing, as when a program loads the library.
    if (dlopen(library, RTLD_LAZY | RTLD_LOCAL) == nullptr) {
        const char* problem = dlerror();
        snprintf(text + 1, size - 1, "%s", problem != nullptr ? problem : "it can't be loaded");
        return 1;
    }
    ChosenObserver choice{};
    choose_observer(find_runtime(), choice);
    snprintf(text, size, "%c%s%s%s", choice.fits ? '+' : '-', choice.text,
             choice.missing_facts[0] != '\0' ? ", without " : "", choice.missing_facts);
    return choice.fits ? 0 : 1;
}

// For the Python package, in the user's process. All may be called before the runtime is loaded.
extern "C" __attribute__((visibility("default"))) void ttmem_observer_scope_push(const char* name);
extern "C" __attribute__((visibility("default"))) void ttmem_observer_scope_pop();

// A function of libttmem in the observer; null before the first call of the runtime, and if nothing is observed.
extern "C" __attribute__((visibility("default"))) void* ttmem_observer_client(const char* name);

extern "C" void ttmem_observer_scope_push(const char* name) { ttmem::observer::push_user_scope(name); }

extern "C" void ttmem_observer_scope_pop() { ttmem::observer::pop_user_scope(); }

extern "C" void* ttmem_observer_client(const char* name) {
    using namespace ttmem::observer;
    pthread_mutex_lock(&lock);
    auto* const find = find_function;
    pthread_mutex_unlock(&lock);
    return find != nullptr ? find(name) : nullptr;
}
