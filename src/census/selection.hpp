// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a question is about: the ledgers to be looked at, and which of their allocations match. Lists, groups and programs
// all start here, so the same filter means the same everywhere.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "census/kind.hpp"
#include "census/report.hpp"

namespace ttmem::census {

struct Filter {
    std::optional<std::string> device = {};  // its id, or its ASIC id as 0x...
    std::optional<uint32_t> pid = {};
    std::optional<Kind> kind = {};
    std::string name = {};  // a part of the full name, in the case in which it stands there
    std::optional<uint64_t> since =
        {};  // only what came after this moment of the host's monotonic clock, in ns
};

// Texts by which things are sorted and grouped are cut to this: paths of names may be as long as somebody wants them.
constexpr size_t kMostKeyBytes = 512;
std::string cut_key(std::string text);

// Says of a name whether it has a text in it, and looks at each name once.
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
        return look_at(name);
    }

private:
    enum class Verdict : uint8_t { open, yes, no };

    bool look_at(uint32_t name);

    const segment::Reader& ledger_;
    const std::string& part_;
    std::vector<Verdict> verdicts_;
};

// A ledger that was asked for.
struct SelectedLedger {
    struct Set {
        std::vector<size_t> positions;  // of its members in the device table
        std::string label;
        bool is_asked = false;
    };

    const Process* process = nullptr;
    size_t report = 0;
    uint32_t number = 0;                            // of this process's ledgers: it may have several
    segment::Clock clock;                           // one for all ages
    std::vector<Set> sets = std::vector<Set>(256);  // by index

    const segment::Reader& reader() const { return *process->ledger; }
    uint32_t pid() const { return process->identity.pid; }
};

// Refers to the census, which must stay.
class Selection {
public:
    // An error where the device or the process asked for is not there.
    static base::Expected<Selection> of(const Census& census, Filter filter);

    const std::vector<SelectedLedger>& ledgers() const { return ledgers_; }
    const DeviceTable& table() const { return table_; }
    const std::vector<Report>& reports() const { return reports_; }
    std::optional<size_t> device() const { return device_; }  // its position, where one was asked for
    std::vector<uint32_t> ids(const std::vector<size_t>& positions) const;

    // Every allocation of a ledger that matches, in the order of the slots: take(slot, allocation, kind).
    template <class Take>
    void for_each_match(const SelectedLedger& ledger, Take take) const {
        NameFilter names(ledger.reader(), filter_.name);
        ledger.reader().for_each_live([&](segment::SlotRef slot, const segment::Allocation& a) {
            const std::optional<Kind>& kind = kinds_[static_cast<uint8_t>(a.kind)];
            const bool is_new = !filter_.since || ledger.clock.monotonic_ns(a.ticks) > *filter_.since;
            if (kind && ledger.sets[a.set].is_asked && is_new && names.matches(a.name)) {
                take(slot, a, *kind);
            }
            return true;
        });
    }

private:
    Selection(const Census& census, Filter filter);

    void select_ledgers();

    Filter filter_;
    std::vector<Report> reports_;
    DeviceTable table_;
    std::optional<size_t> device_;
    std::array<std::optional<Kind>, 256> kinds_;  // by number in a slot; nothing for what is not asked for
    std::vector<SelectedLedger> ledgers_;
};

}  // namespace ttmem::census
