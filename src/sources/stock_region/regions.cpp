// SPDX-License-Identifier: Apache-2.0
#include "sources/stock_region/regions.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <map>
#include <memory>
#include <span>
#include <tuple>
#include <utility>

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "census/arithmetic.hpp"
#include "sources/stock_region/layout.hpp"
#include "sources/stock_region/liveness.hpp"
#include "sources/stock_region/region.hpp"
#include "sources/stock_region/settle.hpp"

namespace ttmem::sources::stock_region {

using base::Descriptor;
using base::Error;

namespace {

constexpr std::string_view kNameStart = "tt_device_";
constexpr std::string_view kNameEnd = "_memory";

struct Source {
    uint64_t asic_id = 0;
    uint32_t owner = 0;
    StockRegion region;
};

Problem problem_of(uint64_t asic_id, const std::string& text) {
    return {asic_id, "stock region of ASIC " + std::to_string(asic_id) + ": " + text};
}

// The value for circular buffers is not shown. What it is depends on the version.
std::string lacks(uint32_t version) {
    const std::string cb = version == layout::kVersion3 ? "of all cached programs, as last written"
                                                        : "of the programs that were launched last";
    return "region version " + std::to_string(version) + ": circular buffers are those " + cb + ", not shown";
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

// Uses pread and not mmap: reading a mapped file that was truncated raises a signal.
base::Expected<Source> read_region(const Descriptor& file, uint64_t asic_id) {
    struct stat info {};
    if (fstat(file.get(), &info) != 0) {
        return base::error(Error::Code::failed, std::strerror(errno));
    }
    if (!S_ISREG(info.st_mode)) {
        return base::error(Error::Code::refused, "is not a regular file");
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
        return base::error(Error::Code::refused, "names ASIC " + std::to_string(region->asic_id));
    }
    return Source{asic_id, info.st_uid, std::move(*region)};
}

class RegionScan {
public:
    RegionScan(const Proc& proc, const std::string& folder) : proc_(proc), folder_(folder) {}

    // Copies all regions before it checks any process. A process that is alive at the check was alive at the copy,
    // unless its pid was reused, and then the new process started after the slot's update.
    FoundTotals run() {
        for (const uint64_t asic_id : asic_ids()) {
            copy(asic_id);
        }
        for (const Source& source : sources_) {
            count(source);
        }
        report_unchecked();
        std::stable_sort(found_.problems.begin(), found_.problems.end(),
                         [](const Problem& a, const Problem& b) { return a.asic_id < b.asic_id; });
        for (auto& [pid, process] : processes_) {
            found_.processes.push_back(std::move(process));
        }
        take_claims();
        return std::move(found_);
    }

private:
    void report_host_problem(const std::string& text) {
        found_.problems.push_back({std::nullopt, "stock regions: " + text});
    }

    // The regions in the folder, by the owner of the file.
    std::map<uint32_t, std::vector<uint64_t>> asic_ids_by_owner() {
        std::map<uint32_t, std::vector<uint64_t>> result;
        const std::unique_ptr<DIR, int (*)(DIR*)> entries(opendir(folder_.c_str()), closedir);
        if (!entries) {
            if (errno != ENOENT) {
                report_host_problem(folder_ + ": " + std::strerror(errno));
            }
            return result;
        }
        size_t count = 0;
        while (const dirent* entry = readdir(entries.get())) {
            if (++count > kMostFolderEntries) {
                report_host_problem("more than " + std::to_string(kMostFolderEntries) + " files in " +
                                    folder_ + ", the rest skipped");
                break;
            }
            const auto asic_id = asic_id_of(entry->d_name);
            struct stat info {};
            if (asic_id && fstatat(dirfd(entries.get()), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0) {
                result[info.st_uid].push_back(*asic_id);
            }
        }
        return result;
    }

    // The regions that are read. Users with few regions come first, so that the others share what is left.
    std::vector<uint64_t> asic_ids() {
        std::vector<std::pair<uint32_t, std::vector<uint64_t>>> users;
        for (auto& [owner, asic_ids] : asic_ids_by_owner()) {
            users.emplace_back(owner, asic_ids);
        }
        std::stable_sort(users.begin(), users.end(),
                         [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
        std::vector<uint64_t> result;
        for (size_t i = 0; i < users.size(); ++i) {
            auto& [owner, asic_ids] = users[i];
            const size_t share =
                std::min(kMostRegionsPerUser, (kMostRegions - result.size()) / (users.size() - i));
            if (asic_ids.size() > share) {
                report_host_problem("user " + user_name(owner) + " has " + std::to_string(asic_ids.size()) +
                                    ", and " + std::to_string(share) + " are read");
                std::sort(asic_ids.begin(), asic_ids.end());
                asic_ids.resize(share);
            }
            result.insert(result.end(), asic_ids.begin(), asic_ids.end());
        }
        std::sort(result.begin(), result.end());
        return result;
    }

    void copy(uint64_t asic_id) {
        const std::string path =
            folder_ + "/" + std::string(kNameStart) + std::to_string(asic_id) + std::string(kNameEnd);
        // O_NONBLOCK, because the file may be a FIFO.
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
        size_t doubled = 0;
        for (const RegionSlot& slot : source.region.slots) {
            const std::optional<census::Identity>* const identity = identify(slot.pid, source.owner);
            if (identity == nullptr) {
                ++unchecked_[source.owner];
                continue;
            }
            if (!*identity || began_after(**identity, slot)) {
                ++found_.left_over_slots;
                continue;
            }
            if ((*identity)->uid != source.owner) {
                add_claim(source, slot, **identity);
                continue;
            }
            for (const auto& figure : slot.requested) {
                implausible += figure ? 0u : 1u;
            }
            doubled += add(source, slot, **identity) ? 0u : 1u;
        }
        report_problem(source.asic_id, implausible, "figures that can't be true, left out");
        report_problem(source.asic_id, doubled,
                       "extra slots of processes that already have one, their figures left out");
    }

    void add_claim(const Source& source, const RegionSlot& slot, const census::Identity& identity) {
        StockClaim& claim = claims_[{source.owner, source.asic_id, slot.pid}];
        claim.author = source.owner;
        claim.process = identity;
        claim.asic_id = source.asic_id;
        for (const auto& figure : slot.requested) {
            claim.bytes += figure.value_or(0);  // at most 64 slots of 2^52 bytes each
        }
    }

    // Names the first claims of each author and sums the rest.
    void take_claims() {
        std::optional<uint32_t> author;
        std::string author_name;
        size_t named = 0;
        bool has_further = false;
        for (auto& [key, claim] : claims_) {
            if (author != claim.author) {
                author = claim.author;
                author_name = user_name(claim.author);
                named = 0;
                has_further = false;
            }
            if (named < kMostClaimsPerUser) {
                ++named;
                claim.author_name = author_name;
                found_.claims.push_back(std::move(claim));
                continue;
            }
            if (!has_further) {
                has_further = true;
                found_.further_claims.push_back({author_name, 0, 0});
            }
            FurtherClaims& further = found_.further_claims.back();
            ++further.count;
            further.bytes = census::saturating_add(further.bytes, claim.bytes);
        }
    }

    void report_unchecked() {
        for (const auto& [owner, slots] : unchecked_) {
            report_host_problem("those of user " + user_name(owner) + " name more than " +
                                std::to_string(kMostProcessesPerUser) + " processes, " +
                                base::format_count(slots, "slot", "slots") + " left out");
        }
    }

    // Returns false if the process already has a slot in this region: it is unknown which of them is correct.
    bool add(const Source& source, const RegionSlot& slot, const census::Identity& identity) {
        census::TotalsOnly& process = processes_[slot.pid];
        process.identity = identity;
        process.source = census::ProcessSource::stock;
        process.lacks = lacks(source.region.version);
        assert(process.devices.empty() || process.devices.back().asic_id <= source.asic_id);
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

    // The process if it can hold memory. Null if the user's regions name too many live processes.
    const std::optional<census::Identity>* identify(uint32_t pid, uint32_t owner) {
        if (const auto known = identities_.find(pid); known != identities_.end()) {
            return &known->second;
        }
        const auto folder = proc_.open(pid);
        if (folder && ++lookups_[owner] > kMostProcessesPerUser) {
            return nullptr;
        }
        std::optional<census::Identity>& result = identities_[pid];
        auto identity = folder ? proc_.identify(pid, *folder) : std::nullopt;
        const auto stat = identity ? folder->read("stat") : std::nullopt;
        if (stat && can_hold_memory(*stat) && identity->inner_pid == pid) {
            result = std::move(identity);
        }
        return &result;
    }

    // The kernel rounds start times down, so a process never appears to start later than it did. The writer may use a
    // clock with tick resolution, so its update may appear up to one tick too early.
    static bool began_after(const census::Identity& identity, const RegionSlot& slot) {
        const uint64_t tick_ns = 1'000'000'000 / static_cast<uint64_t>(sysconf(_SC_CLK_TCK));
        return identity.start_time_ns > tick_ns && identity.start_time_ns - tick_ns > slot.last_update_ns;
    }

    void report_problem(uint64_t asic_id, size_t count, const char* what) {
        if (count != 0) {
            found_.problems.push_back(problem_of(asic_id, std::to_string(count) + " " + what));
        }
    }

    const Proc& proc_;
    const std::string& folder_;
    std::vector<Source> sources_;                                     // by ASIC id
    std::map<uint32_t, std::optional<census::Identity>> identities_;  // by pid
    std::map<uint32_t, size_t> lookups_;    // of live processes, by owner of the region
    std::map<uint32_t, size_t> unchecked_;  // slots, by owner of the region
    std::map<std::tuple<uint32_t, uint64_t, uint32_t>, StockClaim> claims_;  // by author, ASIC id and pid
    std::map<uint32_t, census::TotalsOnly> processes_;
    FoundTotals found_;
};

}  // namespace

std::string StockClaim::text() const {
    return "user " + author_name + "'s stock region of ASIC " + std::to_string(asic_id) + " claims " +
           base::format_count(bytes, "byte", "bytes") + " for process " + std::to_string(process.pid);
}

std::string FurtherClaims::text() const {
    return "user " + author_name + "'s stock regions claim " + base::format_count(bytes, "byte", "bytes") +
           " for " + base::format_count(count, "further process", "further processes");
}

FoundTotals discover(const Proc& proc, const std::string& folder) { return RegionScan(proc, folder).run(); }

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
    // Each number has one name: "007" is rejected.
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
