// SPDX-License-Identifier: Apache-2.0
#include "daemon/classic/answers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>

#include "census/allocations.hpp"
#include "census/device_facts.hpp"
#include "census/figures.hpp"
#include "census/report.hpp"
#include "census/scan_shares.hpp"
#include "daemon/log/event_lines.hpp"

namespace ttmem::daemon {

using census::Kind;
using sources::classic_wire::MessageType;
using sources::classic_wire::WireAnswer;
using sources::classic_wire::WireRequest;

namespace {

constexpr int32_t kAllDevices = -1;
constexpr uint32_t kMostDevices = sources::classic_wire::kMostDevices;

constexpr uint64_t kQuickWork = 2048;  // of Reader::totals_work(), all processes together

// Of each user, so that a segment which grows after is_quick() costs the loop little. A busy segment is read a few times.
constexpr census::WorkBudgets kQuickBudgets = {.counter_blocks = 8 * kQuickWork,
                                               .slots = kQuickWork,
                                               .device_entries = kQuickWork,
                                               .set_members = 2 * kQuickWork};

uint32_t narrow(uint64_t value) { return static_cast<uint32_t>(std::min<uint64_t>(value, UINT32_MAX)); }

// Null where there is none. The entries are in the order of their ids.
template <class Entry>
const Entry* find_device(const std::vector<Entry>& entries, int32_t device) {
    const auto id = static_cast<uint32_t>(device);
    if (id >= kMostDevices) {
        return nullptr;
    }
    const auto found =
        std::lower_bound(entries.begin(), entries.end(), id,
                         [](const Entry& entry, uint32_t wanted) { return entry.id < wanted; });
    return found != entries.end() && found->id == id ? &*found : nullptr;
}

std::string kind_in_capitals(Kind kind) {
    std::string name(census::name_of(kind));
    std::transform(name.begin(), name.end(), name.begin(),
                   [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
    return name;
}

struct DumpLines {
    std::map<uint32_t, std::vector<std::string>> by_device;
    std::vector<std::string> last;  // what is not listed
};

// Lines of live allocations by device: kind by kind, the largest first. An allocation has a line on each device of its set,
// so the lines of a kind are limited and not its allocations.
template <class Line>
DumpLines list_lines(const census::Census& census, std::string_view what, const std::vector<Kind>& kinds,
                     Line&& line) {
    DumpLines result;
    for (const census::Inexactness& one : census::beyond_shares(census)) {
        result.last.push_back(fmt::format("  (the {} of PID {} are not listed: too many)", what, one.pid));
    }
    for (const Kind kind : kinds) {
        census::AllocationQuery query;
        query.kind = kind;
        query.limit = kMaxDumpLines;
        const auto page = census::list_allocations(census, query);
        if (!page) {
            continue;
        }
        uint64_t left_out = page->left_out;
        uint64_t lines = 0;
        for (const census::LiveAllocation& one : page->allocations) {
            if (one.devices.empty() || one.devices.size() > kMaxDumpLines - lines) {
                ++left_out;  // on no device, or no room
                continue;
            }
            lines += one.devices.size();
            for (const uint32_t device : one.devices) {
                result.by_device[device].push_back("  " + line(one));
            }
        }
        if (left_out != 0) {
            result.last.push_back(
                fmt::format("  ({} more of {} are not listed)", left_out, kind_in_capitals(kind)));
        }
    }
    return result;
}

template <class Head>
std::vector<std::string> join_lines(const census::Census& census, Head&& head, DumpLines lines) {
    std::vector<std::string> result;
    for (const census::DeviceFigures& device :
         census::compute_figures(census, census::Depth::pools).devices) {
        result.push_back(head(device));
        if (const auto found = lines.by_device.find(device.id); found != lines.by_device.end()) {
            std::move(found->second.begin(), found->second.end(), std::back_inserter(result));
        }
    }
    std::move(lines.last.begin(), lines.last.end(), std::back_inserter(result));
    return result;
}

}  // namespace

void ClassicAnswers::DeviceBytes::add_to(WireAnswer& answer) const {
    answer.dram += dram;
    answer.l1 += l1;
    answer.l1_small += l1_small;
    answer.trace += trace;
    answer.cb += cb;
    answer.kernel += kernel;
}

bool ClassicAnswers::is_quick() const {
    if (census_.processes.size() > kQuickProcesses) {
        return false;
    }
    uint64_t work = 0;
    for (const census::Process& process : census_.processes) {
        work += process.ledger->totals_work();
    }
    return work <= kQuickWork;
}

bool ClassicAnswers::is_prepared(MessageType question) const {
    return question == MessageType::query ? bytes_.has_value() : properties_.has_value();
}

void ClassicAnswers::prepare(MessageType question) {
    if (!is_prepared(question)) {
        compute(question);
    }
}

bool ClassicAnswers::prepare_quickly(MessageType question) {
    if (is_prepared(question)) {
        return true;
    }
    if (!is_quick()) {
        return false;
    }
    const census::WorkBudgets all = std::exchange(census_.work_budgets, kQuickBudgets);
    const bool is_complete = compute(question);
    census_.work_budgets = all;
    if (!is_complete) {
        bytes_.reset();
        properties_.reset();
    }
    return is_complete;
}

bool ClassicAnswers::compute(MessageType question) {
    assert(question == MessageType::query || question == MessageType::device_info_query);
    return question == MessageType::query ? compute_bytes() : compute_properties();
}

bool ClassicAnswers::compute_bytes() {
    const census::Figures figures = census::compute_figures(census_, census::Depth::pools);
    std::vector<DeviceBytes> bytes;
    WireAnswer all;
    for (const census::DeviceFigures& device : figures.devices) {
        const auto requested = [&](Kind kind) { return device.memory[census::index_of(kind)].requested; };
        bytes.push_back({device.id, requested(Kind::dram), requested(Kind::l1), requested(Kind::l1_small),
                         requested(Kind::trace), requested(Kind::cb), requested(Kind::kernel)});
        bytes.back().add_to(all);
    }
    all_bytes_ = {0, all.dram, all.l1, all.l1_small, all.trace, all.cb, all.kernel};
    bytes_ = std::move(bytes);
    return std::none_of(figures.inexact.begin(), figures.inexact.end(), [](const auto& one) {
        return one.reason == census::Reason::work_limit || one.reason == census::Reason::too_many_devices;
    });
}

bool ClassicAnswers::compute_properties() {
    std::vector<DeviceProperties> properties;
    const std::vector<census::Report> reports = census::read_reports(census_);
    const census::DeviceTable table(census_, reports);
    for (const census::DeviceTable::Device& device : table.devices()) {
        const ttmem_device_info& info = device.info;
        const census::DeviceFigures known = census::describe(device);
        properties.push_back({device.id, known.memory[census::index_of(Kind::dram)].capacity.value_or(0),
                              known.memory[census::index_of(Kind::l1)].capacity.value_or(0),
                              known.arch ? census::arch_by_name(*known.arch) : info.arch,
                              info.memory[TTMEM_DRAM].banks, narrow(info.memory[TTMEM_DRAM].size_per_bank),
                              narrow(info.memory[TTMEM_L1].size_per_bank)});
    }
    properties_ = std::move(properties);
    bool is_complete = true;
    for (size_t report = 0; report < reports.size(); ++report) {
        is_complete = is_complete && !reports[report].totals.is_cut && table.left_out(report) == 0;
    }
    return is_complete;
}

WireAnswer ClassicAnswers::answer(const WireRequest& question) {
    const auto type = static_cast<MessageType>(question.type);
    prepare(type);
    WireAnswer answer;
    answer.device = question.device;
    answer.process = question.process;
    answer.timestamp = question.timestamp;
    if (type == MessageType::query) {
        answer.type = MessageType::response;
        add_bytes(question, answer);
    } else {
        answer.type = MessageType::device_info_response;
        add_properties(question, answer);
    }
    return answer;
}

void ClassicAnswers::add_bytes(const WireRequest& question, WireAnswer& answer) const {
    if (question.device == kAllDevices) {
        all_bytes_.add_to(answer);
    } else if (const DeviceBytes* found = find_device(*bytes_, question.device)) {
        found->add_to(answer);
    }
}

void ClassicAnswers::add_properties(const WireRequest& question, WireAnswer& answer) const {
    for (const DeviceProperties& device : *properties_) {
        answer.devices = device.id < kMostDevices ? device.id + 1 : answer.devices;
    }
    if (const DeviceProperties* found = find_device(*properties_, question.device)) {
        answer.total_dram = found->total_dram;
        answer.total_l1 = found->total_l1;
        answer.arch = found->arch;
        answer.dram_channels = found->dram_channels;
        answer.dram_per_channel = found->dram_per_channel;
        answer.l1_per_core = found->l1_per_core;
        // Clients divide by the capacity.
        answer.is_available = found->total_dram != 0 && found->total_l1 != 0 ? 1 : 0;
    }
}

std::vector<std::string> dump_buffers(census::Census census) {
    census::share_scans(census, std::nullopt);
    auto lines =
        list_lines(census, "buffers", {Kind::dram, Kind::l1, Kind::l1_small, Kind::trace},
                   [](const census::LiveAllocation& one) {
                       return fmt::format("Buffer {}: {} bytes of {} (PID {})", one.address.value_or(0),
                                          one.requested, kind_in_capitals(one.kind), one.pid);
                   });
    return join_lines(census, statistics_line, std::move(lines));
}

std::vector<std::string> dump_kernels(census::Census census) {
    census::share_scans(census, std::nullopt);
    auto lines = list_lines(census, "kernels", {Kind::kernel}, [](const census::LiveAllocation& one) {
        return fmt::format("Kernel {}: {} bytes, {} (PID {})", one.owner, one.requested,
                           one.kernel_type.value_or("unknown"), one.pid);
    });
    return join_lines(
        census,
        [](const census::DeviceFigures& device) {
            const census::MemoryFigures& kernels = device.memory[census::index_of(Kind::kernel)];
            return fmt::format("Device {}: Kernels: {}, {} bytes", device.id, kernels.count,
                               kernels.requested);
        },
        std::move(lines));
}

}  // namespace ttmem::daemon
