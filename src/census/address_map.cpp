// SPDX-License-Identifier: Apache-2.0
#include "census/address_map.hpp"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <map>
#include <tuple>

#include "census/arithmetic.hpp"
#include "census/circular_buffers.hpp"
#include "census/device_facts.hpp"
#include "census/programs.hpp"
#include "census/selection.hpp"
#include "census/worst_core.hpp"

namespace ttmem::census {

using base::Error;

namespace {

// A range of addresses in one bank that is not free, before its name is resolved.
struct TakenRange {
    uint64_t address = 0;
    uint64_t bytes = 0;
    segment::Allocation allocation;
    uint64_t circular_buffers = 0;  // 0: the allocation alone

    uint64_t end() const { return saturating_add(address, bytes); }
};

using Ranges = std::vector<TakenRange>;

struct PoolBlocks {
    Ranges live;
    uint64_t dropped = 0;  // beyond kMostMapBlocks
};

// What a pass over one ledger finds.
struct LedgerBlocks {
    std::map<std::pair<uint8_t, Kind>, PoolBlocks> pools;
    std::vector<segment::Allocation> circular_buffers;
    uint64_t dropped_buffers = 0;           // circular buffers beyond kMostMapBlocks
    std::optional<uint64_t> lowest_buffer;  // of L1
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

void sort_by_address(Ranges& ranges) {
    std::sort(ranges.begin(), ranges.end(),
              [](const TakenRange& a, const TakenRange& b) { return a.address < b.address; });
}

// Whether the ranges lie in the bank one after the other. If they do not, the allocator follows other rules.
bool fit_into(const Bank& bank, const Ranges& by_address) {
    uint64_t end = bank.base;
    for (const TakenRange& range : by_address) {
        if (range.address < end) {
            return false;
        }
        end = range.end();
    }
    return bank.is_known() && end <= saturating_add(bank.base, bank.size);
}

// The ranges that circular buffers cover together, by address.
Ranges merge(const std::vector<segment::Allocation>& by_address) {
    Ranges ranges;
    for (const segment::Allocation& a : by_address) {
        if (ranges.empty() || a.address > ranges.back().end()) {
            ranges.push_back({a.address, a.requested, a, 1});
            continue;
        }
        TakenRange& last = ranges.back();
        ++last.circular_buffers;
        if (end_of_buffer(a) > last.end()) {
            last.bytes = end_of_buffer(a) - last.address;
            last.allocation = a;
        }
    }
    return ranges;
}

// The parts of ranges in the bank that no live block covers. Live blocks are in order.
Ranges uncovered(const Ranges& ranges, const Ranges& live, const Bank& bank) {
    Ranges result;
    size_t next = 0;
    for (const TakenRange& range : ranges) {
        uint64_t from = std::max(range.address, bank.base);
        const uint64_t end = std::min(range.end(), saturating_add(bank.base, bank.size));
        while (next < live.size() && live[next].end() <= from) {
            ++next;
        }
        for (size_t i = next; from < end; ++i) {
            const uint64_t until = i < live.size() ? std::min(live[i].address, end) : end;
            if (until > from) {
                result.push_back({from, until - from, range.allocation, range.circular_buffers});
            }
            from = i < live.size() ? std::max(from, live[i].end()) : end;
        }
    }
    return result;
}

MapBlock describe(const TakenRange& range, const SelectedLedger& ledger) {
    const segment::Allocation& a = range.allocation;
    MapBlock block;
    block.address = range.address;
    block.bytes = range.bytes;
    if (range.circular_buffers == 0) {
        block.requested = a.requested;
        block.used = a.used();
    }
    block.owner = a.owner;
    block.age_ns = ledger.clock.age_ns(a.ticks);
    if (std::string name = ledger.reader().name(a.name); !name.empty()) {
        block.name = std::move(name);
    }
    block.circular_buffers = range.circular_buffers;
    return block;
}

MapBlock free_block(uint64_t from, uint64_t to) {
    MapBlock block;
    block.address = from;
    block.bytes = to - from;
    block.is_free = true;
    return block;
}

// Whether the blocks cover a range of addresses without holes and without overlaps.
[[maybe_unused]] bool are_adjacent(const std::vector<MapBlock>& blocks) {
    return std::adjacent_find(blocks.begin(), blocks.end(), [](const MapBlock& a, const MapBlock& b) {
               return b.address < a.address || b.address - a.address != a.bytes;
           }) == blocks.end();
}

// Lays out the ranges with the free blocks between them. `has_gaps`: they lie in the bank, one after the other, and none
// is missing.
void lay_out(AddressMap& map, const Ranges& by_address, bool has_gaps, const SelectedLedger& ledger,
             uint64_t limit) {
    const size_t shown = std::min<size_t>(limit, by_address.size());
    map.left_out += by_address.size() - shown;
    uint64_t free_from = map.bank.base;
    uint64_t free = 0;
    uint64_t largest = 0;
    const auto add_gap = [&](uint64_t to, bool is_shown) {
        if (!has_gaps || to <= free_from) {
            return;
        }
        free += to - free_from;
        largest = std::max(largest, to - free_from);
        if (is_shown) {
            map.blocks.push_back(free_block(free_from, to));
        }
    };
    for (size_t i = 0; i < by_address.size(); ++i) {
        add_gap(by_address[i].address, i < shown);
        if (i < shown) {
            map.blocks.push_back(describe(by_address[i], ledger));
        }
        free_from = by_address[i].end();
    }
    add_gap(saturating_add(map.bank.base, map.bank.size), map.left_out == 0);
    if (has_gaps) {
        assert(free <= map.bank.size && are_adjacent(map.blocks));
        map.free = free;
        map.largest_free = largest;
    }
}

// Maps what one ledger holds on the device.
class LedgerMapper {
public:
    // `room` is the number of live blocks that the answer may still get.
    LedgerMapper(const Selection& selection, const SelectedLedger& ledger, const MapQuery& query,
                 uint64_t& room)
        : selection_(selection),
          ledger_(ledger),
          query_(query),
          room_(room),
          asked_core_(parse_core(query.core)),
          info_(info_of(selection, ledger, *selection.device())),
          masks_(ledger.reader()) {}

