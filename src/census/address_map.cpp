// SPDX-License-Identifier: Apache-2.0
#include "census/address_map.hpp"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <iterator>
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
    std::vector<segment::Allocation> live;
    uint64_t dropped = 0;  // beyond kMostMapBlocks
};

// What a pass over one ledger finds in one device set.
struct SetBlocks {
    std::map<Kind, PoolBlocks> pools;
    std::vector<segment::Allocation> circular_buffers;
    uint64_t dropped_buffers = 0;           // circular buffers beyond kMostMapBlocks
    std::optional<uint64_t> lowest_buffer;  // of L1
};

using LedgerBlocks = std::map<uint8_t, SetBlocks>;

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

// Lays out the ranges with the free blocks between them, as far as they are in the window. Returns the number of ranges that are
// shown. `has_gaps`: they lie in the bank, one after the other, and none is missing.
uint64_t lay_out(AddressMap& map, const Ranges& by_address, bool has_gaps, const SelectedLedger& ledger,
                 const AddressWindow& window, uint64_t limit) {
    uint64_t shown = 0;
    uint64_t free_from = map.bank.base;
    uint64_t free = 0;
    uint64_t largest = 0;
    const auto add_gap = [&](uint64_t to) {
        if (!has_gaps || to <= free_from) {
            return;
        }
        free += to - free_from;
        if (to - free_from > largest) {
            largest = to - free_from;
            map.largest_free_address = free_from;
        }
        if (map.left_out == 0 && window.overlaps(free_from, to)) {
            map.blocks.push_back(free_block(free_from, to));
        }
    };
    for (const TakenRange& range : by_address) {
        const bool is_in_window = window.overlaps(range.address, range.end());
        map.left_out += is_in_window && shown == limit ? 1 : 0;
        add_gap(range.address);
        if (is_in_window && shown < limit) {
            map.blocks.push_back(describe(range, ledger));
            ++shown;
        }
        free_from = range.end();
    }
    add_gap(saturating_add(map.bank.base, map.bank.size));
    if (has_gaps) {
        assert(free <= map.bank.size && are_adjacent(map.blocks));
        map.free = free;
        map.largest_free = largest;
    }
    return shown;
}

// Whether the maps are of circular buffers, program by program.
bool is_of_programs(const MapQuery& query) { return query.kind == KindSet(Kind::cb); }

// Reads a ledger once for all devices of the query.
LedgerBlocks find_blocks(const Selection& selection, const SelectedLedger& ledger, const MapQuery& query) {
    LedgerBlocks found;
    for (const segment::SetTotals& set : selection.reports()[ledger.report].totals.sets) {
        const bool is_asked =
            set.is_open() && set.index < ledger.sets.size() && ledger.sets[set.index].is_asked;
        for (size_t kind = 0; is_asked && !query.kind.empty() && kind < kPoolKinds; ++kind) {
            if (query.kind.selects(static_cast<Kind>(kind))) {
                found[static_cast<uint8_t>(set.index)].pools[static_cast<Kind>(kind)];
            }
        }
    }
    uint64_t kept = 0;
    selection.for_each_match(ledger, [&](segment::SlotRef, const segment::Allocation& a, Kind kind) {
        if (!segment::adds_bytes(a.flags)) {
            return;
        }
        SetBlocks& set = found[a.set];
        if (kind == Kind::l1) {
            set.lowest_buffer = std::min(set.lowest_buffer.value_or(a.address), a.address);
        }
        const bool is_circular =
            kind == Kind::cb && (query.kind.selects(Kind::cb) || query.kind.selects(Kind::l1));
        if (!is_circular && (index_of(kind) >= kPoolKinds || !query.kind.selects(kind))) {
            return;
        }
        const bool has_room = kept < kMostMapBlocks;
        kept += has_room ? 1u : 0u;
        if (is_circular) {
            has_room ? set.circular_buffers.push_back(a) : void(++set.dropped_buffers);
            return;
        }
        PoolBlocks& pool = set.pools[kind];
        has_room ? pool.live.push_back(a) : void(++pool.dropped);
    });
    return found;
}

// Maps what one ledger holds on one device.
class LedgerMapper {
public:
    // `found` has the blocks of all devices. `room` is the number of live blocks that the answer may still get.
    LedgerMapper(const Selection& selection, const SelectedLedger& ledger, const LedgerBlocks& found,
                 size_t device, const MapQuery& query, uint64_t& room)
        : selection_(selection),
          ledger_(ledger),
          device_(device),
          query_(query),
          room_(room),
          asked_core_(parse_core(query.core)),
          info_(info_of(selection, ledger, device)),
          masks_(ledger.reader()) {
        for (const auto& [set, blocks] : found) {
            const std::vector<size_t>& positions = ledger.sets[set].positions;
            if (std::find(positions.begin(), positions.end(), device) != positions.end()) {
                add_set(set, blocks);
            }
        }
    }

