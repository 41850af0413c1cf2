// SPDX-License-Identifier: Apache-2.0
#pragma once

// The ledgers and allocations that a query selects. Lists, groups and programs all use it, so a filter has the same
// meaning everywhere. Hidden processes are not selected; their devices exist.

#include <algorithm>
#include <array>
#include <cassert>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/name_pattern.hpp"
#include "census/device_table.hpp"
#include "census/kind.hpp"

namespace ttmem::census {

struct Filter {
    // The id, or the ASIC id as 0x... Several as in split_device_list().
    std::optional<std::string> device = {};
    std::optional<uint32_t> pid = {};
    KindSet kind = {};
    std::string name = {};  // a base::NamePattern
    // Only allocations made after this time of the host's monotonic clock, in ns.
    std::optional<uint64_t> since = {};
};

// The maximum length of a sort or group key. Names can be arbitrarily long.
constexpr size_t kMostKeyBytes = 512;
std::string cut_key(std::string text);

// Compares names with a pattern. Reads each name once.
class NameFilter {
public:
    NameFilter(const segment::Reader& ledger, const base::NamePattern& pattern)
        : ledger_(ledger), pattern_(pattern) {}

    bool matches(uint32_t name) {
        if (pattern_.matches_all()) {
            return true;
        }
        if (name < verdicts_.size() && verdicts_[name] != Verdict::open) {
            return verdicts_[name] == Verdict::yes;
        }
        return resolve(name);
    }

private:
    enum class Verdict : uint8_t { open, yes, no };

    bool resolve(uint32_t name);

    const segment::Reader& ledger_;
    const base::NamePattern& pattern_;
    std::vector<Verdict> verdicts_;
};

// A ledger that the query selects.
struct SelectedLedger {
    struct SelectedSet {
        std::vector<size_t> positions;  // positions of its members in the device table
        std::string label;
        bool is_asked = false;
    };

    const Process* process = nullptr;
    size_t report = 0;
    uint32_t number = 0;                                            // index among the ledgers of the process
    segment::Clock clock;                                           // the same for all ages
    std::vector<SelectedSet> sets = std::vector<SelectedSet>(256);  // by index

    const segment::Reader& reader() const { return *process->ledger; }
    uint32_t pid() const { return process->identity.pid; }
};

// Refers to the census, which must outlive it.
class Selection {
public:
    // Returns an error if a device or the process does not exist, or the name is not a pattern.
    static base::Expected<Selection> of(const Census& census, Filter filter);

    const std::vector<SelectedLedger>& ledgers() const { return ledgers_; }
    const DeviceTable& table() const { return table_; }
    const std::vector<Report>& reports() const { return reports_; }
    // The position of the device, if the query has one, or the first of several.
    std::optional<size_t> device() const {
        return devices_.empty() ? std::nullopt : std::optional(devices_.front());
    }
    // The positions of all that the query has, in the order of the table.
    std::vector<size_t> devices() const;
    bool has_several_devices() const { return devices_.size() > 1; }
    // Whether the query selects the device with this position.
    bool selects(size_t position) const {
        return devices_.empty() || std::find(devices_.begin(), devices_.end(), position) != devices_.end();
    }
    std::vector<uint32_t> ids(const std::vector<size_t>& positions) const;

    // Calls take(slot, allocation, kind) for every matching allocation of a ledger, in slot order.
    template <class Take>
    void for_each_match(const SelectedLedger& ledger, Take take) const {
        assert(ledger.sets.size() == 256);  // a slot names its set by one byte
        NameFilter names(ledger.reader(), name_);
        const auto take_match = [&](segment::SlotRef slot, const segment::Allocation& a) {
            const std::optional<Kind>& kind = kinds_[static_cast<uint8_t>(a.kind)];
            const bool is_new = !filter_.since || ledger.clock.monotonic_ns(a.ticks) > *filter_.since;
            if (kind && ledger.sets[a.set].is_asked && is_new && names.matches(a.name)) {
                take(slot, a, *kind);
            }
            return true;
        };
        ledger.reader().for_each_live(take_match, ledger.process->slots_to_scan);
    }

private:
    Selection(const Census& census, Filter filter);

    void select_ledgers();

    Filter filter_;
    std::vector<Report> reports_;
    DeviceTable table_;
    base::NamePattern name_;
    std::vector<size_t> devices_;
    std::array<std::optional<Kind>, 256> kinds_;  // by number in a slot; empty if not selected
    std::vector<SelectedLedger> ledgers_;
};

}  // namespace ttmem::census
