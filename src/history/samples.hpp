// SPDX-License-Identifier: Apache-2.0
#pragma once

// Used bytes over time, per device and kind that ever held memory, and the highest sums.

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "census/figures.hpp"
#include "history/series.hpp"

namespace ttmem::history {

// Processes may invent devices, so the number of series is limited, and each user has a share. A series counts against
// one of the users that hold memory on the device, the one with the fewest series. Series of the driver's devices count
// against nobody. In a full table, series of devices that have left are removed first, then those of the user with the
// most.
class Samples {
public:
    using SeriesKey = std::pair<uint32_t, census::Kind>;  // device id
    static constexpr size_t kMostSeries = 64 * census::kDeviceKinds;
    static constexpr size_t kMostPerUser = kMostSeries / 2;

    // Adds one sample to each series. A device that has left is sampled as 0, so that a chart shows its end.
    void add(uint64_t time_ns, const census::Figures& figures);

    std::vector<SeriesKey> keys() const;
    std::vector<Sample> since(const SeriesKey& key, uint64_t time_ns) const;

    struct LastValue {
        uint64_t used = 0;
        std::optional<uint64_t> asic_id;
        std::optional<uint32_t> charged_to;  // a uid; absent: nobody
    };
    // Calls take(key, LastValue) for each series.
    template <class Take>
    void for_each_last(Take take) const {
        for (const auto& [key, kept] : series_) {
            take(key, LastValue{kept.series.last_value(), kept.asic_id, kept.charged_to});
        }
    }

    // The number of series that were removed for others, or of which the last sample found no room.
    uint64_t dropped() const { return removed_ + refused_; }

private:
    struct DeviceNow {
        const census::DeviceFigures* figures = nullptr;
        std::vector<uint32_t> users;  // with memory on the device
    };
    using DevicesNow = std::map<uint32_t, DeviceNow>;  // by id

    struct KeptSeries {
        Series series;
        std::optional<uint64_t> asic_id;
        std::optional<uint32_t> charged_to;  // a uid; absent: the driver lists the device
        uint64_t present = 0;                // the number of the last sample with the device
    };
    using SeriesTable = std::map<SeriesKey, KeptSeries>;

    static DevicesNow devices_of(const census::Figures& figures);
    // Null if nobody is charged.
    const uint32_t* cheapest_user(const DeviceNow& device) const;
    size_t charges_of(uint32_t uid) const;
    void charge(KeptSeries& kept, const DeviceNow& device);
    void update(const DevicesNow& devices);
    bool make_room(const uint32_t* uid);
    bool remove_departed(const uint32_t* uid);
    bool remove_from_largest_share(const uint32_t* uid);
    SeriesTable::iterator remove(SeriesTable::iterator series);

    SeriesTable series_;
    std::map<uint32_t, size_t> charges_;  // by uid
    uint64_t sample_ = 0;                 // the number of the last sample
    uint64_t removed_ = 0;
    uint64_t refused_ = 0;
};

// The peak of a device with several sets can't be derived from the peaks of the sets. An observed sum is a lower
// bound. This class keeps the highest sum since the device was last unused.
class SeenPeaks {
public:
    void add(const census::Figures& figures);

    // Raises peaks that are lower bounds. Exact peaks stay.
    void raise(census::Figures& figures) const;

private:
    using DevicePeaks = std::array<uint64_t, census::kDeviceKinds>;
    std::map<uint32_t, DevicePeaks> peaks_;
};

}  // namespace ttmem::history
