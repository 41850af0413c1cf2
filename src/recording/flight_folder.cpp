// SPDX-License-Identifier: Apache-2.0
#include "recording/flight_folder.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <string>
#include <utility>

#include "base/time.hpp"

namespace ttmem::recording {

namespace fs = std::filesystem;
using base::Error;

namespace {

// A file has this part of the limits, so that dropping the oldest loses little.
constexpr uint64_t kParts = 8;
constexpr char kBeginning[] = "flight-";
constexpr char kEnding[] = ".ttmem";
constexpr uint64_t kNsPerHour = 3600 * base::kNsPerSecond;

uint64_t ns_of(const timespec& time) {
    return static_cast<uint64_t>(time.tv_sec) * base::kNsPerSecond + static_cast<uint64_t>(time.tv_nsec);
}

// "flight-20260501T130520.123456Z.ttmem": the order of the names is that of time.
std::string file_name(uint64_t epoch_ns) {
    const auto seconds = static_cast<time_t>(epoch_ns / base::kNsPerSecond);
    tm parts{};
    gmtime_r(&seconds, &parts);
    char text[32];
    strftime(text, sizeof text, "%Y%m%dT%H%M%S", &parts);
    const std::string fraction = std::to_string(1'000'000 + epoch_ns % base::kNsPerSecond / 1'000).substr(1);
    return std::string(kBeginning) + text + "." + fraction + "Z" + kEnding;
}

tl::unexpected<Error> unusable(const fs::path& folder, const std::string& why) {
    return base::error(Error::Code::failed, "can't record into " + folder.string() + ": " + why);
}

}  // namespace

std::vector<fs::path> flight_files(const fs::path& folder) {
    std::vector<fs::path> files;
    std::error_code problem;
    for (fs::directory_iterator each(folder, problem), end; !problem && each != end;
         each.increment(problem)) {
        const std::string name = each->path().filename().string();
        if (name.starts_with(kBeginning) && name.ends_with(kEnding)) {
            files.push_back(each->path());
        }
    }
    std::sort(files.begin(), files.end());
    return files;
}

base::Expected<std::unique_ptr<FlightFolder>> FlightFolder::open(const fs::path& folder,
                                                                 FlightLimits limits) {
    std::error_code ignored;
    fs::create_directories(folder.parent_path(), ignored);
    if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
        return unusable(folder, std::strerror(errno));
    }
    struct stat found {};
    if (lstat(folder.c_str(), &found) != 0) {
        return unusable(folder, std::strerror(errno));
    }
    if (!S_ISDIR(found.st_mode)) {
        return unusable(folder, "it is not a folder");
    }
    if (found.st_uid != geteuid()) {
        return unusable(folder, "it belongs to another user");
    }
    if ((found.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
        return unusable(folder, "others may use it (chmod 700 " + folder.string() + ")");
    }
    std::unique_ptr<FlightFolder> result(new FlightFolder(folder, limits));
    result->find_files();
    result->make_room(0);
    return result;
}

void FlightFolder::find_files() {
    for (const fs::path& path : flight_files(folder_)) {
        struct stat found {};
        if (lstat(path.c_str(), &found) == 0 && S_ISREG(found.st_mode)) {
            kept_.push_back({path, static_cast<uint64_t>(found.st_size), ns_of(found.st_mtim)});
        }
    }
}

void FlightFolder::drop_oldest() {
    std::error_code ignored;
    fs::remove(kept_.front().path, ignored);
    kept_.pop_front();
}

uint64_t FlightFolder::kept_bytes() const {
    uint64_t sum = file_ ? file_->size() : 0;
    for (const KeptFile& file : kept_) {
        sum += file.bytes;
    }
    return sum;
}

void FlightFolder::make_room(uint64_t bytes) {
    const uint64_t now_ns = base::realtime_ns();
    const uint64_t most_ns = limits_.hours * kNsPerHour;
    while (!kept_.empty() && (kept_bytes() + bytes > limits_.bytes ||
                              now_ns - std::min(now_ns, kept_.front().last_write_ns) > most_ns)) {
        drop_oldest();
    }
}

base::Expected<void> FlightFolder::begin_part(std::string_view header) {
    if (file_) {
        kept_.push_back({file_->path(), file_->size(), base::realtime_ns()});
        file_ = nullptr;
    }
    make_room(limits_.bytes / kParts);
    auto file = AppendedFile::create((folder_ / file_name(base::realtime_ns())).string());
    if (!file) {
        return tl::unexpected(std::move(file.error()));
    }
    file_ = std::make_unique<AppendedFile>(std::move(*file));
    part_began_ns_ = base::monotonic_ns();
    auto written = file_->append(header);
    if (!written) {
        std::error_code ignored;
        fs::remove(file_->path(), ignored);  // a full disk must not fill with empty files
    }
    return written;
}

base::Expected<void> FlightFolder::append(std::string_view block) {
    make_room(block.size());
    if (kept_bytes() + block.size() > limits_.bytes) {
        return unusable(folder_, "what the processes hold needs more than the limit of " +
                                     std::to_string(limits_.bytes) + " bytes");
    }
    return file_->append(block);
}

bool FlightFolder::is_full() const {
    return file_->size() >= limits_.bytes / kParts ||
           base::monotonic_ns() - part_began_ns_ >= limits_.hours * kNsPerHour / kParts;
}

FlightUse FlightFolder::use() const { return {kept_.size() + (file_ ? 1u : 0u), kept_bytes()}; }

}  // namespace ttmem::recording