    void add_to(DeviceMaps& result) {
        if (is_of_programs(query_)) {
            add_program_maps(result);
        } else {
            add_pool_maps(result);
        }
    }

private:
    uint64_t limit() const { return query_.limit == 0 ? UINT64_MAX : query_.limit; }
    Bank bank(Kind kind) const { return info_ == nullptr ? Bank{} : bank_of(*info_, kind); }

    void add_set(uint8_t set, const SetBlocks& blocks) {
        for (const auto& [kind, pool] : blocks.pools) {
            pools_[{set, kind}] = &pool;
        }
        circular_buffers_.insert(circular_buffers_.end(), blocks.circular_buffers.begin(),
                                 blocks.circular_buffers.end());
        dropped_buffers_ += blocks.dropped_buffers;
        if (blocks.lowest_buffer) {
            lowest_buffer_ = std::min(lowest_buffer_.value_or(UINT64_MAX), *blocks.lowest_buffer);
        }
    }

    AddressMap map_of(uint8_t set, Kind kind) const {
        AddressMap map;
        map.device = selection_.table().devices()[device_].id;
        map.pid = ledger_.pid();
        map.set = ledger_.sets[set].label;
        map.devices = selection_.ids(ledger_.sets[set].positions);
        map.kind = kind;
        map.bank = bank(kind == Kind::cb ? Kind::l1 : kind);
        return map;
    }

    // Lays out a map, and takes its blocks from the room of the answer.
    void finish(AddressMap& map, const Ranges& by_address, bool has_gaps, uint64_t limit) {
        const uint64_t shown =
            lay_out(map, by_address, has_gaps, ledger_, query_.window, std::min(limit, room_));
        if (query_.limit != 0) {
            room_ -= shown;
        }
    }

    CoreBuffers on_core(std::span<const segment::Allocation> buffers) {
        CoreBuffers result = buffers_on_core(buffers, masks_, asked_core_, ledger_, limit());
        L1Reach reach;
        reach.cb_top = result.core.cb_top.value_or(0);
        reach.lowest_buffer = lowest_buffer_;
        result.core.lowest_buffer = lowest_buffer_;
        result.core.headroom = worst_core(reach, bank(Kind::l1), 0).headroom;
        return result;
    }

    void add_pool_maps(DeviceMaps& result) {
        // Each map of L1 shows all circular buffers. Without buffers one map is enough.
        static const PoolBlocks kNoBlocks;
        if (!circular_buffers_.empty()) {
            const auto is_l1 = [](const auto& pool) { return pool.first.second == Kind::l1; };
            std::erase_if(pools_, [&](const auto& pool) {
                return is_l1(pool) && pool.second->live.empty() && pool.second->dropped == 0;
            });
            if (std::none_of(pools_.begin(), pools_.end(), is_l1)) {
                pools_[{circular_buffers_.front().set, Kind::l1}] = &kNoBlocks;
            }
        }
        for (const auto& [key, blocks] : pools_) {
            const auto& [set, kind] = key;
            const PoolBlocks& pool = *blocks;
            AddressMap map = map_of(set, kind);
            map.left_out = pool.dropped;
            Ranges ranges;
            ranges.reserve(pool.live.size());
            for (const segment::Allocation& a : pool.live) {
                ranges.push_back({a.address, in_one_bank(a.reserved, map.bank), a});
                map.used = saturating_add(map.used, ranges.back().bytes);
            }
            sort_by_address(ranges);
            bool has_gaps = pool.dropped == 0 && fit_into(map.bank, ranges);
            if (kind == Kind::l1) {
                add_circular_buffers(map, ranges, has_gaps);
                has_gaps = has_gaps && dropped_buffers_ == 0;
            }
            finish(map, ranges, has_gaps, limit());
            result.maps.push_back(std::move(map));
        }
    }

    // Adds what circular buffers occupy between the buffers of L1.
    void add_circular_buffers(AddressMap& map, Ranges& ranges, bool has_gaps) {
        CoreBuffers circular = on_core(circular_buffers_);
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
        std::vector<segment::Allocation>& all = circular_buffers_;
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
        result.left_aside += dropped_buffers_;
    }

