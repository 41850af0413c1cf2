// SPDX-License-Identifier: Apache-2.0
#include "census/ledger_scan.hpp"

#include <algorithm>
#include <cassert>

#include "census/arithmetic.hpp"
#include "census/device_facts.hpp"

namespace ttmem::census {

namespace {

using Devices = std::vector<std::optional<ttmem_device_info>>;

// Data that a pass collects per set.
struct SetContents {
    std::array<std::vector<Block>, kPoolKinds> blocks;
    std::array<bool, kPoolKinds> has_unknown_sizes{};  // contains a block of unknown reserved size
    SetScan scan;
};

void add_block(SetContents& set, Kind kind, const segment::Allocation& a) {
    set.blocks[index_of(kind)].push_back({a.address, a.reserved});
    if (a.flags.has(segment::AllocationFlag::reserved_unknown)) {
        set.has_unknown_sizes[index_of(kind)] = true;
    }
    if (kind == Kind::l1) {
        set.scan.lowest_l1 = std::min(set.scan.lowest_l1.value_or(a.address), a.address);
    }
}

void add_circular_buffer(SetScan& set, const segment::Allocation& a) {
    const uint64_t top = saturating_add(a.address, a.requested);  // its request is the size per core
    if (top > set.cb_top) {
        set.cb_top = top;
        set.cb_top_cores = a.core_set;
    }
}

std::map<uint32_t, SetContents> pass_over(const segment::Reader& reader, uint64_t slots) {
    std::map<uint32_t, SetContents> sets;
    SetContents* last = nullptr;
    uint32_t last_index = UINT32_MAX;
    const auto take = [&](segment::SlotRef, const segment::Allocation& a) {
        const std::optional<Kind> kind = kind_of(a.kind);
        if (!kind || !segment::adds_bytes(a.flags)) {
            return true;
        }
        if (last_index != a.set) {
            last_index = a.set;
            last = &sets[a.set];
        }
        if (index_of(*kind) < kPoolKinds) {
            add_block(*last, *kind, a);
        } else if (*kind == Kind::cb) {
            add_circular_buffer(last->scan, a);
        }
        return true;
    };
    reader.for_each_live(take, slots);
    return sets;
}

// Finds the largest free blocks in the banks of the members of a set. False if the work does not suffice.
bool find_free_space(SetContents& set, uint64_t members, const Devices& devices, uint64_t& work) {
    for (size_t kind = 0; kind < kPoolKinds; ++kind) {
        std::vector<Block>& blocks = set.blocks[kind];
        std::sort(blocks.begin(), blocks.end(),
                  [](const Block& a, const Block& b) { return a.address < b.address; });
        for (size_t entry = 0; !blocks.empty() && entry < devices.size(); ++entry) {
            if (!devices[entry] || (members >> entry & 1) == 0) {
                continue;
            }
            const Bank bank = bank_of(*devices[entry], static_cast<Kind>(kind));
            auto& free = set.scan.free[kind];
            if (std::any_of(free.begin(), free.end(),
                            [&](const auto& known) { return known.first == bank; })) {
                continue;
            }
            const uint64_t needed = free.empty() ? 0 : blocks.size();
            if (needed > work) {
                return false;
            }
            work -= needed;
            free.emplace_back(bank,
                              set.has_unknown_sizes[kind] ? std::nullopt : largest_free_block(blocks, bank));
        }
        blocks = {};
    }
    return true;
}

std::shared_ptr<const SetScans> scan_ledger(const segment::Reader& reader, const Devices& devices,
                                            uint64_t& work) {
    const uint64_t slots = reader.slots_used();
    if (slots > work) {
        return nullptr;
    }
    work -= slots;
    std::map<uint32_t, SetContents> collected = pass_over(reader, slots);
    auto scans = std::make_shared<SetScans>();
    for (const segment::SetTotals& set : reader.sets()) {
        if (const auto found = collected.find(set.index); found != collected.end()) {
            if (!find_free_space(found->second, set.set.members, devices, work)) {
                return nullptr;
            }
            scans->emplace(set.index, std::move(found->second.scan));
        }
    }
    return scans;
}

std::vector<Bank> banks_of(const Devices& devices) {
    std::vector<Bank> banks;
    for (const auto& info : devices) {
        for (size_t kind = 0; kind < kPoolKinds; ++kind) {
            banks.push_back(info ? bank_of(*info, static_cast<Kind>(kind)) : Bank{});
        }
    }
    return banks;
}

}  // namespace

std::optional<uint64_t> events_if_quiet(const segment::Reader& reader) {
    uint64_t events = 0;
    for (const segment::WriterState& writer : reader.writers()) {
        if (writer.intent != 0) {
            return std::nullopt;
        }
        events += writer.written;
    }
    return events;
}

std::optional<uint64_t> SetScan::largest_free(size_t kind, const Bank& bank) const {
    assert(kind < free.size());
    for (const auto& [known, largest] : free[kind]) {
        if (known == bank) {
            return largest;
        }
    }
    return std::nullopt;
}

std::shared_ptr<const SetScans> LedgerScan::of(const segment::Reader& reader, uint64_t& work) {
    const std::lock_guard lock(mutex_);
    const Devices devices = reader.devices();
    std::vector<Bank> banks = banks_of(devices);
    const std::optional<uint64_t> before = events_if_quiet(reader);
    if (last_ != nullptr && before == events_ && banks == banks_) {
        return last_;
    }
    std::shared_ptr<const SetScans> scans = scan_ledger(reader, devices, work);
    last_ = nullptr;
    if (scans && before && events_if_quiet(reader) == before) {
        events_ = *before;
        banks_ = std::move(banks);
        last_ = scans;
    }
    return scans;
}

}  // namespace ttmem::census
