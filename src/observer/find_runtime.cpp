// SPDX-License-Identifier: Apache-2.0
#include "observer/find_runtime.hpp"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/environment.hpp"
#include "base/run_folder.hpp"
#include "observer/notice.hpp"

namespace ttmem::observer {

namespace {

constexpr char kLandmark[] = "_ZN2tt8tt_metal12GraphTracker14track_allocateEPKNS0_6BufferE";
constexpr char kFolder[] = "ttmem-observer";  // beside the preloaded library
constexpr char kWithout[] = ", without ";
constexpr size_t kMostObjects = 4096;

void* runtime_handle = nullptr;
constexpr size_t kPathSize = 4096;
constexpr size_t kTextSize = 1400;
char runtime_path[kPathSize];

const void* own_base() {
    Dl_info info{};
    return dladdr(reinterpret_cast<const void*>(&find_runtime), &info) != 0 ? info.dli_fbase : nullptr;
}

struct Objects {
    char** names = nullptr;
    size_t count = 0;
};

// The dynamic linker is locked meanwhile: names are only copied here, and examined later.
int note_object(dl_phdr_info* info, size_t, void* target) {
    auto& objects = *static_cast<Objects*>(target);
    if (info->dlpi_name != nullptr && info->dlpi_name[0] != '\0' && objects.count < kMostObjects) {
        if (char* copy = strdup(info->dlpi_name)) {
            objects.names[objects.count++] = copy;
        }
    }
    return 0;
}

// The library in which the landmark is defined, seen from `name`, unless that is this one.
void* library_seen_from(const char* name, const void* self) {
    void* from = dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
    if (from == nullptr) {
        return nullptr;
    }
    void* found = nullptr;
    Dl_info info{};
    const void* symbol = dlsym(from, kLandmark);
    if (symbol != nullptr && dladdr(symbol, &info) != 0 && info.dli_fbase != self &&
        info.dli_fname != nullptr) {
        // Kept open: its functions are called from here for as long as the process lives.
        found = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
        snprintf(runtime_path, sizeof runtime_path, "%s", info.dli_fname);
    }
    dlclose(from);
    return found;
}

void find_library() {
    Objects objects;
    objects.names = static_cast<char**>(calloc(kMostObjects, sizeof(char*)));
    if (objects.names == nullptr) {
        return;
    }
    dl_iterate_phdr(note_object, &objects);
    const void* self = own_base();
    for (size_t i = 0; i < objects.count; ++i) {
        if (runtime_handle == nullptr) {
            runtime_handle = library_seen_from(objects.names[i], self);
        }
        free(objects.names[i]);
    }
    free(objects.names);
}

void* find_in_runtime(const char* symbol) {
    return runtime_handle != nullptr ? dlsym(runtime_handle, symbol) : nullptr;
}

void attach(const char* path, const Runtime& runtime, Attachment& answer) {
    answer.fits = false;
    void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        const char* problem = dlerror();
        snprintf(answer.text, sizeof answer.text, "%s", problem != nullptr ? problem : "it can't be loaded");
        return;
    }
    auto* const function = reinterpret_cast<Attach*>(dlsym(library, kAttach));
    if (function == nullptr) {
        snprintf(answer.text, sizeof answer.text, "it is not an observer");
    } else {
        function(runtime, answer);
    }
    if (!answer.fits) {
        dlclose(library);
    }
}

int is_library(const dirent* entry) {
    const size_t length = strlen(entry->d_name);
    return length > 3 && strcmp(entry->d_name + length - 3, ".so") == 0 ? 1 : 0;
}

// The first that fits, in reverse order of names.
bool attach_one_of(const char* folder, const Runtime& runtime, Observation& observation, char* text,
                   size_t size) {
    dirent** entries = nullptr;
    const int count = scandir(folder, &entries, is_library, alphasort);
    char reasons[768] = "";
    bool done = false;
    for (int i = count - 1; i >= 0; --i) {
        char path[kPathSize];
        if (!done && snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name) <
                         static_cast<int>(sizeof path)) {
            Attachment answer{};
            attach(path, runtime, answer);
            done = answer.fits;
            const size_t used = strlen(reasons);
            if (done) {
                observation = answer.observing;
                snprintf(text, size, "%.1000s%s%s", path, answer.text[0] != '\0' ? kWithout : "",
                         answer.text);
            } else {
                snprintf(reasons + used, sizeof reasons - used, "%s%s: %s", used != 0 ? "; " : "",
                         entries[i]->d_name, answer.text);
            }
        }
        free(entries[i]);
    }
    free(entries);
    if (!done) {
        snprintf(text, size, "no observer in %.200s fits %.200s: %s", folder, runtime_path,
                 count > 0 ? reasons : "there is none");
    }
    return done;
}