    AddressMap map_of_program(uint8_t set, CoreBuffers program) {
        AddressMap map = map_of(set, Kind::cb);
        if (map.bank.is_known() && lowest_buffer_) {
            const uint64_t end = std::max(*lowest_buffer_, *program.core.cb_top);
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
    size_t device_;
    const MapQuery& query_;
    uint64_t& room_;
    std::optional<Core> asked_core_;
    const ttmem_device_info* info_;
    CoreMasks masks_;
    // Of the sets that have the device:
    std::map<std::pair<uint8_t, Kind>, const PoolBlocks*> pools_;
    std::vector<segment::Allocation> circular_buffers_;
    uint64_t dropped_buffers_ = 0;
    std::optional<uint64_t> lowest_buffer_;
};

// The problem with the kinds of a query; empty if there is none.
std::string problem_with_kinds(const MapQuery& query) {
    if (query.kind.empty() || is_of_programs(query)) {
        return {};
    }
    for (size_t i = 0; i < kKinds; ++i) {
        const auto kind = static_cast<Kind>(i);
        if (!query.kind.selects(kind)) {
            continue;
        }
        if (kind == Kind::cb) {
            return "circular buffers have a map per program: ask for cb without other kinds (a map of l1 "
                   "shows them too)";
        }
        if (i >= kPoolKinds) {
            return std::string(name_of(kind)) +
                   " has no addresses of its own: a map is of dram, l1, l1_small, trace or cb";
        }
        if (!query.core.empty() && kind != Kind::l1) {
            return std::string(name_of(kind)) + " is not part of a core: a core has l1 and cb";
        }
    }
    return {};
}

// The problem with the core of a query; empty if there is none.
std::string problem_with_core(const Selection& selection, const MapQuery& query) {
    if (query.core.empty()) {
        return {};
    }
    const std::optional<Core> core = parse_core(query.core);
    if (!core) {
        return "core '" + query.core + "': must be two numbers, such as 3,4";
    }
    for (const size_t device : selection.devices()) {
        Core size;
        for (const SelectedLedger& ledger : selection.ledgers()) {
            if (const ttmem_device_info* info = info_of(selection, ledger, device)) {
                size = {std::max<uint32_t>(size.x, info->grid_x), std::max<uint32_t>(size.y, info->grid_y)};
            }
        }
        if (size.x != 0 && size.y != 0 && (core->x >= size.x || core->y >= size.y)) {
            return "device " + std::to_string(selection.table().devices()[device].id) + " has no core " +
                   query.core + ": its cores are 0,0 to " + std::to_string(size.x - 1) + "," +
                   std::to_string(size.y - 1);
        }
    }
    return {};
}

// Puts the maps of one device in order, and leaves out what is not shown.
void choose_maps(DeviceMaps& found, const MapQuery& query) {
    if (is_of_programs(query)) {
        const auto top = [](const AddressMap& map) { return map.core->cb_top; };
        std::stable_sort(found.maps.begin(), found.maps.end(),
                         [&](const AddressMap& a, const AddressMap& b) { return top(a) > top(b); });
        if (query.limit != 0 && found.maps.size() > query.limit) {
            found.left_out += found.maps.size() - query.limit;
            found.maps.resize(query.limit);
        }
        return;
    }
    // Pools without allocations are shown only if there are no others of their kind.
    const auto is_empty = [](const AddressMap& map) {
        return map.used == 0 && (!map.core || map.core->bytes == 0);
    };
    KindSet in_use;
    for (const AddressMap& map : found.maps) {
        if (!is_empty(map)) {
            in_use.add(map.kind);
        }
    }
    std::erase_if(found.maps, [&](const AddressMap& map) {
        return is_empty(map) && !in_use.empty() && in_use.selects(map.kind);
    });
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
    if (!query.core.empty() && query.kind.empty()) {
        query.kind = Kind::l1;
    }
    if (std::string problem = problem_with_kinds(query); !problem.empty()) {
        return base::error(Error::Code::refused, std::move(problem));
    }
    const auto selection = Selection::of(census, {.device = query.device, .pid = query.pid});
    if (!selection) {
        return tl::unexpected(selection.error());
    }
    if (std::string problem = problem_with_core(*selection, query); !problem.empty()) {
        return base::error(Error::Code::refused, std::move(problem));
    }
    const std::vector<size_t> devices = selection->devices();
    std::vector<DeviceMaps> found(devices.size());
    uint64_t room = query.limit == 0 ? UINT64_MAX : kMostShownBlocks;
    for (const SelectedLedger& ledger : selection->ledgers()) {
        const LedgerBlocks blocks = find_blocks(*selection, ledger, query);
        for (size_t i = 0; i < devices.size(); ++i) {
            LedgerMapper(*selection, ledger, blocks, devices[i], query, room).add_to(found[i]);
        }
    }
    DeviceMaps result;
    for (DeviceMaps& one : found) {
        choose_maps(one, query);
        result.left_out += one.left_out;
        result.left_aside += one.left_aside;
        std::move(one.maps.begin(), one.maps.end(), std::back_inserter(result.maps));
    }
    return result;
}

}  // namespace ttmem::census
