// SPDX-License-Identifier: Apache-2.0
#include "view/questions/advice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "census/arithmetic.hpp"
#include "census/device_facts.hpp"
#include "census/selection.hpp"
#include "view/json/json_document.hpp"
#include "view/questions/url.hpp"
#include "view/text/format.hpp"

namespace ttmem::view {

void fields(auto& /*io*/, Like<AdviceQuery> auto& /*query*/) {}

void fields(auto& io, Like<AdviceItem> auto& item) {
    io("topic", item.topic, "what it is about");
    io("devices", item.devices, "the devices");
    io("pid", item.pid, "the process; null: it is not about one");
    io.unless_empty("name", item.name, "the full name; null: it is not about one");
    io("value", item.value, "the value for the setting, with a margin of 10 %; null: it is not about one");
    io("text", item.text, "what was found, and what to do");
}

void fields(auto& io, Like<AdviceView> auto& view) {
    list_head(io, view);
    io.rows("advice", view.advice, "settings first");
}

template struct UrlForm<AdviceQuery>;
template struct JsonForm<AdviceView>;

namespace {

using census::Kind;
using census::MemoryFigures;

constexpr uint64_t kMarginPart = 10;          // of the size that would have sufficed
constexpr uint64_t kRegionAlignment = 32;     // of l1_small_size
constexpr uint64_t kTracePage = 8192;         // of a trace, in each bank
constexpr uint64_t kLargePart = 8;            // an eighth of a pool is large
constexpr uint64_t kLongNs = 60'000'000'000;  // and half of a life
constexpr uint64_t kDifferentPart = 10;       // chips differ much from a tenth of their capacity on
constexpr uint64_t kMostFailures = 64;
constexpr size_t kMostHeld = 5;

std::string advice_bytes(uint64_t bytes) { return prose_bytes(bytes, false); }

uint64_t with_margin(uint64_t bytes, uint64_t alignment) {
    const uint64_t sum = census::saturating_add(bytes, bytes / kMarginPart);
    return census::saturating_add(sum, alignment - 1) / alignment * alignment;
}

// The device whose region of a kind was fullest.
struct FullestRegion {
    const census::DeviceFigures* device = nullptr;
    uint64_t peak = 0;
    uint64_t capacity = 0;
};

std::optional<FullestRegion> fullest_region(const census::Figures& figures, Kind kind) {
    std::optional<FullestRegion> fullest;
    for (const census::DeviceFigures& device : figures.devices) {
        const MemoryFigures& memory = device.memory[census::index_of(kind)];
        if (memory.is_known && memory.capacity.value_or(0) != 0 &&
            (!fullest || memory.peak > fullest->peak)) {
            fullest = {&device, memory.peak, *memory.capacity};
        }
    }
    return fullest;
}

// The region that would have held every request that failed and what was live then.
std::optional<AdviceItem> refused_region(const std::vector<census::FailureFigures>& failures, Kind kind) {
    const census::FailureFigures* worst = nullptr;
    uint64_t size = 0;
    for (const census::FailureFigures& failure : failures) {
        const bool is_of_kind = failure.kind == kind && failure.type == census::FailureType::out_of_memory;
        const uint64_t needed =
            is_of_kind && failure.card && failure.card->fix ? failure.card->fix->region_size.value_or(0) : 0;
        if (needed > size) {
            size = needed;
            worst = &failure;
        }
    }
    if (worst == nullptr) {
        return std::nullopt;
    }
    const bool is_small = kind == Kind::l1_small;
    const uint64_t value = with_margin(size, is_small ? kRegionAlignment : kTracePage);
    AdviceItem item{.topic = is_small ? AdviceTopic::l1_small_size : AdviceTopic::trace_region_size,
                    .devices = worst->devices,
                    .pid = worst->pid,
                    .name = worst->name,
                    .value = value};
    item.text = fmt::format("{} {} would have sufficed for the request that failed; set {}, which leaves {}",
                            name_of(item.topic), size, value, advice_bytes(value - size));
    item.text += is_small ? "" : " (in all banks together), or 0: traces are then allocated in DRAM";
    return item;
}

std::optional<AdviceItem> small_region(const census::Figures& figures,
                                       const std::vector<SmallBanks>& small_banks) {
    const auto region = fullest_region(figures, Kind::l1_small);
    if (!region) {
        return std::nullopt;
    }
    const auto known = std::find_if(small_banks.begin(), small_banks.end(), [&](const SmallBanks& one) {
        return one.device == region->device->id && one.banks != 0;
    });
    if (known == small_banks.end()) {
        return std::nullopt;
    }
    const uint64_t size = region->capacity / known->banks;
    const uint64_t peak = region->peak / known->banks + (region->peak % known->banks != 0 ? 1 : 0);
    const uint64_t value = with_margin(peak, kRegionAlignment);
    const bool is_much_too_large = value <= size / 2;
    const bool is_nearly_full = size - std::min(size, peak) < size / kMarginPart;
    if (!is_much_too_large && !is_nearly_full) {
        return std::nullopt;
    }
    AdviceItem item{.topic = AdviceTopic::l1_small_size, .devices = {region->device->id}, .value = value};
    item.text = fmt::format("l1_small_size {} would have sufficed with a margin of {}: {} of {} were used",
                            value, advice_bytes(value - peak), advice_bytes(peak), advice_bytes(size));
    item.text += is_much_too_large
                     ? fmt::format(" on each core; {} more for L1 buffers", advice_bytes(size - value))
                     : " on each core";
    return item;
}

std::optional<AdviceItem> trace_region(const census::Figures& figures) {
    const auto region = fullest_region(figures, Kind::trace);
    if (!region) {
        return std::nullopt;
    }
    const uint64_t value = region->peak == 0 ? 0 : with_margin(region->peak, kTracePage);
    const bool is_much_too_large = value <= region->capacity / 2;
    const bool is_nearly_full =
        region->capacity - std::min(region->capacity, region->peak) < region->capacity / kMarginPart;
    if (!is_much_too_large && !is_nearly_full) {
        return std::nullopt;
    }
    AdviceItem item{.topic = AdviceTopic::trace_region_size, .devices = {region->device->id}, .value = value};
    if (region->peak == 0) {
        item.text =
            fmt::format("trace_region_size 0 would have sufficed: no trace was captured, and {} are reserved",
                        advice_bytes(region->capacity));
        return item;
    }
    item.text = fmt::format(
        "trace_region_size {} (of all banks) would have sufficed with a margin of {}: {} of {} were used",
        value, advice_bytes(value - region->peak), advice_bytes(region->peak),
        advice_bytes(region->capacity));
    const MemoryFigures& dram = region->device->memory[census::index_of(Kind::dram)];
    const uint64_t room = dram.capacity.value_or(0) - std::min(dram.capacity.value_or(0), dram.peak);
    item.text += room != 0
                     ? fmt::format("; or 0: traces are then allocated in DRAM, where {} were never used",
                                   advice_bytes(room))
                     : std::string("; 0 needs room in DRAM");
    return item;
}

// The chips of one board with the highest and the lowest peak of DRAM.
void add_imbalance(const census::Figures& figures, std::vector<AdviceItem>& items) {
    using ChipModel = std::pair<std::optional<std::string>, std::optional<std::string>>;
    std::map<ChipModel, std::vector<const census::DeviceFigures*>> models;
    for (const census::DeviceFigures& device : figures.devices) {
        const MemoryFigures& memory = device.memory[census::index_of(Kind::dram)];
        if (memory.is_known && memory.capacity && memory.peak != 0) {
            models[{device.arch, device.board}].push_back(&device);
        }
    }
    const auto peak_of = [](const census::DeviceFigures* device) {
        return device->memory[census::index_of(Kind::dram)].peak;
    };
    for (const auto& [model, devices] : models) {
        const auto [least, most] =
            std::minmax_element(devices.begin(), devices.end(),
                                [&](const auto* a, const auto* b) { return peak_of(a) < peak_of(b); });
        const uint64_t difference = peak_of(*most) - peak_of(*least);
        const uint64_t capacity = *(*most)->memory[census::index_of(Kind::dram)].capacity;
        if (peak_of(*most) / 2 >= peak_of(*least) && difference >= capacity / kDifferentPart) {
            items.push_back(
                {.topic = AdviceTopic::imbalance,
                 .devices = {(*most)->id, (*least)->id},
                 .text = fmt::format("device {} used up to {} of DRAM, device {} only {}: another "
                                     "distribution would leave more room",
                                     (*most)->id, advice_bytes(peak_of(*most)), (*least)->id,
                                     advice_bytes(peak_of(*least)))});
        }
    }
}

// What names hold in the ledgers, for advice about them.
class NameAdvice {
public:
    NameAdvice(const census::Selection& selection, const census::Figures& figures, uint64_t now_ns)
        : selection_(selection), figures_(figures), now_ns_(now_ns) {
        for (const census::SelectedLedger& ledger : selection.ledgers()) {
            if (!ledger.process->is_beyond_share) {
                scan(ledger);
            }
        }
    }

