// SPDX-License-Identifier: Apache-2.0
#pragma once

// The ledgers and allocations that a query selects. Lists, groups and programs all use it, so a filter has the same
// meaning everywhere.

#include <array>
#include <cassert>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "census/device_table.hpp"
#include "census/kind.hpp"

namespace ttmem::census {

struct Filter {
    std::optional<std::string> device = {};  // the id, or the ASIC id as 0x...
    std::optional<uint32_t> pid = {};
    std::optional<Kind> kind = {};
    std::string name = {};  // a part of the full name, case-sensitive
    // Only allocations made after this time of the host's monotonic clock, in ns.
    std::optional<uint64_t> since = {};
};

// The maximum length of a sort or group key. Names can be arbitrarily long.
constexpr size_t kMostKeyBytes = 512;
std::string cut_key(std::string text);

// Tests whether names contain a text. Reads each name once.
class NameFilter {
public:
    NameFilter(const segment::Reader& ledger, const std::string& part) : ledger_(ledger), part_(part) {}

    bool matches(uint32_t name) {
        if (part_.empty()) {
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
    const std::string& part_;
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
    // Returns an error if the device or the process does not exist.
    static base::Expected<Selection> of(const Census& census, Filter filter);

    const std::vector<SelectedLedger>& ledgers() const { return ledgers_; }
    const DeviceTable& table() const { return table_; }
    const std::vector<Report>& reports() const { return reports_; }
    std::optional<size_t> device() const { return device_; }  // its position, if the query has a device
    std::vector<uint32_t> ids(const std::vector<size_t>& positions) const;

    // Calls take(slot, allocation, kind) for every matching allocation of a ledger, in slot order.
    template <class Take>
    void for_each_match(const SelectedLedger& ledger, Take take) const {
        assert(ledger.sets.size() == 256);  // a slot names its set by one byte
        NameFilter names(ledger.reader(), filter_.name);
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
    std::optional<size_t> device_;
    std::array<std::optional<Kind>, 256> kinds_;  // by number in a slot; empty if not selected
    std::vector<SelectedLedger> ledgers_;
};

}  // namespace ttmem::census
