// SPDX-License-Identifier: Apache-2.0
#include "daemon/classic_answers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "census/allocations.hpp"
#include "census/device_facts.hpp"

namespace ttmem::daemon {

using census::Kind;
using sources::classic_wire::Answer;
using sources::classic_wire::Request;
using sources::classic_wire::Type;

namespace {

constexpr uint64_t kMostLines = 10'000;  // of one kind; the sums are of all
constexpr int32_t kAllDevices = -1;

Answer answer_to(const Request& request, Type type) {
    Answer answer;
    answer.type = type;
    answer.device = request.device;
    answer.process = request.process;
    answer.timestamp = request.timestamp;
    return answer;
}

uint32_t narrow(uint64_t value) { return static_cast<uint32_t>(std::min<uint64_t>(value, UINT32_MAX)); }

bool is_meant(int32_t device, uint32_t id) {
    return device == kAllDevices || (device >= 0 && static_cast<uint32_t>(device) == id);
}

std::string kind_in_capitals(Kind kind) {
    std::string name(census::name_of(kind));
    std::transform(name.begin(), name.end(), name.begin(),
                   [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
    return name;
}

// The lines of what is live, under the line of its device: kind by kind, the largest first.
template <class Line>
std::map<uint32_t, std::vector<std::string>> lines_by_device(const census::Census& census,
                                                             const std::vector<Kind>& kinds, Line&& line) {
    std::map<uint32_t, std::vector<std::string>> result;
    for (const Kind kind : kinds) {
        census::AllocationQuery query;
        query.kind = kind;
        query.limit = kMostLines;
        const auto page = census::list_allocations(census, query);
        if (!page) {
            continue;
        }
        for (const census::LiveAllocation& one : page->allocations) {
            for (const uint32_t device : one.devices) {
                result[device].push_back("  " + line(one));
            }
        }
        if (page->left_out != 0) {
            result.rbegin()->second.push_back(
                fmt::format("  ({} more of {} are not listed)", page->left_out, kind_in_capitals(kind)));
        }
    }
    return result;
}

template <class Head>
std::vector<std::string> put_together(const census::Census& census, Head&& head,
                                      const std::map<uint32_t, std::vector<std::string>>& lines) {
    std::vector<std::string> result;
    for (const census::DeviceFigures& device : census::count(census, census::Depth::pools).devices) {
        result.push_back(head(device));
        if (const auto found = lines.find(device.id); found != lines.end()) {
            result.insert(result.end(), found->second.begin(), found->second.end());
        }
    }
    return result;
}

}  // namespace

Answer ClassicAnswers::query(const Request& request) {
    Answer answer = answer_to(request, Type::response);
    if (!figures_) {
        figures_ = census::count(census_, census::Depth::pools);
    }
    for (const census::DeviceFigures& device : figures_->devices) {
        if (is_meant(request.device, device.id)) {
            const auto requested = [&](Kind kind) { return device.memory[census::index_of(kind)].requested; };
            answer.dram += requested(Kind::dram);
            answer.l1 += requested(Kind::l1);
            answer.l1_small += requested(Kind::l1_small);
            answer.trace += requested(Kind::trace);
            answer.cb += requested(Kind::cb);
            answer.kernel += requested(Kind::kernel);
        }
    }
    return answer;
}

Answer ClassicAnswers::device_info(const Request& request) {
    Answer answer = answer_to(request, Type::device_info_response);
    if (!devices_) {
        const std::vector<census::Report> reports = census::read_reports(census_);
        devices_ = census::DeviceTable(census_, reports).devices();
    }
    for (const census::DeviceTable::Device& device : *devices_) {
        const ttmem_device_info& info = device.info;
        answer.devices = std::max(answer.devices, device.id + 1);
        if (request.device == kAllDevices || !is_meant(request.device, device.id)) {
            continue;
        }
        const census::DeviceFigures known = census::describe(device);
        answer.total_dram = known.memory[census::index_of(Kind::dram)].capacity.value_or(0);
        answer.total_l1 = known.memory[census::index_of(Kind::l1)].capacity.value_or(0);
        answer.arch = known.arch ? census::arch_by_name(*known.arch) : info.arch;
        answer.dram_channels = info.memory[TTMEM_DRAM].banks;
        answer.dram_per_channel = narrow(info.memory[TTMEM_DRAM].size_per_bank);
        answer.l1_per_core = narrow(info.memory[TTMEM_L1].size_per_bank);
        answer.is_available = 1;
    }
    return answer;
}

std::vector<std::string> dump_buffers(const census::Census& census) {
    const auto lines = lines_by_device(
        census, {Kind::dram, Kind::l1, Kind::l1_small, Kind::trace}, [](const census::LiveAllocation& one) {
            return fmt::format("Buffer {}: {} bytes of {} (PID {})", one.address.value_or(0), one.requested,
                               kind_in_capitals(one.kind), one.pid);
        });
    return put_together(
        census,
        [](const census::DeviceFigures& device) {
            uint64_t buffers = 0;
            for (size_t kind = 0; kind < census::kPoolKinds; ++kind) {
                buffers += device.memory[kind].count;
            }
            return fmt::format("Device {}: Buffers: {}, DRAM: {} bytes, L1: {} bytes", device.id, buffers,
                               device.memory[census::index_of(Kind::dram)].requested,
                               device.memory[census::index_of(Kind::l1)].requested);
        },
        lines);
}

std::vector<std::string> dump_kernels(const census::Census& census) {
    const auto lines = lines_by_device(census, {Kind::kernel}, [](const census::LiveAllocation& one) {
        return fmt::format("Kernel {}: {} bytes, {} (PID {})", one.owner, one.requested,
                           one.kernel_type.value_or("unknown"), one.pid);
    });
    return put_together(
        census,
        [](const census::DeviceFigures& device) {
            const census::MemoryFigures& kernels = device.memory[census::index_of(Kind::kernel)];
            return fmt::format("Device {}: Kernels: {}, {} bytes", device.id, kernels.count,
                               kernels.requested);
        },
        lines);
}

}  // namespace ttmem::daemon
