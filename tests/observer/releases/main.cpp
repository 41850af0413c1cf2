// SPDX-License-Identifier: Apache-2.0
//
// Runs a stand-in as Python runs tt-metal: it loads the library, whose symbols nobody else sees.
//   observer_release <library> --pause-at all --truth FILE
#include <dlfcn.h>

#include <cstdio>

int main(int count, char** arguments) {
    void* library = count > 1 ? dlopen(arguments[1], RTLD_LAZY | RTLD_LOCAL) : nullptr;
    using Main = int(int, char**);
    auto* const run = library != nullptr ? reinterpret_cast<Main*>(dlsym(library, "release_main")) : nullptr;
    if (run == nullptr) {
        std::fprintf(stderr, "%s\n", dlerror());
        return 3;
    }
    return run(count - 1, arguments + 1);
}
