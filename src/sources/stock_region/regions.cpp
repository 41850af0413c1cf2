// SPDX-License-Identifier: Apache-2.0
#include "sources/stock_region/regions.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <map>
#include <memory>
#include <span>
#include <utility>

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "sources/stock_region/liveness.hpp"
#include "sources/stock_region/region.hpp"
#include "sources/stock_region/settle.hpp"

namespace ttmem::sources::stock_region {

using base::Descriptor;
using base::Error;

namespace {

constexpr std::string_view kNameStart = "tt_device_";
constexpr std::string_view kNameEnd = "_memory";

// A region, and who may write it.
struct Source {
    uint64_t asic_id = 0;
    uint32_t owner = 0;
    bool is_open_to_others = false;
    Region region;
};

Problem problem_of(uint64_t asic_id, const std::string& text) {
    return {asic_id, "stock region of ASIC " + std::to_string(asic_id) + ": " + text};
}

bool read_all(const Descriptor& file, std::span<unsigned char> into, size_t offset) {
    while (!into.empty()) {
        const ssize_t got = pread(file.get(), into.data(), into.size(), static_cast<off_t>(offset));
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            return false;
        }
        into = into.subspan(static_cast<size_t>(got));
        offset += static_cast<size_t>(got);
    }
    return true;
}

// By pread, never by mmap: a file that is cut off while it is mapped kills who looks at it.
base::Expected<Source> read_region(const Descriptor& file, uint64_t asic_id) {
    struct stat info {};
    if (fstat(file.get(), &info) != 0) {
        return base::error(Error::Code::failed, std::strerror(errno));
    }
    if (!S_ISREG(info.st_mode)) {
        return base::error(Error::Code::refused, "is no regular file");
    }
    if (auto size = check_size(static_cast<uint64_t>(info.st_size)); !size) {
        return tl::unexpected(std::move(size.error()));
    }
    const auto copy = copy_settled(
        [&](std::span<unsigned char> into, size_t offset) { return read_all(file, into, offset); });
    if (!copy) {
        return tl::unexpected(copy.error());
    }
    auto region = parse(*copy);
    if (!region) {
        return tl::unexpected(std::move(region.error()));
    }
    if (region->asic_id != 0 && region->asic_id != asic_id) {
        return base::error(Error::Code::refused,
                           "says that it is of ASIC " + std::to_string(region->asic_id));
    }
    const bool is_open_to_others = (info.st_mode & (S_IWGRP | S_IWOTH)) != 0;
    return Source{asic_id, info.st_uid, is_open_to_others, std::move(*region)};
}

class Look {
public:
    Look(const Proc& proc, const std::string& folder) : proc_(proc), folder_(folder) {}

    // Every copy comes before the first question about a process: who lives after that lived when it was taken, unless its
    // pid was given away meanwhile, and then the new one is younger than the slot.
    Found run() {
        for (const uint64_t asic_id : asic_ids()) {
            copy(asic_id);
        }
        for (const Source& source : sources_) {
            count(source);
        }
        std::stable_sort(found_.problems.begin(), found_.problems.end(),
                         [](const Problem& a, const Problem& b) { return a.asic_id < b.asic_id; });
        for (auto& [pid, process] : processes_) {
            found_.processes.push_back(std::move(process));
        }
        return std::move(found_);
    }

private:
    std::vector<uint64_t> asic_ids() {
        const std::unique_ptr<DIR, int (*)(DIR*)> entries(opendir(folder_.c_str()), closedir);
        if (!entries && errno != ENOENT) {
            found_.problems.push_back(
                {std::nullopt, "stock regions: " + folder_ + ": " + std::strerror(errno)});
        }
        std::vector<uint64_t> result;
        while (const dirent* entry = entries ? readdir(entries.get()) : nullptr) {
            const auto asic_id = asic_id_of(entry->d_name);
            if (asic_id && result.size() == kMostRegions) {
                found_.problems.push_back({std::nullopt, "stock regions: more than " +
                                                             std::to_string(kMostRegions) + " in " + folder_ +
                                                             ", the rest skipped"});
                break;
            }
            if (asic_id) {
                result.push_back(*asic_id);
            }
        }
        std::sort(result.begin(), result.end());
        return result;
    }

    void copy(uint64_t asic_id) {
        const std::string path =
            folder_ + "/" + std::string(kNameStart) + std::to_string(asic_id) + std::string(kNameEnd);
        // Without waiting, should a FIFO be there.
        const Descriptor file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
        if (!file) {
            if (errno != ENOENT) {
                found_.problems.push_back(open_problem(asic_id, errno));
            }
            return;
        }
        auto source = read_region(file, asic_id);
        if (source) {
            sources_.push_back(std::move(*source));
        } else if (source.error().code != Error::Code::unfinished) {
            found_.problems.push_back(problem_of(asic_id, source.error().text));
        }
    }