    void add_to(DeviceMaps& result) {
        find_blocks();
        if (query_.kind == Kind::cb) {
            add_program_maps(result);
        } else {
            add_pool_maps(result);
        }
    }

private:
    bool wants(Kind kind) const { return !query_.kind || *query_.kind == kind; }
    uint64_t limit() const { return query_.limit == 0 ? UINT64_MAX : query_.limit; }
    Bank bank(Kind kind) const { return info_ == nullptr ? Bank{} : bank_of(*info_, kind); }

    void find_blocks() {
        for (const segment::SetTotals& set : selection_.reports()[ledger_.report].totals.sets) {
            if (query_.kind && *query_.kind != Kind::cb && set.is_open() && set.index < ledger_.sets.size() &&
                ledger_.sets[set.index].is_asked) {
                found_.pools[{static_cast<uint8_t>(set.index), *query_.kind}];
            }
        }
        uint64_t kept = 0;
        selection_.for_each_match(ledger_, [&](segment::SlotRef, const segment::Allocation& a, Kind kind) {
            if (!segment::adds_bytes(a.flags)) {
                return;
            }
            if (kind == Kind::l1) {
                found_.lowest_buffer = std::min(found_.lowest_buffer.value_or(a.address), a.address);
            }
            const bool is_circular = kind == Kind::cb && (wants(Kind::cb) || wants(Kind::l1));
            if (!is_circular && (index_of(kind) >= kPoolKinds || !wants(kind))) {
                return;
            }
            const bool has_room = kept < kMostMapBlocks;
            kept += has_room ? 1u : 0u;
            if (is_circular) {
                has_room ? found_.circular_buffers.push_back(a) : void(++found_.dropped_buffers);
                return;
            }
            PoolBlocks& pool = found_.pools[{a.set, kind}];
            has_room ? pool.live.push_back({a.address, in_one_bank(a.reserved, bank(kind)), a})
                     : void(++pool.dropped);
        });
    }

    AddressMap map_of(uint8_t set, Kind kind) const {
        AddressMap map;
        map.pid = ledger_.pid();
        map.set = ledger_.sets[set].label;
        map.devices = selection_.ids(ledger_.sets[set].positions);
        map.kind = kind;
        map.bank = bank(kind == Kind::cb ? Kind::l1 : kind);
        return map;
    }

    // Lays out a map, and takes its blocks from the room of the answer.
    void finish(AddressMap& map, const Ranges& by_address, bool has_gaps, uint64_t limit) {
        lay_out(map, by_address, has_gaps, ledger_, std::min(limit, room_));
        if (query_.limit != 0) {
            room_ -= std::min({room_, uint64_t{by_address.size()}, limit});
        }
    }

