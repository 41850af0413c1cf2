// SPDX-License-Identifier: Apache-2.0
#include "tests/support/own_segment.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/wait.hpp"

namespace ttmem::test {

namespace {

constexpr char kLink[] = "/memfd:ttmem (deleted)";

[[noreturn]] void give_up(const std::string& text) {
    std::cout << "FAILED: " << text << std::endl;
    _exit(1);
}

std::vector<std::string> segment_links(const std::string& directory) {
    std::vector<std::string> result;
    const std::unique_ptr<DIR, int (*)(DIR*)> entries(opendir(directory.c_str()), closedir);
    while (const dirent* entry = entries ? readdir(entries.get()) : nullptr) {
        const std::string path = directory + "/" + entry->d_name;
        char target[64] = {};
        const ssize_t length = readlink(path.c_str(), target, sizeof target);
        if (length > 0 && std::string(target, static_cast<size_t>(length)) == kLink) {
            result.push_back(path);
        }
    }
    return result;
}

}  // namespace

std::optional<Mapping> own_mapping() {
    std::ifstream maps("/proc/self/maps");
    std::string line;
    while (std::getline(maps, line)) {
        if (line.find("/memfd:ttmem") != std::string::npos) {
            char* dash = nullptr;
            const uintptr_t start = std::strtoul(line.c_str(), &dash, 16);
            const uintptr_t end = std::strtoul(dash + 1, nullptr, 16);
            return Mapping{reinterpret_cast<const void*>(start), end - start};
        }
    }
    return std::nullopt;
}

segment::Reader own_reader() {
    const auto mapping = own_mapping();
    if (!mapping) {
        give_up("this process has no segment");
    }
    auto reader = segment::Reader::over(mapping->start, mapping->size);
    if (!reader) {
        give_up("the segment of this process " + reader.error().text);
    }
    return std::move(*reader);
}

unsigned count_own_descriptors() { return static_cast<unsigned>(segment_links("/proc/self/fd").size()); }

base::Descriptor open_segment_of(pid_t pid) {
    for (const std::string& path : segment_links("/proc/" + std::to_string(pid) + "/fd")) {
        base::Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
        segment::Header header{};
        const auto got = pread(file.get(), static_cast<void*>(&header), sizeof header, 0);
        if (got == static_cast<ssize_t>(sizeof header) && header.magic.load() == segment::kMagic &&
            header.pid == static_cast<uint32_t>(pid)) {
            return file;
        }
    }
    return {};
}

base::Descriptor open_any_segment_of(pid_t pid) {
    for (const std::string& path : segment_links("/proc/" + std::to_string(pid) + "/fd")) {
        if (base::Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC)); file) {
            return file;
        }
    }
    return {};
}

segment::Reader reader_of(pid_t pid) {
    base::Descriptor file;
    wait_until([&] { return static_cast<bool>(file = open_segment_of(pid)); });
    if (!file) {
        give_up("process " + std::to_string(pid) + " has no segment");
    }
    auto reader = segment::Reader::open(std::move(file));
    if (!reader) {
        give_up("the segment of process " + std::to_string(pid) + " " + reader.error().text);
    }
    return std::move(*reader);
}

}  // namespace ttmem::test
