// SPDX-License-Identifier: Apache-2.0
#include "view/model/resident_bytes.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>

#include "base/descriptor.hpp"
#include "base/proc_stat.hpp"

namespace ttmem::view {

namespace {

std::optional<uint64_t> resident_bytes_of(uint32_t pid, uint64_t start_time) {
    const std::string path = "/proc/" + std::to_string(pid) + "/stat";
    const base::Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    std::array<char, 1024> text{};  // a line of numbers, and a name of at most 16 bytes
    const ssize_t length = file.get() < 0 ? -1 : read(file.get(), text.data(), text.size());
    const auto bytes = static_cast<size_t>(std::max<ssize_t>(length, 0));
    if (base::parse_start_time(text.data(), bytes) != start_time || start_time == 0) {
        return std::nullopt;
    }
    const uint64_t pages = base::stat_number(text.data(), bytes, base::StatField::resident_pages);
    return pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

void read_resident_bytes(census::Figures& figures, const census::Census& census) {
    std::map<uint32_t, uint64_t> start_times;
    for (const census::Process& process : census.processes) {
        start_times[process.identity.pid] = process.identity.start_time;
    }
    for (const census::TotalsOnly& process : census.totals_only) {
        start_times[process.identity.pid] = process.identity.start_time;
    }
    if (census.driver) {
        for (const census::Holder& holder : census.driver->holders) {
            start_times[holder.identity.pid] = holder.identity.start_time;
        }
    }
    for (census::ProcessFigures& process : figures.processes) {
        const auto known = start_times.find(process.pid);
        process.resident_bytes =
            known == start_times.end() ? std::nullopt : resident_bytes_of(process.pid, known->second);
    }
}

}  // namespace ttmem::view