    void add_fragmentation(std::vector<AdviceItem>& items) const {
        for (const auto& [key, blocks] : blocks_) {
            const auto& [position, kind] = key;
            const census::DeviceFigures& device = figures_.devices[position];
            const MemoryFigures& memory = device.memory[census::index_of(kind)];
            const census::Bank bank = census::bank_of(selection_.table().devices()[position].info, kind);
            if (!bank.is_known() || !memory.capacity || !memory.largest_free) {
                continue;
            }
            const uint64_t free = (*memory.capacity - std::min(*memory.capacity, memory.used)) / bank.banks;
            if (free < bank.size / kDifferentPart || *memory.largest_free >= free / 2) {
                continue;
            }
            const auto [pid, name, holes] = name_between_holes(blocks, bank);
            items.push_back(
                {.topic = AdviceTopic::fragmentation,
                 .devices = {device.id},
                 .pid = pid,
                 .name = name,
                 .text = fmt::format(
                     "{} of device {} is fragmented: {} are free in each bank, and the largest block has "
                     "{}; {} of process {} lies between {}",
                     name_of(kind), device.id, advice_bytes(free), advice_bytes(*memory.largest_free),
                     name.empty() ? "memory without a name" : name, pid,
                     format_count(holes, "hole", "holes"))});
        }
    }

