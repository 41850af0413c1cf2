// SPDX-License-Identifier: Apache-2.0
#include "sources/proc.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <string_view>

#include "base/proc_stat.hpp"
#include "base/text.hpp"
#include "sources/container.hpp"

namespace ttmem::sources {

namespace {

constexpr uint64_t kNanoseconds = 1'000'000'000;

std::optional<std::string> read_at(int folder, const std::string& path) {
    const base::Descriptor file(openat(folder, path.c_str(), O_RDONLY | O_CLOEXEC));
    std::string text;
    std::array<char, 4096> chunk{};
    ssize_t got = file ? 1 : -1;
    while (got > 0) {
        got = ::read(file.get(), chunk.data(), chunk.size());
        text.append(chunk.data(), static_cast<size_t>(std::max<ssize_t>(got, 0)));
    }
    return got < 0 ? std::nullopt : std::optional(std::move(text));
}

template <class Number>
std::optional<Number> parse(std::string_view text) {
    Number value{};
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    return problem == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

std::vector<uint32_t> numbers_at(int folder, const std::string& path) {
    const int file = openat(folder, path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const std::unique_ptr<DIR, int (*)(DIR*)> entries(file < 0 ? nullptr : fdopendir(file), closedir);
    std::vector<uint32_t> result;
    while (const dirent* entry = entries ? readdir(entries.get()) : nullptr) {
        if (const auto number = parse<uint32_t>(entry->d_name)) {
            result.push_back(*number);
        }
    }
    std::sort(result.begin(), result.end());
    return result;
}

// The words after "Name:" on the line that starts with it.
std::vector<std::string_view> words_of_line(std::string_view text, std::string_view name) {
    std::vector<std::string_view> words;
    while (!text.empty() && !text.starts_with(name)) {
        const size_t end = text.find('\n');
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    text.remove_prefix(std::min(text.size(), name.size()));
    text = text.substr(0, text.find('\n'));
    for (size_t start = 0; (start = text.find_first_not_of(" \t", start)) != std::string_view::npos;) {
        const size_t end = std::min(text.find_first_of(" \t", start), text.size());
        words.push_back(text.substr(start, end - start));
        start = end;
    }
    return words;
}

}  // namespace

std::string user_name(uint32_t uid) {
    std::array<char, 4096> buffer{};
    passwd entry{};
    passwd* found = nullptr;
    const bool is_known =
        getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr;
    return is_known ? base::printable(found->pw_name) : std::to_string(uid);
}

std::optional<std::string> ProcessFolder::read(const std::string& path) const {
    return read_at(folder_.get(), path);
}

bool ProcessFolder::is_denied(const std::string& path) const {
    const base::Descriptor file(openat(folder_.get(), path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    return !file && (errno == EACCES || errno == EPERM);
}

std::optional<std::string> ProcessFolder::read_link(const std::string& path) const {
    std::array<char, 256> target{};  // a longer target is not a segment
    const ssize_t length = readlinkat(folder_.get(), path.c_str(), target.data(), target.size());
    return length < 0 ? std::nullopt : std::optional(std::string(target.data(), static_cast<size_t>(length)));
}

bool ProcessFolder::refers_to(const std::string& path, dev_t device, ino_t inode) const {
    struct stat info {};
    return fstatat(folder_.get(), path.c_str(), &info, 0) == 0 && info.st_dev == device &&
           info.st_ino == inode;
}

std::optional<uint32_t> ProcessFolder::owner() const {
    struct stat info {};
    return fstat(folder_.get(), &info) == 0 ? std::optional<uint32_t>(info.st_uid) : std::nullopt;
}

bool ProcessFolder::for_each_line(const std::string& path,
                                  const std::function<bool(std::string_view)>& take) const {
    const base::Descriptor file(openat(folder_.get(), path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    std::vector<char> buffer(size_t{64} << 10);
    size_t kept = 0;  // the beginning of a line whose end has not been read yet
    while (file) {
        const ssize_t got = ::read(file.get(), buffer.data() + kept, buffer.size() - kept);
        if (got <= 0) {
            return got == 0;
        }
        std::string_view text(buffer.data(), kept + static_cast<size_t>(got));
        for (size_t end = 0; (end = text.find('\n')) != std::string_view::npos; text.remove_prefix(end + 1)) {
            if (!take(text.substr(0, end))) {
                return true;
            }
        }
        kept = text.size() == buffer.size() ? 0 : text.size();  // no line of the kernel's is that long
        std::memmove(buffer.data(), text.data(), kept);
    }
    return false;
}

std::vector<uint32_t> ProcessFolder::numbers_in(const std::string& path) const {
    return numbers_at(folder_.get(), path);
}

bool ProcessFolder::is_read_only(const std::string& path) const {
    struct stat info {};
    return fstatat(folder_.get(), path.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 &&
           (info.st_mode & S_IWUSR) == 0;
}

base::Descriptor ProcessFolder::locate(const std::string& path) const {
    return base::Descriptor(openat(folder_.get(), path.c_str(), O_PATH | O_CLOEXEC));
}

Proc::Proc(std::string root) : root_(std::move(root)) {
    if (const auto stat = read_at(AT_FDCWD, root_ + "/stat")) {
        const auto words = words_of_line(*stat, "btime");
        boot_time_ns_ = words.empty() ? 0 : parse<uint64_t>(words[0]).value_or(0) * kNanoseconds;
    }
}

std::vector<uint32_t> Proc::pids() const { return numbers_at(AT_FDCWD, root_); }

std::optional<ProcessFolder> Proc::open(uint32_t pid) const {
    const std::string path = root_ + "/" + std::to_string(pid);
    base::Descriptor folder(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    return folder ? std::optional<ProcessFolder>(std::move(folder)) : std::nullopt;
}

namespace {

std::optional<Proc::Credentials> parse_credentials(const std::string& stat, const std::string& status) {
    const auto uids = words_of_line(status, "Uid:");  // real, effective, saved, file system
    const auto uid = parse<uint32_t>(uids.size() < 3 ? "" : uids[1]);
    const uint64_t start_time = base::parse_start_time(stat.data(), stat.size());
    if (!uid || start_time == 0) {
        return std::nullopt;
    }
    return Proc::Credentials{start_time, *uid, uids[0] == uids[1] && uids[1] == uids[2]};
}

}  // namespace

std::optional<Proc::Credentials> Proc::credentials(const ProcessFolder& folder) const {
    const auto stat = folder.read("stat");
    const auto status = folder.read("status");
    return stat && status ? parse_credentials(*stat, *status) : std::nullopt;
}

std::optional<census::Identity> Proc::identify(uint32_t pid, const ProcessFolder& folder) const {
    const auto stat = folder.read("stat");
    const auto status = folder.read("status");
    const auto comm = folder.read("comm");
    if (!stat || !status || !comm) {
        return std::nullopt;
    }
    const auto credentials = parse_credentials(*stat, *status);
    const auto inner_pids = words_of_line(*status, "NSpid:");  // the innermost namespace is last
    const auto inner_pid =
        parse<uint32_t>(inner_pids.empty() ? std::to_string(pid) : std::string(inner_pids.back()));
    if (!credentials || !inner_pid) {
        return std::nullopt;
    }
    census::Identity identity;
    identity.pid = pid;
    identity.start_time = credentials->start_time;
    const auto ticks_per_second = static_cast<uint64_t>(sysconf(_SC_CLK_TCK));
    identity.start_time_ns = boot_time_ns_ + identity.start_time * (kNanoseconds / ticks_per_second);

    identity.uid = credentials->uid;
    identity.has_one_uid = credentials->has_one_uid;
    identity.user = user_name(identity.uid);
    identity.inner_pid = *inner_pid;
    identity.comm = base::printable(std::string_view(*comm).substr(0, comm->find('\n')));
    if (const auto cgroup = folder.read("cgroup")) {
        identity.container = container_of(*cgroup);
    }
    return identity;
}

}  // namespace ttmem::sources
