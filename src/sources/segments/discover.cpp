// SPDX-License-Identifier: Apache-2.0
#include "sources/segments/discover.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstring>
#include <map>
#include <utility>

#include "base/pidfd.hpp"
#include "base/proc_stat.hpp"
#include "base/time.hpp"

namespace ttmem::sources::segments {

using base::Error;

namespace {

// An honest process has one segment of its own and one per plug-in, which is far fewer.
constexpr size_t kMostSegmentsOfOne = 64;

// With more descriptors, the map of the memory answers in one read whether there is a segment at all.
constexpr size_t kManyDescriptors = 256;

// A file with the name of a segment, open in one or more processes.
struct File {
    std::optional<segment::Reader> reader;  // moved out when the owner is found
    std::optional<Error> problem;
    bool has_owner = false;
    uint32_t owner = 0;         // uid
    uint32_t first_other = 0;   // pid of the first holder with write access that is not the owner
    bool is_passed_on = false;  // it names that process, which belongs to another user
};

std::string path_of_descriptor(const base::Descriptor& file) {
    return "/proc/self/fd/" + std::to_string(file.get());
}

// Checks the type and name of the located file before it is opened: the link may have changed since it was read.
bool is_named_like_a_segment(const base::Descriptor& located, struct stat& info) {
    char target[64] = {};
    const ssize_t length = readlink(path_of_descriptor(located).c_str(), target, sizeof target);
    return fstat(located.get(), &info) == 0 && S_ISREG(info.st_mode) && length > 0 &&
           std::string_view(target, static_cast<size_t>(length)) == link_of_segment();
}

base::Expected<segment::Reader> read_segment(const base::Descriptor& located) {
    base::Descriptor file(::open(path_of_descriptor(located).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!file) {
        return base::error(Error::Code::failed, std::string("can't be opened: ") + strerror(errno));
    }
    return segment::Reader::open(std::move(file));
}

struct OpenDescriptors {
    std::string folder;
    std::vector<uint32_t> numbers;
};

// If the main thread has ended, its own folder is empty while other threads live.
OpenDescriptors descriptors_of_threads(const ProcessFolder& folder) {
    for (const uint32_t thread : folder.numbers_in("task")) {
        std::string path = "task/" + std::to_string(thread) + "/fd";
        if (auto numbers = folder.numbers_in(path); !numbers.empty()) {
            return {std::move(path), std::move(numbers)};
        }
    }
    return {};
}

// Whether a process has a segment in its memory that it may write to. True if that can't be found out.
bool has_segment_in_memory(const ProcessFolder& folder) {
    bool found = false;
    bool has_memory = false;
    const bool is_read = folder.for_each_line("maps", [&](std::string_view line) {
        has_memory = true;
        const size_t rights = line.find(' ');
        found = line.ends_with(link_of_segment()) && rights + 2 < line.size() && line[rights + 2] == 'w';
        return !found;
    });
    return found || !is_read || !has_memory;
}

bool is_kernel_thread(const std::string& stat) {
    constexpr uint64_t kKernelThread = 0x00200000;  // PF_KTHREAD of the kernel
    return (base::stat_number(stat.data(), stat.size(), base::StatField::flags) & kKernelThread) != 0;
}

class SegmentSearch {
public:
    SegmentSearch(const Proc& proc, const std::set<FileId>& known) : proc_(proc), known_(known) {}

    void scan_process(uint32_t pid) {
        const auto folder = proc_.open(pid);
        if (!folder) {
            return;
        }
        OpenDescriptors open{"fd", folder->numbers_in("fd")};
        if (open.numbers.empty()) {
            const std::string stat = folder->read("stat").value_or("");
            const bool has_ended = base::stat_state(stat.data(), stat.size()) == 'Z';  // its main thread
            if (stat.empty() || is_kernel_thread(stat)) {
                return;
            }
            if (!has_ended && folder->is_denied("fd")) {
                found_.unread.push_back(pid);
                return;
            }
            open = descriptors_of_threads(*folder);
        }
        if (open.numbers.size() > kManyDescriptors && !has_segment_in_memory(*folder)) {
            return;
        }
        std::optional<SegmentHolder> holder;
        size_t seen = 0;
        for (const uint32_t number : open.numbers) {
            const std::string path = open.folder + "/" + std::to_string(number);
            // A process with read-only access is a reader, and may hold the segments of the whole host.
            if (folder->read_link(path) != link_of_segment() || folder->is_read_only(path)) {
                continue;
            }
            if (++seen > kMostSegmentsOfOne) {
                found_.omissions.push_back({pid, census::Reason::too_many_segments});
                return;
            }
            const base::Descriptor located = folder->locate(path);
            struct stat info {};
            // Most are known. To identify a process costs more than all the rest.
            if (!located || !is_named_like_a_segment(located, info) ||
                known_.contains({info.st_dev, info.st_ino})) {
                continue;
            }
            if (!holder && !(holder = identify(pid, *folder))) {
                return;
            }
            add_file(*holder, located, info);
        }
    }

    // Call after all processes were scanned. Reports files that have no owner.
    FoundSegments finish() {
        std::set<uint32_t> reported;  // at most one line per process
        for (const auto& [id, file] : files_) {
            const bool is_unfinished = file.problem && file.problem->code == Error::Code::unfinished;
            if (file.has_owner || is_unfinished || !reported.insert(file.first_other).second) {
                continue;
            }
            assert(file.problem || file.reader);
            const std::string why =
                file.problem ? file.problem->text
                : file.is_passed_on
                    ? "was made by user " + std::to_string(file.owner) + ", not by its own"
                    : "is not its own (it names process " + std::to_string(file.reader->pid()) + ")";
            found_.omissions.push_back(
                {file.first_other, census::Reason::segment_skipped, why, !file.problem, file.is_passed_on});
        }
        return std::move(found_);
    }

private:
    struct SegmentHolder {
        census::Identity identity;
        base::Descriptor handle;
    };

    // Opens the handle before reading the folder. If the folder is still readable, both refer to the same process.
    std::optional<SegmentHolder> identify(uint32_t pid, const ProcessFolder& folder) const {
        base::Descriptor handle = base::open_process(static_cast<pid_t>(pid));
        auto identity = handle ? proc_.identify(pid, folder) : std::nullopt;
        return identity ? std::optional(SegmentHolder{std::move(*identity), std::move(handle)})
                        : std::nullopt;
    }

    void add_file(const SegmentHolder& holder, const base::Descriptor& located, const struct stat& info) {
        const FileId id{info.st_dev, info.st_ino};
        const auto [place, is_new] = files_.try_emplace(id);
        File& file = place->second;
        if (is_new) {
            file.owner = info.st_uid;
            if (auto reader = read_segment(located)) {
                file.reader = std::move(*reader);
            } else {
                file.problem = std::move(reader.error());
            }
        }
        const bool is_named = file.reader && is_owner(holder.identity, *file.reader);
        const Ownership ownership = ownership_of(holder.identity, file.owner);
        if (is_named && ownership != Ownership::foreign) {
            file.has_owner = true;
            census::Process process(holder.identity, census::ProcessState::live, std::move(*file.reader));
            process.has_changed_user = ownership == Ownership::changed_user;
            found_.attached.push_back({{id, file.owner},
                                       base::Descriptor(fcntl(holder.handle.get(), F_DUPFD_CLOEXEC, 0)),
                                       std::move(process)});
            file.reader.reset();
        } else if (file.first_other == 0 || is_named) {
            file.first_other = holder.identity.pid;
            file.is_passed_on = is_named;
        }
    }

    const Proc& proc_;
    const std::set<FileId>& known_;
    FoundSegments found_;
    std::map<FileId, File> files_;
};

}  // namespace

FoundSegments Discovery::scan(const std::set<FileId>& known) {
    std::map<uint32_t, std::vector<uint32_t>> pids_by_user;
    for (const uint32_t pid : proc_.pids()) {
        const auto folder = proc_.open(pid);
        if (const auto user = folder ? folder->owner() : std::nullopt) {
            pids_by_user[*user].push_back(pid);
        }
    }
    SegmentSearch search(proc_, known);
    std::map<uint32_t, uint32_t> next_pid;
    for (auto& [user, pids] : pids_by_user) {
        const auto resume = next_pid_.find(user);
        if (resume != next_pid_.end()) {
            std::rotate(pids.begin(), std::lower_bound(pids.begin(), pids.end(), resume->second), pids.end());
        }
        const auto share = static_cast<uint64_t>(std::chrono::nanoseconds(time_per_user_).count());
        const uint64_t end_of_work = base::processor_ns() + share;
        const uint64_t end = base::monotonic_ns() + kWaitingFactor * share;
        for (const uint32_t pid : pids) {
            if (base::processor_ns() >= end_of_work || base::monotonic_ns() >= end) {
                next_pid.emplace(user, pid);
                break;
            }
            search.scan_process(pid);
        }
    }
    FoundSegments found = search.finish();
    std::sort(found.unread.begin(), found.unread.end());
    for (const auto& [user, pid] : next_pid) {
        found.omissions.push_back({0, census::Reason::scan_incomplete, std::to_string(user)});
    }
    found.is_complete = next_pid.empty();
    next_pid_ = std::move(next_pid);
    return found;
}

FoundSegments discover(const Proc& proc, const std::set<FileId>& known) {
    return Discovery(proc).scan(known);
}

census::Census census_of(FoundSegments found) {
    census::Census census;
    for (AttachedSegment& attached : found.attached) {
        census.processes.push_back(std::move(attached.process));
    }
    // A scan goes from user to user.
    std::stable_sort(
        census.processes.begin(), census.processes.end(),
        [](const census::Process& a, const census::Process& b) { return a.identity.pid < b.identity.pid; });
    census.omissions = std::move(found.omissions);
    census.unread = std::move(found.unread);
    return census;
}

}  // namespace ttmem::sources::segments