    void add_held_long(std::vector<AdviceItem>& items) const {
        std::vector<std::pair<uint64_t, AdviceItem>> found;
        for (const auto& [key, held] : held_) {
            const auto& [pid, name, kind] = key;
            const auto& capacity = figures_.devices[held.position].memory[census::index_of(kind)].capacity;
            if (capacity && held.used >= *capacity / kLargePart && *capacity != 0) {
                found.push_back(
                    {held.used,
                     {.topic = AdviceTopic::held_long,
                      .devices = {figures_.devices[held.position].id},
                      .pid = pid,
                      .name = name,
                      .text = fmt::format(
                          "{} of process {} holds {} of {} since {}, more than half of its life: if it "
                          "is not in use all the time, free it or move it",
                          name.empty() ? "memory without a name" : name, pid, advice_bytes(held.used),
                          name_of(kind), format_age(held.age_ns))}});
            }
        }
        std::stable_sort(found.begin(), found.end(),
                         [](const auto& a, const auto& b) { return a.first > b.first; });
        found.resize(std::min(found.size(), kMostHeld));
        for (auto& [used, item] : found) {
            items.push_back(std::move(item));
        }
    }

private:
    struct NamedBlock {
        uint64_t address = 0;
        uint64_t reserved = 0;
        uint32_t pid = 0;
        uint32_t name = 0;
        const census::SelectedLedger* ledger = nullptr;
    };
    struct HeldName {
        uint64_t used = 0;
        uint64_t age_ns = 0;  // of the youngest that counts
        size_t position = 0;
    };
    struct HoleNeighbour {
        uint32_t pid = 0;
        std::string name;
        uint64_t holes = 0;
    };

