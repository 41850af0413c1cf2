// SPDX-License-Identifier: Apache-2.0
#include "observer/places_file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

namespace ttmem::observer {

namespace {

constexpr size_t kLargestPlace = 4096;  // no object of the runtime is larger

struct FileCloser {
    void operator()(FILE* file) const { std::fclose(file); }
};

// Places by name. Each may be assigned once.
class NamedPlaces {
public:
    explicit NamedPlaces(Places& places) {
        places.device.emplace();
#define TTMEM_ENTRY(name) entries_.push_back({#name, &places.device->name, false});
        TTMEM_DEVICE_SLOTS(TTMEM_ENTRY)
#undef TTMEM_ENTRY
#define TTMEM_ENTRY(name, usual) entries_.push_back({#name, &places.name, false});
        TTMEM_FIELDS(TTMEM_ENTRY)
#undef TTMEM_ENTRY
    }

    bool assign(std::string_view name, size_t value) {
        for (NamedPlace& entry : entries_) {
            if (name == entry.name) {
                const bool is_good = !entry.is_assigned && value <= kLargestPlace;
                *entry.place = value;
                entry.is_assigned = true;
                return is_good;
            }
        }
        return false;
    }

    bool are_complete() const {
        return std::all_of(entries_.begin(), entries_.end(),
                           [](const NamedPlace& entry) { return entry.is_assigned; });
    }

private:
    struct NamedPlace {
        std::string_view name;
        size_t* place;
        bool is_assigned;
    };
    std::vector<NamedPlace> entries_;
};

// "name value" and the end of the line.
bool assign_line(NamedPlaces& places, const char* line) {
    const char* const space = std::strchr(line, ' ');
    if (space == nullptr || space[1] < '0' || space[1] > '9') {
        return false;
    }
    char* end = nullptr;
    const unsigned long value = std::strtoul(space + 1, &end, 10);
    return *end == '\n' && places.assign({line, static_cast<size_t>(space - line)}, value);
}

bool is_trusted(FILE* file) {
    struct stat status {};
    return fstat(fileno(file), &status) == 0 && (status.st_uid == 0 || status.st_uid == geteuid()) &&
           (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

}  // namespace

const char* read_places(const char* path, Places& places) {
    const std::unique_ptr<FILE, FileCloser> file(std::fopen(path, "re"));
    if (file == nullptr) {
        return "it can't be read";
    }
    if (!is_trusted(file.get())) {
        return "it belongs to another user, or others may write to it";
    }
    NamedPlaces named(places);
    char line[4200];
    while (std::fgets(line, sizeof line, file.get()) != nullptr) {
        if (line[0] != '#' && !assign_line(named, line)) {
            return "it was made by another version of ttmem: run 'ttmem observer build' again";
        }
    }
    return named.are_complete() ? nullptr
                                : "it was made by another version of ttmem: run 'ttmem observer build' again";
}

}  // namespace ttmem::observer