    void count(const Source& source) {
        size_t implausible = 0;
        size_t of_strangers = 0;
        size_t doubled = 0;
        for (const Slot& slot : source.region.slots) {
            const auto& identity = identify(slot.pid);
            if (!identity || began_after(*identity, slot)) {
                ++found_.left_over_slots;
                continue;
            }
            if (identity->uid != 0 && identity->uid != source.owner && !source.is_open_to_others) {
                ++of_strangers;
                continue;
            }
            for (const auto& figure : slot.requested) {
                implausible += figure ? 0u : 1u;
            }
            doubled += add(source, slot, *identity) ? 0u : 1u;
        }
        tell(source.asic_id, implausible, "figures that can't be true, left out");
        tell(source.asic_id, of_strangers, "slots of processes that can't write there, left out");
        tell(source.asic_id, doubled, "slots too many of processes that have one, their figures left out");
    }

    // False where the process has a slot there already: which of them is right can't be known.
    bool add(const Source& source, const Slot& slot, const census::Identity& identity) {
        census::TotalsOnly& process = processes_[slot.pid];
        process.identity = identity;
        process.source = census::Source::stock;
        if (!process.devices.empty() && process.devices.back().asic_id == source.asic_id) {
            process.devices.back().requested = {};
            return false;
        }
        census::DeviceTotals totals;
        totals.asic_id = source.asic_id;
        totals.logical_id = source.region.logical_id;
        // Circular buffers and kernels stay absent.
        std::copy(slot.requested.begin(), slot.requested.end(), totals.requested.begin());
        process.devices.push_back(totals);
        return true;
    }

    const std::optional<census::Identity>& identify(uint32_t pid) {
        const auto [place, is_new] = identities_.try_emplace(pid);
        if (is_new) {
            const auto folder = proc_.open(pid);
            auto identity = folder ? proc_.identify(pid, *folder) : std::nullopt;
            const auto stat = identity ? folder->read("stat") : std::nullopt;
            if (stat && can_hold_memory(*stat) && identity->inner_pid == pid) {
                place->second = std::move(identity);
            }
        }
        return place->second;
    }

    // The kernel rounds start times down, so that no process looks younger than it is. The writer may use a clock that
    // moves by the tick, and its update may therefore look as old as one tick more than it is.
    static bool began_after(const census::Identity& identity, const Slot& slot) {
        const uint64_t tick_ns = 1'000'000'000 / static_cast<uint64_t>(sysconf(_SC_CLK_TCK));
        return identity.start_time_ns > tick_ns && identity.start_time_ns - tick_ns > slot.last_update_ns;
    }

    void tell(uint64_t asic_id, size_t count, const char* what) {
        if (count != 0) {
            found_.problems.push_back(problem_of(asic_id, std::to_string(count) + " " + what));
        }
    }

    const Proc& proc_;
    const std::string& folder_;
    std::vector<Source> sources_;  // by ASIC id
    std::map<uint32_t, std::optional<census::Identity>> identities_;
    std::map<uint32_t, census::TotalsOnly> processes_;
    Found found_;
};

}  // namespace

Found discover(const Proc& proc, const std::string& folder) { return Look(proc, folder).run(); }

std::optional<uint64_t> asic_id_of(std::string_view file_name) {
    if (!file_name.starts_with(kNameStart) || !file_name.ends_with(kNameEnd) ||
        file_name.size() <= kNameStart.size() + kNameEnd.size()) {
        return std::nullopt;
    }
    file_name.remove_prefix(kNameStart.size());
    file_name.remove_suffix(kNameEnd.size());
    uint64_t asic_id = 0;
    const char* end = file_name.data() + file_name.size();
    const auto [at, problem] = std::from_chars(file_name.data(), end, asic_id);
    // One number, one name: "007" is nobody's.
    const bool is_whole = problem == std::errc() && at == end && std::to_string(asic_id) == file_name;
    return is_whole ? std::optional(asic_id) : std::nullopt;
}

Problem open_problem(uint64_t asic_id, int error) {
    switch (error) {
        case EACCES:
        case EPERM:
            return problem_of(asic_id, "permission denied (run ttmemd as root)");
        case ELOOP:
            return problem_of(asic_id, "is a symbolic link");
        default:
            return problem_of(asic_id, std::strerror(error));
    }
}

}  // namespace ttmem::sources::stock_region
