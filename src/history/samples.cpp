// SPDX-License-Identifier: Apache-2.0
#include "history/samples.hpp"

#include <algorithm>
#include <cassert>
#include <iterator>

namespace ttmem::history {

Samples::DevicesNow Samples::devices_of(const census::Figures& figures) {
    DevicesNow devices;
    for (const census::DeviceFigures& device : figures.devices) {
        devices[device.id].figures = &device;
    }
    for (const census::ProcessFigures& process : figures.processes) {
        for (const census::DeviceHoldings& held : process.devices) {
            const auto device = devices.find(held.id);
            if (device == devices.end()) {
                continue;
            }
            std::vector<uint32_t>& users = device->second.users;
            if (std::find(users.begin(), users.end(), process.uid) == users.end()) {
                users.push_back(process.uid);
            }
        }
    }
    return devices;
}

size_t Samples::charges_of(uint32_t uid) const {
    const auto found = charges_.find(uid);
    return found == charges_.end() ? 0 : found->second;
}

const uint32_t* Samples::cheapest_user(const DeviceNow& device) const {
    if (device.figures->driver || device.users.empty()) {
        return nullptr;
    }
    return &*std::min_element(device.users.begin(), device.users.end(),
                              [&](uint32_t a, uint32_t b) { return charges_of(a) < charges_of(b); });
}

void Samples::charge(KeptSeries& kept, const DeviceNow& device) {
    const uint32_t* const uid = cheapest_user(device);
    if (!device.figures->driver) {
        if (uid == nullptr) {
            return;  // a device that nobody holds any more stays with its last user
        }
        const bool still_holds = kept.charged_to && std::find(device.users.begin(), device.users.end(),
                                                              *kept.charged_to) != device.users.end();
        if (still_holds && charges_of(*kept.charged_to) <= charges_of(*uid) + 1) {
            return;
        }
    }
    if (kept.charged_to && --charges_.at(*kept.charged_to) == 0) {
        charges_.erase(*kept.charged_to);
    }
    kept.charged_to = uid == nullptr ? std::nullopt : std::optional(*uid);
    if (uid != nullptr) {
        ++charges_[*uid];
    }
}

Samples::SeriesTable::iterator Samples::remove(SeriesTable::iterator series) {
    const std::optional<uint32_t> uid = series->second.charged_to;
    if (uid && --charges_.at(*uid) == 0) {
        charges_.erase(*uid);
    }
    ++removed_;
    return series_.erase(series);
}

// Notes which devices are present. A number that another device has now starts a new series.
void Samples::update(const DevicesNow& devices) {
    for (auto next = series_.begin(); next != series_.end();) {
        const auto device = devices.find(next->first.first);
        if (device == devices.end()) {
            ++next;
            continue;
        }
        KeptSeries& kept = next->second;
        const std::optional<uint64_t>& asic_id = device->second.figures->asic_id;
        if (kept.asic_id && asic_id && *kept.asic_id != *asic_id) {
            next = remove(next);
            continue;
        }
        kept.asic_id = asic_id ? asic_id : kept.asic_id;
        kept.present = sample_;
        charge(kept, device->second);
        ++next;
    }
}

// Removes the series whose device left first: of this user, or of all if null.
bool Samples::remove_departed(const uint32_t* uid) {
    auto oldest = series_.end();
    for (auto next = series_.begin(); next != series_.end(); ++next) {
        const KeptSeries& kept = next->second;
        const bool is_candidate = kept.present != sample_ && (uid == nullptr || kept.charged_to == *uid);
        if (is_candidate && (oldest == series_.end() || kept.present < oldest->second.present)) {
            oldest = next;
        }
    }
    if (oldest == series_.end()) {
        return false;
    }
    remove(oldest);
    return true;
}

// Removes a series of the user with the most, unless this user has as many itself.
bool Samples::remove_from_largest_share(const uint32_t* uid) {
    const auto largest = std::max_element(charges_.begin(), charges_.end(),
                                          [](const auto& a, const auto& b) { return a.second < b.second; });
    if (largest == charges_.end() || (uid != nullptr && largest->second <= charges_of(*uid) + 1)) {
        return false;
    }
    const auto last = std::find_if(series_.rbegin(), series_.rend(), [&](const auto& entry) {
        return entry.second.charged_to == largest->first;
    });
    assert(last != series_.rend());
    remove(std::prev(last.base()));
    return true;
}

bool Samples::make_room(const uint32_t* uid) {
    if (uid != nullptr && charges_of(*uid) >= kMostPerUser) {
        return remove_departed(uid);
    }
    return series_.size() < kMostSeries || remove_departed(nullptr) || remove_from_largest_share(uid);
}

void Samples::add(uint64_t time_ns, const census::Figures& figures) {
    const DevicesNow devices = devices_of(figures);
    ++sample_;
    update(devices);
    refused_ = 0;
    for (const auto& [id, device] : devices) {
        for (size_t kind = 0; kind < census::kDeviceKinds; ++kind) {
            const SeriesKey key{id, static_cast<census::Kind>(kind)};
            if (device.figures->memory[kind].used == 0 || series_.contains(key)) {
                continue;
            }
            if (!make_room(cheapest_user(device))) {
                ++refused_;
                continue;
            }
            KeptSeries& kept = series_[key];
            kept.asic_id = device.figures->asic_id;
            kept.present = sample_;
            charge(kept, device);
        }
    }
    for (auto& [key, kept] : series_) {
        const auto device = devices.find(key.first);
        kept.series.add({time_ns, device == devices.end()
                                      ? 0
                                      : device->second.figures->memory[census::index_of(key.second)].used});
    }
}

std::vector<Samples::SeriesKey> Samples::keys() const {
    std::vector<SeriesKey> keys;
    for (const auto& [key, kept] : series_) {
        keys.push_back(key);
    }
    return keys;
}

std::vector<Sample> Samples::since(const SeriesKey& key, uint64_t time_ns) const {
    const auto found = series_.find(key);
    return found == series_.end() ? std::vector<Sample>() : found->second.series.since(time_ns);
}

void SeenPeaks::add(const census::Figures& figures) {
    std::map<uint32_t, DevicePeaks> still_held;
    for (const census::ProcessFigures& process : figures.processes) {
        for (const census::DeviceHoldings& held : process.devices) {
            still_held.try_emplace(held.id, DevicePeaks{});
        }
    }
    for (const census::DeviceFigures& device : figures.devices) {
        const auto held = still_held.find(device.id);
        if (held == still_held.end()) {
            continue;
        }
        const auto before = peaks_.find(device.id);
        for (size_t kind = 0; kind < census::kDeviceKinds; ++kind) {
            held->second[kind] =
                std::max(before == peaks_.end() ? 0 : before->second[kind], device.memory[kind].used);
        }
    }
    peaks_ = std::move(still_held);
}

void SeenPeaks::raise(census::Figures& figures) const {
    for (census::DeviceFigures& device : figures.devices) {
        const auto seen = peaks_.find(device.id);
        for (size_t kind = 0; seen != peaks_.end() && kind < census::kDeviceKinds; ++kind) {
            census::MemoryFigures& memory = device.memory[kind];
            memory.peak = memory.peak_exact ? memory.peak : std::max(memory.peak, seen->second[kind]);
        }
    }
}

}  // namespace ttmem::history