    CoreBuffers on_core(std::span<const segment::Allocation> buffers) {
        CoreBuffers result = buffers_on_core(buffers, masks_, asked_core_, ledger_, limit());
        L1Reach reach;
        reach.cb_top = result.core.cb_top.value_or(0);
        reach.lowest_buffer = found_.lowest_buffer;
        result.core.lowest_buffer = found_.lowest_buffer;
        result.core.headroom = worst_core(reach, bank(Kind::l1), 0).headroom;
        return result;
    }

    void add_pool_maps(DeviceMaps& result) {
        // Each map of L1 shows all circular buffers. Without buffers one map is enough.
        if (!found_.circular_buffers.empty()) {
            const auto is_l1 = [](const auto& pool) { return pool.first.second == Kind::l1; };
            std::erase_if(found_.pools, [&](const auto& pool) {
                return is_l1(pool) && pool.second.live.empty() && pool.second.dropped == 0;
            });
            if (std::none_of(found_.pools.begin(), found_.pools.end(), is_l1)) {
                found_.pools[{found_.circular_buffers.front().set, Kind::l1}];
            }
        }
        for (auto& [key, pool] : found_.pools) {
            const auto& [set, kind] = key;
            AddressMap map = map_of(set, kind);
            map.left_out = pool.dropped;
            Ranges& ranges = pool.live;
            sort_by_address(ranges);
            for (const TakenRange& range : ranges) {
                map.used = saturating_add(map.used, range.bytes);
            }
            bool has_gaps = pool.dropped == 0 && fit_into(map.bank, ranges);
            if (kind == Kind::l1) {
                add_circular_buffers(map, ranges, has_gaps);
                has_gaps = has_gaps && found_.dropped_buffers == 0;
            }
            finish(map, ranges, has_gaps, limit());
            result.maps.push_back(std::move(map));
        }
    }

    // Adds what circular buffers occupy between the buffers of L1.
    void add_circular_buffers(AddressMap& map, Ranges& ranges, bool has_gaps) {
        CoreBuffers circular = on_core(found_.circular_buffers);
        Ranges occupied = merge(circular.buffers);
        if (has_gaps) {
            occupied = uncovered(occupied, ranges, map.bank);
        }
        for (const TakenRange& range : occupied) {
            circular.core.bytes = saturating_add(circular.core.bytes, range.bytes);
        }
        ranges.insert(ranges.end(), occupied.begin(), occupied.end());
        sort_by_address(ranges);
        map.core = std::move(circular.core);
    }

    // One map per program, the one that reaches highest first.
    void add_program_maps(DeviceMaps& result) {
        std::vector<segment::Allocation>& all = found_.circular_buffers;
        const auto key_of = [](const segment::Allocation& a) { return std::tuple(a.set, program_of(a)); };
        std::stable_sort(all.begin(), all.end(),
                         [&](const segment::Allocation& a, const segment::Allocation& b) {
                             return key_of(a) < key_of(b);
                         });
        std::vector<std::pair<uint8_t, CoreBuffers>> programs;
        for (auto first = all.begin(); first != all.end();) {
            const auto last = std::find_if(
                first, all.end(), [&](const segment::Allocation& a) { return key_of(a) != key_of(*first); });
            CoreBuffers program = on_core({first, last});
            if (!program.buffers.empty()) {
                programs.emplace_back(first->set, std::move(program));
            }
            first = last;
        }
        const auto top = [](const auto& program) { return program.second.core.cb_top; };
        std::stable_sort(programs.begin(), programs.end(),
                         [&](const auto& a, const auto& b) { return top(a) > top(b); });
        for (size_t i = 0; i < programs.size(); ++i) {
            if (i < limit() && room_ != 0) {
                result.maps.push_back(map_of_program(programs[i].first, std::move(programs[i].second)));
            } else {
                ++result.left_out;
            }
        }
        result.left_aside += found_.dropped_buffers;
    }

