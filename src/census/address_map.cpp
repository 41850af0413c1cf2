// SPDX-License-Identifier: Apache-2.0
#include "census/address_map.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <map>

#include "census/arithmetic.hpp"
#include "census/device_facts.hpp"
#include "census/selection.hpp"

namespace ttmem::census {

using base::Error;

namespace {

// One live allocation before its name is resolved.
struct FoundBlock {
    segment::Allocation allocation;
    uint64_t in_bank = 0;
};

struct PoolBlocks {
    std::vector<FoundBlock> live;
    uint64_t dropped = 0;  // beyond kMostMapBlocks
};

uint64_t in_one_bank(uint64_t reserved, const Bank& bank) {
    return bank.is_known() ? reserved / bank.banks + (reserved % bank.banks != 0 ? 1 : 0) : reserved;
}

// The process's description of the device.
const ttmem_device_info* info_of(const Selection& selection, const SelectedLedger& ledger, size_t position) {
    const auto& devices = selection.reports()[ledger.report].devices;
    for (size_t entry = 0; entry < devices.size(); ++entry) {
        if (devices[entry] && selection.table().position(ledger.report, entry) == position) {
            return &*devices[entry];
        }
    }
    return nullptr;
}

MapBlock describe(const FoundBlock& found, const SelectedLedger& ledger) {
    const segment::Allocation& a = found.allocation;
    return {a.address,
            found.in_bank,
            false,
            a.requested,
            a.used(),
            a.owner,
            ledger.clock.age_ns(a.ticks),
            ledger.reader().name(a.name)};
}

// Whether the blocks cover a range of addresses without holes and without overlaps.
[[maybe_unused]] bool are_adjacent(const std::vector<MapBlock>& blocks) {
    return std::adjacent_find(blocks.begin(), blocks.end(), [](const MapBlock& a, const MapBlock& b) {
               return b.address < a.address || b.address - a.address != a.bytes;
           }) == blocks.end();
}

// Lays out the blocks in order, with the free blocks between them. If blocks overlap or lie outside the bank, the
// allocator follows other rules, and free space is not reported.
void lay_out(AddressMap& map, PoolBlocks pool, const SelectedLedger& ledger, uint64_t limit) {
    std::vector<FoundBlock>& all = pool.live;
    std::sort(all.begin(), all.end(), [](const FoundBlock& a, const FoundBlock& b) {
        return a.allocation.address < b.allocation.address;
    });
    std::vector<Block> blocks;
    bool is_in_order = map.bank.is_known() && pool.dropped == 0;
    uint64_t end = map.bank.base;
    for (const FoundBlock& found : all) {
        blocks.push_back({found.allocation.address, found.allocation.reserved});
        map.used = saturating_add(map.used, found.in_bank);
        is_in_order = is_in_order && found.allocation.address >= end;
        end = saturating_add(found.allocation.address, found.in_bank);
    }
    map.largest_free = is_in_order ? largest_free_block(blocks, map.bank) : std::nullopt;
    const bool has_gaps = map.largest_free.has_value();
    if (has_gaps) {
        assert(map.used <= map.bank.size);
        map.free = map.bank.size - map.used;
        assert(*map.largest_free <= *map.free);
    }
    const size_t shown = std::min<size_t>(limit, all.size());
    map.left_out = all.size() - shown + pool.dropped;
    uint64_t free_from = map.bank.base;
    const auto add_gap = [&](uint64_t to) {
        if (has_gaps && to > free_from) {
            MapBlock gap;
            gap.address = free_from;
            gap.bytes = to - free_from;
            gap.is_free = true;
            map.blocks.push_back(gap);
        }
    };
    for (size_t i = 0; i < shown; ++i) {
        add_gap(all[i].allocation.address);
        map.blocks.push_back(describe(all[i], ledger));
        free_from = saturating_add(all[i].allocation.address, all[i].in_bank);
    }
    if (map.left_out == 0) {
        add_gap(saturating_add(map.bank.base, map.bank.size));
    }
    assert(!has_gaps || are_adjacent(map.blocks));
}

void map_ledger(const Selection& selection, const SelectedLedger& ledger, const MapQuery& query,
                uint64_t& room, std::vector<AddressMap>& result) {
    assert(selection.device());
    const size_t position = *selection.device();
    const ttmem_device_info* info = info_of(selection, ledger, position);
    std::map<std::pair<uint8_t, Kind>, PoolBlocks> pools;
    for (const segment::SetTotals& set : selection.reports()[ledger.report].totals.sets) {
        if (query.kind && set.is_open() && set.index < ledger.sets.size() &&
            ledger.sets[set.index].is_asked) {
            pools[{static_cast<uint8_t>(set.index), *query.kind}];
        }
    }
    uint64_t kept = 0;
    selection.for_each_match(ledger, [&](segment::SlotRef, const segment::Allocation& a, Kind kind) {
        if (index_of(kind) >= kPoolKinds || !segment::adds_bytes(a.flags)) {
            return;
        }
        PoolBlocks& pool = pools[{a.set, kind}];
        if (kept == kMostMapBlocks) {
            ++pool.dropped;
            return;
        }
        ++kept;
        const Bank bank = info == nullptr ? Bank{} : bank_of(*info, kind);
        pool.live.push_back({a, in_one_bank(a.reserved, bank)});
    });
    for (auto& [key, found] : pools) {
        const auto& [set, kind] = key;
        AddressMap map;
        map.pid = ledger.pid();
        map.set = ledger.sets[set].label;
        map.devices = selection.ids(ledger.sets[set].positions);
        map.kind = kind;
        map.bank = info == nullptr ? Bank{} : bank_of(*info, kind);
        const uint64_t live = found.live.size();
        lay_out(map, std::move(found), ledger, std::min(query.limit == 0 ? UINT64_MAX : query.limit, room));
        room -= std::min({room, live, query.limit == 0 ? uint64_t{0} : query.limit});
        result.push_back(std::move(map));
    }
}

}  // namespace

base::Expected<std::vector<AddressMap>> map_addresses(const Census& census, const MapQuery& query) {
    if (query.kind && index_of(*query.kind) >= kPoolKinds) {
        return base::error(Error::Code::refused,
                           std::string(name_of(*query.kind)) +
                               " has no addresses of its own: a map is of dram, l1, l1_small or trace");
    }
    const auto selection = Selection::of(census, {query.device, query.pid, query.kind, {}, {}});
    if (!selection) {
        return tl::unexpected(selection.error());
    }
    std::vector<AddressMap> result;
    uint64_t room = query.limit == 0 ? UINT64_MAX : kMostShownBlocks;
    for (const SelectedLedger& ledger : selection->ledgers()) {
        map_ledger(*selection, ledger, query, room, result);
    }
    // Pools without allocations are shown only if there are no others.
    const auto is_empty = [](const AddressMap& map) { return map.used == 0; };
    if (!std::all_of(result.begin(), result.end(), is_empty)) {
        std::erase_if(result, is_empty);
    }
    return result;
}

}  // namespace ttmem::census
