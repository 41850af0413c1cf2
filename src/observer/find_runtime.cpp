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
#include "base/places_folder.hpp"
#include "base/run_folder.hpp"
#include "observer/notice.hpp"

namespace ttmem::observer {

namespace {

constexpr char kLandmark[] = "_ZN2tt8tt_metal12GraphTracker14track_allocateEPKNS0_6BufferE";
constexpr char kFolder[] = "ttmem-observer";  // beside the preloaded library
constexpr char kObserver[] = "any.so";
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

int is_places(const dirent* entry) {
    const size_t length = strlen(entry->d_name);
    const size_t suffix = strlen(base::kPlacesSuffix);
    return length > suffix && strcmp(entry->d_name + length - suffix, base::kPlacesSuffix) == 0 ? 1 : 0;
}

// Whether the headers of the places are in a folder in which the runtime is too. The file begins with "# <folder>".
bool are_of_runtime(const char* path) {
    char line[kPathSize] = "";
    FILE* const file = fopen(path, "re");
    if (file != nullptr) {
        if (fgets(line, sizeof line, file) == nullptr) {
            line[0] = '\0';
        }
        fclose(file);
    }
    line[strcspn(line, "\n")] = '\0';
    char real[kPathSize];
    const size_t length = strlen(line);
    return length > 2 && realpath(runtime_path, real) != nullptr &&
           strncmp(line + 2, real, length - 2) == 0 && real[length - 2] == '/';
}

// The observer, asked with one file of places after another.
class Candidates {
public:
    Candidates(const Runtime& runtime, Attach* attach, const char* path, ChosenObserver& choice)
        : runtime_(runtime), attach_(attach), path_(path), choice_(choice) {}

    void try_places(const char* places) {
        if (choice_.fits) {
            return;
        }
        runtime_.places = places;
        Attachment answer{};
        attach_(runtime_, answer);
        if (answer.fits) {
            choice_.fits = true;
            choice_.observation = answer.observing;
            snprintf(choice_.missing_facts, sizeof choice_.missing_facts, "%s", answer.missing_facts);
            snprintf(choice_.text, sizeof choice_.text, "%.600s%s%.600s", path_,
                     places != nullptr ? " with " : "", places != nullptr ? places : "");
            return;
        }
        const size_t used = strlen(reasons_);
        snprintf(reasons_ + used, sizeof reasons_ - used, "%s%.300s%s%s", used != 0 ? "; " : "",
                 places != nullptr ? places : "", places != nullptr ? ": " : "", answer.problem);
    }

    // Those of this runtime, or those of others.
    void try_folder(const char* folder, bool of_runtime) {
        dirent** entries = nullptr;
        const int count = choice_.fits ? 0 : scandir(folder, &entries, is_places, alphasort);
        for (int i = 0; i < count; ++i) {
            char path[kPathSize];
            const int length = snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
            if (length < static_cast<int>(sizeof path) && are_of_runtime(path) == of_runtime) {
                try_places(path);
            }
            free(entries[i]);
        }
        free(entries);
    }

    const char* reasons() const { return reasons_; }

private:
    Runtime runtime_;
    Attach* const attach_;
    const char* const path_;
    ChosenObserver& choice_;
    char reasons_[768] = "";
};

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

void choose_observer(const Runtime& runtime, ChosenObserver& choice) {
    choice = {};
    const char* library = runtime_handle != nullptr ? runtime_path : "its tt-metal";
    if (const char* missing = missing_in(runtime.originals)) {
        snprintf(choice.text, sizeof choice.text, "%.400s lacks: %s", library, missing);
        return;
    }
    // The observer is in a folder next to this library.
    Dl_info self{};
    if (dladdr(reinterpret_cast<const void*>(&find_runtime), &self) == 0 || self.dli_fname == nullptr) {
        snprintf(choice.text, sizeof choice.text, "the observer can't find its own path");
        return;
    }
    const char* slash = strrchr(self.dli_fname, '/');
    char folder[kPathSize];
    char path[kPathSize + sizeof kObserver];
    snprintf(folder, sizeof folder, "%.*s/%s",
             slash != nullptr ? static_cast<int>(slash - self.dli_fname) : 1,
             slash != nullptr ? self.dli_fname : ".", kFolder);
    snprintf(path, sizeof path, "%s/%s", folder, kObserver);
    void* observer = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    auto* const attach = observer != nullptr ? reinterpret_cast<Attach*>(dlsym(observer, kAttach)) : nullptr;
    if (attach == nullptr) {
        const char* problem = dlerror();
        snprintf(choice.text, sizeof choice.text, "can't load the observer: %.1300s",
                 problem != nullptr ? problem : path);
        return;
    }
    char own[kPathSize];
    const bool has_own = base::folder_of_places(own, sizeof own, base::secure_environment);
    Candidates candidates(runtime, attach, path, choice);
    constexpr bool kOrder[] = {true, false};
    for (const bool of_runtime : kOrder) {
        if (has_own) {
            candidates.try_folder(own, of_runtime);
        }
        candidates.try_folder(folder, of_runtime);
        // Places that were made for another tt-metal come last.
        if (of_runtime) {
            candidates.try_places(nullptr);
        }
    }
    if (!choice.fits) {
        dlclose(observer);
        snprintf(choice.text, sizeof choice.text, "%.400s does not fit %.200s: %s", path, runtime_path,
                 candidates.reasons());
    }
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
    if (wanted == nullptr || strcmp(wanted, "1") != 0) {
        return;
    }
    ChosenObserver choice{};
    choose_observer(runtime, choice);
    if (!choice.fits) {
        notice(choice.text);
        return;
    }
    observation = choice.observation;
    if (choice.missing_facts[0] != '\0') {
        note_missing_facts(choice.missing_facts);
    }
}

}  // namespace ttmem::observer
