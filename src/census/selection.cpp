// SPDX-License-Identifier: Apache-2.0
#include "census/selection.hpp"

#include <algorithm>
#include <cassert>
#include <charconv>

#include "census/device_id_set.hpp"

namespace ttmem::census {

namespace {

std::optional<uint64_t> parse_number(std::string_view text) {
    const bool is_hex = text.starts_with("0x") || text.starts_with("0X");
    text.remove_prefix(is_hex ? 2 : 0);
    uint64_t value = 0;
    const auto [end, problem] =
        std::from_chars(text.data(), text.data() + text.size(), value, is_hex ? 16 : 10);
    const bool is_whole = !text.empty() && problem == std::errc() && end == text.data() + text.size();
    return is_whole ? std::optional(value) : std::nullopt;
}

// The position of a device, given its id, its file, its ASIC id or its PCIe address.
std::optional<size_t> find_device(const DeviceTable& table, std::string_view text) {
    constexpr std::string_view kFolder = "/dev/tenstorrent/";
    if (text.starts_with(kFolder)) {
        text.remove_prefix(kFolder.size());
    }
    for (size_t i = 0; i < table.devices().size(); ++i) {
        const DriverDevice* driver = table.devices()[i].driver;
        if (driver != nullptr && driver->facts.bdf == text) {
            return i;
        }
    }
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

}  // namespace

std::string cut_key(std::string text) {
    if (text.size() > kMostKeyBytes) {
        size_t end = kMostKeyBytes;
        while (end != 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) {
            --end;  // inside a UTF-8 character
        }
        text.erase(end);
    }
    assert(text.size() <= kMostKeyBytes);
    return text;
}

bool NameFilter::resolve(uint32_t name) {
    const bool has_it = pattern_.matches(ledger_.name(name));
    // A slot may contain any number. Impossible name numbers are not cached.
    if (name < segment::kMaxNames) {
        verdicts_.resize(std::max<size_t>(verdicts_.size(), name + 1), Verdict::open);
        verdicts_[name] = has_it ? Verdict::yes : Verdict::no;
    }
    return has_it;
}

Selection::Selection(const Census& census, Filter filter)
    : filter_(std::move(filter)), reports_(read_reports(census)), table_(census, reports_) {
    for (size_t number = 0; number < kinds_.size(); ++number) {
        const std::optional<Kind> kind = kind_of(static_cast<segment::AllocationKind>(number));
        kinds_[number] = kind && filter_.kind.selects(*kind) ? kind : std::nullopt;
    }
}

void Selection::select_ledgers() {
    assert(ledgers_.empty());
    uint32_t number = 0;
    for (size_t i = 0; i < reports_.size(); ++i) {
        const Process& process = *reports_[i].process;
        const bool is_another = i == 0 || reports_[i - 1].process->identity.pid != process.identity.pid;
        number = is_another ? 0 : number + 1;
        if (process.is_hidden || (filter_.pid && process.identity.pid != *filter_.pid)) {
            continue;
        }
        SelectedLedger ledger{&process, i, number, process.ledger->clock()};
        for (const segment::SetTotals& set : reports_[i].totals.sets) {
            if (set.index < ledger.sets.size()) {
                std::vector<size_t> positions = table_.positions(i, set.set.members);
                const bool is_asked =
                    devices_.empty() ||
                    std::any_of(positions.begin(), positions.end(), [&](size_t one) { return selects(one); });
                ledger.sets[set.index] = {std::move(positions), process.ledger->name(set.set.label),
                                          is_asked};
            }
        }
        ledgers_.push_back(std::move(ledger));
    }
}

base::Expected<Selection> Selection::of(const Census& census, Filter filter) {
    Selection selection(census, std::move(filter));
    const Filter& asked = selection.filter_;
    for (const std::string& device :
         asked.device ? split_device_list(*asked.device) : std::vector<std::string>()) {
        const auto position = find_device(selection.table_, device);
        if (!position) {
            return base::error(base::Error::Code::not_found,
                               "no tracked process has a device " + device + " ('ttmem status' lists them)");
        }
        if (selection.devices_.empty() || !selection.selects(*position)) {
            selection.devices_.push_back(*position);
        }
    }
    auto name = base::NamePattern::parse(asked.name);
    if (!name) {
        return tl::unexpected(std::move(name.error()));
    }
    selection.name_ = std::move(*name);
    selection.select_ledgers();
    if (asked.pid && selection.ledgers_.empty()) {
        return base::error(
            base::Error::Code::not_found,
            "there is no tracked process " + std::to_string(*asked.pid) + " ('ttmem ps' lists them)");
    }
    return selection;
}

std::vector<size_t> Selection::devices() const {
    std::vector<size_t> sorted = devices_;
    std::sort(sorted.begin(), sorted.end());
    return sorted;
}

std::vector<uint32_t> Selection::ids(const std::vector<size_t>& positions) const {
    std::vector<uint32_t> result;
    result.reserve(positions.size());
    for (const size_t position : positions) {
        assert(position < table_.devices().size());
        result.push_back(table_.devices()[position].id);
    }
    return result;
}

}  // namespace ttmem::census