const char* missing_in(const Functions& originals) {
#define TTMEM_MISSING(name, symbol, result, parameters, arguments, needed) \
    if ((needed) && originals.name == nullptr) {                           \
        return #symbol;                                                    \
    }
    TTMEM_INTERPOSED(TTMEM_MISSING)
#undef TTMEM_MISSING
    return nullptr;
}

}  // namespace

Runtime find_runtime() {
    find_library();
    Runtime runtime{};
    runtime.find = find_in_runtime;
#define TTMEM_FIND(name, symbol, result, parameters, arguments, needed) \
    runtime.originals.name = reinterpret_cast<name##_function*>(find_in_runtime(#symbol));
    TTMEM_INTERPOSED(TTMEM_FIND)
#undef TTMEM_FIND
    return runtime;
}

bool choose_observer(const Runtime& runtime, Observation& observation, char* text, size_t size) {
    if (const char* missing = missing_in(runtime.originals)) {
        snprintf(text, size, "%.400s lacks: %s", runtime_handle != nullptr ? runtime_path : "its tt-metal",
                 missing);
        return false;
    }
    // Observers are in a folder next to this library.
    Dl_info self{};
    if (dladdr(reinterpret_cast<const void*>(&find_runtime), &self) == 0 || self.dli_fname == nullptr) {
        snprintf(text, size, "the observer can't find its own path");
        return false;
    }
    const char* slash = strrchr(self.dli_fname, '/');
    char folder[kPathSize];
    snprintf(folder, sizeof folder, "%.*s/%s",
             slash != nullptr ? static_cast<int>(slash - self.dli_fname) : 1,
             slash != nullptr ? self.dli_fname : ".", kFolder);
    return attach_one_of(folder, runtime, observation, text, size);
}

// For the report of 'ttmem run', whose folders are separated by colons.
void note_missing_facts(const char* facts) {
    const char* folders = base::secure_environment("TTMEM_RUN_DIR");
    while (folders != nullptr && *folders != '\0') {
        const char* const end = strchrnul(folders, ':');
        char path[kPathSize];
        char line[kTextSize];
        const int length = snprintf(line, sizeof line, "%s\n", facts);
        if (length < static_cast<int>(sizeof line) &&
            snprintf(path, sizeof path, "%.*s%s", static_cast<int>(end - folders), folders,
                     base::kMissingFacts) < static_cast<int>(sizeof path)) {
            const int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
            if (file >= 0) {
                [[maybe_unused]] const ssize_t written = write(file, line, static_cast<size_t>(length));
                close(file);
            }
        }
        folders = *end == ':' ? end + 1 : end;
    }
}

void observe(const Runtime& runtime, Observation& observation) {
    const char* wanted = base::secure_environment("TT_ALLOC_TRACKING_ENABLED");
    char text[kTextSize];
    if (wanted == nullptr || strcmp(wanted, "1") != 0) {
        return;
    }
    if (!choose_observer(runtime, observation, text, sizeof text)) {
        notice(text);
    } else if (const char* without = strstr(text, kWithout)) {
        note_missing_facts(without + strlen(kWithout));
    }
}

}  // namespace ttmem::observer
