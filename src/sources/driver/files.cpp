// SPDX-License-Identifier: Apache-2.0
#include "sources/driver/files.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <memory>

namespace ttmem::sources::driver {

namespace {

constexpr size_t kMostOfAValue = 4096;  // the kernel returns at most one page
constexpr size_t kMostOfAWord = 64;

bool is_letter_or_digit(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

}  // namespace

std::optional<Folder> Folder::open(const std::string& path) {
    base::Descriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    return folder ? std::optional(Folder(std::move(folder))) : std::nullopt;
}

std::optional<Folder> Folder::below(const std::string& name) const {
    base::Descriptor folder(openat(folder_.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    return folder ? std::optional(Folder(std::move(folder))) : std::nullopt;
}

std::optional<std::string> Folder::read(const std::string& name, size_t limit) const {
    // Check the type before opening: opening a device node has side effects on the device.
    struct stat info {};
    if (fstatat(folder_.get(), name.c_str(), &info, 0) != 0 || !S_ISREG(info.st_mode)) {
        return std::nullopt;
    }
    const base::Descriptor file(openat(folder_.get(), name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    std::string text;
    std::array<char, 4096> chunk{};
    ssize_t got = file ? 1 : -1;
    while (got > 0 && text.size() <= limit) {
        got = ::read(file.get(), chunk.data(), chunk.size());
        text.append(chunk.data(), static_cast<size_t>(std::max<ssize_t>(got, 0)));
    }
    return got == 0 && text.size() <= limit ? std::optional(std::move(text)) : std::nullopt;
}

std::vector<std::string> Folder::names(size_t most) const {
    // Open the folder again: two iterations over the same descriptor would share their position.
    const int file = openat(folder_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const std::unique_ptr<DIR, int (*)(DIR*)> entries(file < 0 ? nullptr : fdopendir(file), closedir);
    std::vector<std::string> result;
    const dirent* entry = nullptr;
    while (entries && result.size() < most && (entry = readdir(entries.get())) != nullptr) {
        result.emplace_back(entry->d_name);
    }
    std::sort(result.begin(), result.end());
    return result;
}

std::string Folder::own_name() const {
    std::array<char, PATH_MAX> target{};
    const std::string link = "/proc/self/fd/" + std::to_string(folder_.get());
    const ssize_t length = readlink(link.c_str(), target.data(), target.size());
    const std::string_view path(target.data(), static_cast<size_t>(std::max<ssize_t>(length, 0)));
    return std::string(path.substr(path.rfind('/') + 1));
}

bool Folder::is_same(const Folder& other) const {
    struct stat mine {};
    struct stat others {};
    return fstat(folder_.get(), &mine) == 0 && fstat(other.folder_.get(), &others) == 0 &&
           mine.st_dev == others.st_dev && mine.st_ino == others.st_ino;
}

std::optional<uint64_t> parse_hex(std::string_view text) {
    if (text.starts_with("0x") || text.starts_with("0X")) {
        text.remove_prefix(2);
    }
    uint64_t value = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
    return problem == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

std::optional<std::string> read_line(const Folder& folder, const std::string& name) {
    auto text = folder.read(name, kMostOfAValue);
    if (text && text->ends_with('\n')) {
        text->pop_back();
    }
    return text && !text->empty() ? text : std::nullopt;
}

std::optional<uint64_t> read_hex(const Folder& folder, const std::string& name) {
    const auto line = read_line(folder, name);
    return line ? parse_hex(*line) : std::nullopt;
}

std::optional<std::string> read_word(const Folder& folder, const std::string& name) {
    auto line = read_line(folder, name);
    const bool is_word =
        line && line->size() <= kMostOfAWord && std::all_of(line->begin(), line->end(), [](char c) {
            return is_letter_or_digit(c) || c == '.' || c == '-' || c == '_';
        });
    return is_word ? line : std::nullopt;
}

}  // namespace ttmem::sources::driver