    void scan(const census::SelectedLedger& ledger) {
        const uint64_t start_ns = ledger.process->identity.start_time_ns;
        const uint64_t life_ns = now_ns_ - std::min(now_ns_, start_ns);
        selection_.for_each_match(ledger, [&](segment::SlotRef, const segment::Allocation& a, Kind kind) {
            if (census::index_of(kind) >= census::kPoolKinds || !segment::adds_bytes(a.flags)) {
                return;
            }
            const std::vector<size_t>& positions = ledger.sets[a.set].positions;
            for (const size_t position : positions) {
                blocks_[{position, kind}].push_back({a.address, a.reserved, ledger.pid(), a.name, &ledger});
            }
            const uint64_t age_ns = ledger.clock.age_ns(a.ticks);
            if (age_ns >= std::max(life_ns / 2, kLongNs) && !positions.empty()) {
                HeldName& held = held_[{ledger.pid(), ledger.reader().name(a.name), kind}];
                held.age_ns = held.used == 0 ? age_ns : std::min(held.age_ns, age_ns);
                held.used = census::saturating_add(held.used, a.used());
                held.position = positions.front();
            }
        });
    }

    // The name with the most blocks that have a hole below.
    static HoleNeighbour name_between_holes(std::vector<NamedBlock> blocks, const census::Bank& bank) {
        std::sort(blocks.begin(), blocks.end(),
                  [](const NamedBlock& a, const NamedBlock& b) { return a.address < b.address; });
        std::map<std::pair<uint32_t, uint32_t>, std::pair<uint64_t, const NamedBlock*>> holes;
        uint64_t end = bank.base;
        for (const NamedBlock& block : blocks) {
            if (block.address > end) {
                auto& [count, one] = holes[{block.pid, block.name}];
                ++count;
                one = &block;
            }
            end = std::max(end,
                           census::saturating_add(block.address, census::in_one_bank(block.reserved, bank)));
        }
        HoleNeighbour most;
        for (const auto& [key, found] : holes) {
            if (found.first > most.holes) {
                most = {key.first, found.second->ledger->reader().name(key.second), found.first};
            }
        }
        return most;
    }

    const census::Selection& selection_;
    const census::Figures& figures_;
    uint64_t now_ns_;
    std::map<std::pair<size_t, Kind>, std::vector<NamedBlock>> blocks_;  // by position of the device
    std::map<std::tuple<uint32_t, std::string, Kind>, HeldName> held_;
};

}  // namespace

std::vector<AdviceItem> advise_on(const census::Figures& figures,
                                  const std::vector<census::FailureFigures>& failures,
                                  const std::vector<SmallBanks>& small_banks) {
    std::vector<AdviceItem> items;
    const auto add = [&](std::optional<AdviceItem> refused, std::optional<AdviceItem> used) {
        auto& item = refused ? refused : used;
        if (item) {
            items.push_back(std::move(*item));
        }
    };
    add(refused_region(failures, Kind::l1_small), small_region(figures, small_banks));
    add(refused_region(failures, Kind::trace), trace_region(figures));
    add_imbalance(figures, items);
    return items;
}

base::Expected<AdviceView> Advice::answer(const Host& host, const AdviceQuery& /*query*/) {
    const auto visible = host.visible({});
    if (!visible) {
        return tl::unexpected(visible.error());
    }
    const auto selection = census::Selection::of(visible->census, {});
    if (!selection) {
        return tl::unexpected(selection.error());
    }
    const auto failures = census::list_failures(visible->census, {.limit = kMostFailures});
    if (!failures) {
        return tl::unexpected(failures.error());
    }
    AdviceView view;
    visible->describe(view, host.origin());
    census::Figures figures = census::compute_figures(visible->census);
    host.annotate(figures);
    std::vector<SmallBanks> small_banks;
    for (const census::DeviceTable::Device& device : selection->table().devices()) {
        small_banks.push_back({device.id, census::bank_of(device.info, Kind::l1_small).banks});
    }
    view.advice = advise_on(figures, failures->failures, small_banks);
    const NameAdvice names(*selection, figures, view.origin.time_ns);
    names.add_fragmentation(view.advice);
    names.add_held_long(view.advice);
    return view;
}

}  // namespace ttmem::view