    AddressMap map_of_program(uint8_t set, CoreBuffers program) {
        AddressMap map = map_of(set, Kind::cb);
        if (map.bank.is_known() && found_.lowest_buffer) {
            const uint64_t end = std::max(*found_.lowest_buffer, *program.core.cb_top);
            map.bank.size = std::min(map.bank.size, end - std::min(end, map.bank.base));
        }
        Ranges ranges;
        for (const segment::Allocation& a : program.buffers) {
            ranges.push_back({a.address, a.requested, a});
            map.used = saturating_add(map.used, a.requested);
        }
        program.core.bytes = map.used;
        map.core = std::move(program.core);
        finish(map, ranges, fit_into(map.bank, ranges), UINT64_MAX);
        return map;
    }

    const Selection& selection_;
    const SelectedLedger& ledger_;
    const MapQuery& query_;
    uint64_t& room_;
    std::optional<Core> asked_core_;
    const ttmem_device_info* info_;
    CoreMasks masks_;
    LedgerBlocks found_;
};

// The problem with the core of a query; empty if there is none.
std::string problem_with_core(const Selection& selection, const MapQuery& query) {
    if (query.core.empty()) {
        return {};
    }
    const std::optional<Core> core = parse_core(query.core);
    if (!core) {
        return "core '" + query.core + "': must be two numbers, such as 3,4";
    }
    if (query.kind && *query.kind != Kind::l1 && *query.kind != Kind::cb) {
        return std::string(name_of(*query.kind)) + " is not part of a core: a core has l1 and cb";
    }
    Core size;
    for (const SelectedLedger& ledger : selection.ledgers()) {
        if (const ttmem_device_info* info = info_of(selection, ledger, *selection.device())) {
            size = {std::max<uint32_t>(size.x, info->grid_x), std::max<uint32_t>(size.y, info->grid_y)};
        }
    }
    if (size.x != 0 && size.y != 0 && (core->x >= size.x || core->y >= size.y)) {
        return "device " + query.device + " has no core " + query.core + ": its cores are 0,0 to " +
               std::to_string(size.x - 1) + "," + std::to_string(size.y - 1);
    }
    return {};
}

}  // namespace

std::optional<Core> parse_core(std::string_view text) {
    Core core;
    const char* const end = text.data() + text.size();
    const auto x = std::from_chars(text.data(), end, core.x);
    if (x.ec != std::errc() || x.ptr == end || *x.ptr != ',') {
        return std::nullopt;
    }
    const auto y = std::from_chars(x.ptr + 1, end, core.y);
    return y.ec == std::errc() && y.ptr == end ? std::optional(core) : std::nullopt;
}

base::Expected<DeviceMaps> map_addresses(const Census& census, const MapQuery& asked) {
    MapQuery query = asked;
    if (!query.core.empty() && !query.kind) {
        query.kind = Kind::l1;
    }
    if (query.kind && index_of(*query.kind) >= kPoolKinds && *query.kind != Kind::cb) {
        return base::error(Error::Code::refused,
                           std::string(name_of(*query.kind)) +
                               " has no addresses of its own: a map is of dram, l1, l1_small, trace or cb");
    }
    const auto selection = Selection::of(census, {.device = query.device, .pid = query.pid});
    if (!selection) {
        return tl::unexpected(selection.error());
    }
    if (selection->has_several_devices()) {
        return base::error(Error::Code::refused, "a map is of one device, not of " + query.device);
    }
    if (std::string problem = problem_with_core(*selection, query); !problem.empty()) {
        return base::error(Error::Code::refused, std::move(problem));
    }
    DeviceMaps result;
    uint64_t room = query.limit == 0 ? UINT64_MAX : kMostShownBlocks;
    for (const SelectedLedger& ledger : selection->ledgers()) {
        LedgerMapper(*selection, ledger, query, room).add_to(result);
    }
    if (query.kind == Kind::cb) {
        const auto top = [](const AddressMap& map) { return map.core->cb_top; };
        std::stable_sort(result.maps.begin(), result.maps.end(),
                         [&](const AddressMap& a, const AddressMap& b) { return top(a) > top(b); });
        if (query.limit != 0 && result.maps.size() > query.limit) {
            result.left_out += result.maps.size() - query.limit;
            result.maps.resize(query.limit);
        }
        return result;
    }
    // Pools without allocations are shown only if there are no others.
    const auto is_empty = [](const AddressMap& map) {
        return map.used == 0 && (!map.core || map.core->bytes == 0);
    };
    if (!std::all_of(result.maps.begin(), result.maps.end(), is_empty)) {
        std::erase_if(result.maps, is_empty);
    }
    return result;
}

}  // namespace ttmem::census
