// SPDX-License-Identifier: Apache-2.0
#include "sources/segments/discover.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <utility>

#include "base/pidfd.hpp"

namespace ttmem::sources::segments {

using base::Error;

namespace {

std::string link_of_segment() { return "/memfd:" + std::string(segment::kMemfdName) + " (deleted)"; }

// More are no honest process's: one that it is linked with, and one a plug-in.
constexpr size_t kMostSegmentsOfOne = 64;

// A file that is named like a segment, met under one process or several.
struct File {
    std::optional<segment::Reader> reader;  // until its owner takes it
    std::optional<Error> problem;
    bool has_owner = false;
    uint32_t first_other = 0;  // a holder that could have written it, and is not its owner
};

std::string path_of_descriptor(const base::Descriptor& file) {
    return "/proc/self/fd/" + std::to_string(file.get());
}

// Makes sure that what was located is a memfd of the name before it is opened: the link may lead elsewhere by now.
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

// The folder that lists the descriptors of a process. A main thread that has ended shows none, while others live on.
std::string descriptor_folder(const ProcessFolder& folder) {
    if (!folder.numbers_in("fd").empty()) {
        return "fd";
    }
    for (const uint32_t thread : folder.numbers_in("task")) {
        std::string path = "task/" + std::to_string(thread) + "/fd";
        if (!folder.numbers_in(path).empty()) {
            return path;
        }
    }
    return "fd";
}

class Search {
public:
    Search(const Proc& proc, const std::set<FileId>& known) : proc_(proc), known_(known) {}

    void look_at(uint32_t pid) {
        const auto folder = proc_.open(pid);
        if (!folder) {
            return;
        }
        const std::string descriptors = descriptor_folder(*folder);
        std::optional<Holder> holder;
        size_t seen = 0;
        for (const uint32_t number : folder->numbers_in(descriptors)) {
            const std::string path = descriptors + "/" + std::to_string(number);
            // Who holds it to read alone is a reader, and may hold those of the whole host.
            if (folder->read_link(path) != link_of_segment() || folder->is_read_only(path)) {
                continue;
            }
            if (++seen > kMostSegmentsOfOne) {
                found_.skipped.push_back({pid, "segments are too many, the rest skipped", false});
                return;
            }
            if (!holder && !(holder = identify(pid, *folder))) {
                return;
            }
            look_at(*holder, folder->locate(path));
        }
    }

    // When every holder is known: what was nobody's own.
    Found finish() {
        std::set<uint32_t> told;  // one line a process, however many it holds
        for (const auto& [id, file] : files_) {
            const bool is_unfinished = file.problem && file.problem->code == Error::Code::unfinished;
            if (file.has_owner || is_unfinished || !told.insert(file.first_other).second) {
                continue;
            }
            const std::string why =
                file.problem ? file.problem->text
                             : "is not its own (it names process " + std::to_string(file.reader->pid()) + ")";
            found_.skipped.push_back({file.first_other, "segment " + why + ", skipped", !file.problem});
        }
        return std::move(found_);
    }

private:
    struct Holder {
        census::Identity identity;
        base::Descriptor handle;
    };

    // The handle comes first: what the folder tells after that is of a process that lived on, so both are of the same.
    std::optional<Holder> identify(uint32_t pid, const ProcessFolder& folder) const {
        base::Descriptor handle = base::open_process(static_cast<pid_t>(pid));
        auto identity = handle ? proc_.identify(pid, folder) : std::nullopt;
        return identity ? std::optional(Holder{std::move(*identity), std::move(handle)}) : std::nullopt;
    }

    void look_at(const Holder& holder, const base::Descriptor& located) {
        struct stat info {};
        if (!located || !is_named_like_a_segment(located, info)) {
            return;
        }
        const FileId id{info.st_dev, info.st_ino};
        if (known_.contains(id)) {
            return;
        }
        const auto [place, is_new] = files_.try_emplace(id);
        File& file = place->second;
        if (is_new) {
            if (auto reader = read_segment(located)) {
                file.reader = std::move(*reader);
            } else {
                file.problem = std::move(reader.error());
            }
        }
        if (file.reader && is_owner(holder.identity, *file.reader)) {
            file.has_owner = true;
            found_.attached.push_back({id,
                                       base::Descriptor(fcntl(holder.handle.get(), F_DUPFD_CLOEXEC, 0)),
                                       {holder.identity, census::State::live, std::move(*file.reader)}});
            file.reader.reset();
        } else if (file.first_other == 0) {
            file.first_other = holder.identity.pid;
        }
    }

    const Proc& proc_;
    const std::set<FileId>& known_;
    Found found_;
    std::map<FileId, File> files_;
};

}  // namespace

Found discover(const Proc& proc, const std::set<FileId>& known) {
    Search search(proc, known);
    for (const uint32_t pid : proc.pids()) {
        search.look_at(pid);
    }
    return search.finish();
}

census::Census census_of(Found found) {
    census::Census census;
    for (Attached& attached : found.attached) {
        census.processes.push_back(std::move(attached.process));
    }
    census.skipped = std::move(found.skipped);
    return census;
}

}  // namespace ttmem::sources::segments
