// SPDX-License-Identifier: Apache-2.0
#include "census/allocations.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <tuple>

#include "census/report.hpp"

namespace ttmem::census {

namespace {

// A match that is not yet put into words: names cost, and most matches are not shown.
struct Match {
    size_t report = 0;
    segment::SlotRef slot;
    segment::Allocation allocation;
};

bool comes_before(const Match& a, const Match& b) {
    const auto rank = [](const Match& m) { return std::tuple(m.allocation.used(), m.allocation.requested); };
    const auto place = [](const Match& m) { return std::tuple(m.report, m.slot.slot); };
    return rank(a) != rank(b) ? rank(a) > rank(b) : place(a) < place(b);
}

// Keeps the first `limit` matches of however many: a heap with the last of them on top.
class FirstMatches {
public:
    explicit FirstMatches(uint64_t limit) : limit_(limit == 0 ? UINT64_MAX : limit) {}

    void add(const Match& match) {
        ++total_;
        if (kept_.size() == limit_) {
            if (!comes_before(match, kept_.front())) {
                return;
            }
            std::pop_heap(kept_.begin(), kept_.end(), comes_before);
            kept_.pop_back();
        }
        kept_.push_back(match);
        std::push_heap(kept_.begin(), kept_.end(), comes_before);
    }

    uint64_t total() const { return total_; }
    std::vector<Match> in_order() {
        std::sort_heap(kept_.begin(), kept_.end(), comes_before);
        return std::move(kept_);
    }

private:
    uint64_t limit_;
    uint64_t total_ = 0;
    std::vector<Match> kept_;
};

std::optional<uint64_t> parse_number(std::string_view text) {
    const bool is_hex = text.starts_with("0x") || text.starts_with("0X");
    text.remove_prefix(is_hex ? 2 : 0);
    uint64_t value = 0;
    const auto [end, problem] =
        std::from_chars(text.data(), text.data() + text.size(), value, is_hex ? 16 : 10);
    const bool is_whole = !text.empty() && problem == std::errc() && end == text.data() + text.size();
    return is_whole ? std::optional(value) : std::nullopt;
}

// The position of a device that is called by its id or by its ASIC id.
std::optional<size_t> find_device(const DeviceTable& table, std::string_view text) {
    const std::optional<uint64_t> number = parse_number(text);
    const bool is_asic_id = text.starts_with("0x") || text.starts_with("0X");
    for (size_t i = 0; number && i < table.devices().size(); ++i) {
        const DeviceTable::Device& device = table.devices()[i];
        if (is_asic_id ? device.info.asic_id == *number && *number != 0 : device.id == *number) {
            return i;
        }
    }
    return std::nullopt;
}

struct SetDevices {
    std::vector<size_t> positions;  // of its members
    std::string label;
};

// A process whose ledger is to be scanned.
struct Asked {
    const Process* process = nullptr;
    segment::Clock clock;  // one for all ages
    std::map<uint32_t, SetDevices> sets;
};

std::map<size_t, Asked> find_asked(const std::vector<Report>& reports, const DeviceTable& table,
                                   std::optional<uint32_t> pid) {
    std::map<size_t, Asked> result;
    for (size_t i = 0; i < reports.size(); ++i) {
        const Process& process = *reports[i].process;
        if (pid && process.identity.pid != *pid) {
            continue;
        }
        Asked asked{&process, process.ledger->clock(), {}};
        for (const segment::SetTotals& set : reports[i].totals.sets) {
            asked.sets[set.index] = {table.positions(i, set.set.members),
                                     process.ledger->name(set.set.label)};
        }
        result.emplace(i, std::move(asked));
    }
    return result;
}

void add_matches(FirstMatches& matches, size_t report, const Asked& asked, std::optional<Kind> kind,
                 std::optional<size_t> device) {
    asked.process->ledger->for_each_live([&](segment::SlotRef slot, const segment::Allocation& a) {
        const auto set = asked.sets.find(a.set);
        const auto its_kind = kind_of(a.kind);
        if (set == asked.sets.end() || !its_kind || (kind && its_kind != kind)) {
            return true;
        }
        const std::vector<size_t>& positions = set->second.positions;
        if (!device || std::binary_search(positions.begin(), positions.end(), *device)) {
            matches.add({report, slot, a});
        }
        return true;
    });
}

LiveAllocation describe(const segment::Allocation& a, const Asked& asked, const DeviceTable& table) {
    const segment::Reader& ledger = *asked.process->ledger;
    const SetDevices& set = asked.sets.at(a.set);
    LiveAllocation live;
    live.pid = asked.process->identity.pid;
    for (const size_t position : set.positions) {
        live.devices.push_back(table.devices()[position].id);
    }
    live.set = set.label;
    live.kind = *kind_of(a.kind);
    if (segment::is_kernel(a.kind)) {
        live.kernel_type = kKernelTypes[kernel_type_of(a.kind)];
    } else {
        live.address = a.address;
    }
    live.requested = a.requested;
    live.used = a.used();
    live.planned = (a.flags & segment::kPlanned) != 0;
    live.view = (a.flags & segment::kView) != 0;
    live.reserved_known = (a.flags & segment::kReservedUnknown) == 0;
    live.name = ledger.name(a.name);
    live.owner = a.owner;
    live.thread = a.thread;
    live.age_ns = asked.clock.age_ns(a.ticks);
    return live;
}

}  // namespace

base::Expected<AllocationPage> list_allocations(const Census& census, const AllocationQuery& query) {
    const std::vector<Report> reports = read_reports(census);
    const DeviceTable table(*census.device_ids, reports);
    const auto device = query.device ? find_device(table, *query.device) : std::nullopt;
    if (query.device && !device) {
        return base::error(base::Error::Code::gone, "no tracked process has a device " + *query.device +
                                                        " ('ttmem status' lists them)");
    }
    const std::map<size_t, Asked> asked = find_asked(reports, table, query.pid);
    if (query.pid && asked.empty()) {
        return base::error(
            base::Error::Code::gone,
            "there is no tracked process " + std::to_string(*query.pid) + " ('ttmem ps' lists them)");
    }
    FirstMatches matches(query.limit);
    for (const auto& [report, process] : asked) {
        add_matches(matches, report, process, query.kind, device);
    }
    AllocationPage page;
    page.total = matches.total();
    for (const Match& match : matches.in_order()) {
        page.allocations.push_back(describe(match.allocation, asked.at(match.report), table));
    }
    return page;
}

}  // namespace ttmem::census
