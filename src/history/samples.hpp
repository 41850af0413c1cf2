// SPDX-License-Identifier: Apache-2.0
#pragma once

// Used bytes over time, of every device and kind that ever held something; and the highest sums that were seen.

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "census/figures.hpp"
#include "history/series.hpp"

namespace ttmem::history {

class Samples {
public:
    using Key = std::pair<uint32_t, census::Kind>;  // device id
    static constexpr size_t kMostSeries = 64 * census::kDeviceKinds;

    // Adds one sample to each series. A device that is gone is sampled as 0, so that a chart shows its end.
    void add(uint64_t time_ns, const census::Figures& figures);

    std::vector<Key> keys() const;
    std::vector<Sample> since(const Key& key, uint64_t time_ns) const;

private:
    std::map<Key, Series> series_;
};

// The peak of a device that several sets touch can't be had from their peaks: what somebody saw is a lower bound, and this
// keeps the highest that was seen since the device was last held by nobody.
class SeenPeaks {
public:
    void see(const census::Figures& figures);

    // Raises the peaks that are lower bounds anyway; those that are exact stay.
    void raise(census::Figures& figures) const;

private:
    using OfDevice = std::array<uint64_t, census::kDeviceKinds>;
    std::map<uint32_t, OfDevice> peaks_;
};

}  // namespace ttmem::history
