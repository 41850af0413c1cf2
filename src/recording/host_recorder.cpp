// SPDX-License-Identifier: Apache-2.0
#include "recording/host_recorder.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "census/device_admission.hpp"
#include "segment/clock.hpp"

namespace ttmem::recording {

namespace {

constexpr uint64_t kBusyEvents = 2'000;  // per reading: more of them shorten the wait

}  // namespace

uint64_t ReadingPace::next_wait_ms(uint64_t events) {
    if (events > kBusyEvents) {
        wait_ms_ = std::max(kShortestMs, wait_ms_ / 2);
    } else if (events < kBusyEvents / 4) {
        wait_ms_ = std::min(kLongestMs, wait_ms_ * 2);
    }
    return wait_ms_;
}

void describe_devices(const census::Census& census, HostFactsRecord& facts) {
    facts.has_driver = census.driver != nullptr;
    facts.devices = census.driver ? census.driver->devices : std::vector<census::DriverDevice>();
    for (census::DriverDevice& device : facts.devices) {
        device.telemetry = {};
    }
    for (const census::Process& process : census.processes) {
        for (const auto& device : process.ledger->devices()) {
            if (!device) {
                continue;
            }
            const census::DeviceKey key = census::key_of(*device);
            const auto id = census.device_ids->id_of(key);
            const census::DeviceNumber number{key, id.value_or(0), {}};
            if (id && std::find(facts.numbers.begin(), facts.numbers.end(), number) == facts.numbers.end()) {
                facts.numbers.push_back(number);
            }
        }
    }
}

bool HostRecorder::is_wanted(const census::Census& now, const census::Process& process) const {
    if (scope_.pid && *scope_.pid != process.identity.pid) {
        return false;
    }
    if (scope_.devices.empty()) {
        return true;
    }
    for (const auto& device : process.ledger->devices()) {
        const auto id = device ? now.device_ids->id_of(census::key_of(*device)) : std::nullopt;
        if (id && scope_.devices.selects(*id)) {
            return true;
        }
    }
    return false;
}

base::Expected<uint32_t> HostRecorder::add(const census::Process& process) {
    if (scope_.may_see && !scope_.may_see(process.identity.uid)) {
        return writer_.add_totals(process);
    }
    // The rings of a process that is older than the recording may have its first events no more.
    const bool is_new = process.ledger->created_ns() >= started_ns_;
    return writer_.add(
        process, is_new ? ProcessRecorder::StartState::beginning : ProcessRecorder::StartState::present);
}

base::Expected<void> HostRecorder::update(census::Census now) {
    if (is_first_) {
        started_ns_ = segment::monotonic_now();
        is_first_ = false;
    }
    census::number_all_devices(now);
    std::set<Ledger> present;
    std::erase_if(now.processes, [&](const census::Process& process) { return !is_wanted(now, process); });
    for (const census::Process& process : now.processes) {
        present.insert(process.ledger);
    }
    for (auto each = followed_.begin(); each != followed_.end();) {
        if (present.contains(each->first)) {
            ++each;
            continue;
        }
        if (auto ended = writer_.end(each->second); !ended) {
            return ended;
        }
        each = followed_.erase(each);
    }
    describe_devices(now, facts_);
    if (auto set = writer_.set_host(facts_); !set) {
        return set;
    }
    for (const census::Process& process : now.processes) {
        if (followed_.contains(process.ledger)) {
            continue;
        }
        const auto number = add(process);
        if (!number) {
            return tl::unexpected(number.error());
        }
        followed_.emplace(process.ledger, *number);
    }
    return {};
}

}  // namespace ttmem::recording
