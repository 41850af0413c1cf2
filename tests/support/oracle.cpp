// SPDX-License-Identifier: Apache-2.0
#include "tests/support/oracle.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>

namespace ttmem::test {

using segment::AllocationKind;
using segment::PoolTotals;

namespace {

constexpr size_t kMostTexts = 10;

std::string to_text(const PoolTotals& p) {
    return "used " + std::to_string(p.used) + " requested " + std::to_string(p.requested) + " count " +
           std::to_string(p.count) + " planned " + std::to_string(p.planned) + " views " +
           std::to_string(p.views) + " reserved unknown " + std::to_string(p.reserved_unknown);
}

void compare(const char* what, const Pools& found, const Pools& expected, std::vector<std::string>& texts) {
    const auto say = [&](const auto& key, const std::string& text) {
        texts.push_back(std::string(what) + " of set " + std::to_string(key.first) + " kind " +
                        std::to_string(static_cast<int>(key.second)) + ": " + text);
    };
    for (const auto& [key, pool] : expected) {
        const auto at = found.find(key);
        if (at == found.end() || at->second != pool) {
            say(key, (at == found.end() ? "nothing" : to_text(at->second)) + ", expected " + to_text(pool));
        }
    }
    for (const auto& [key, pool] : found) {
        if (!expected.contains(key)) {
            say(key, to_text(pool) + ", expected nothing");
        }
    }
}

}  // namespace

ttmem_handle allocate_dram(ttmem_set set, uint64_t owner) {
    return ttmem_allocate(set, TTMEM_DRAM, owner, 100 + owner, 100 + owner, owner);
}

Live live_dram(ttmem_set set, uint64_t owner) {
    Live live;
    live.set = static_cast<uint8_t>(set & 0xff);
    live.owner = live.address = owner;
    live.requested = live.reserved = 100 + owner;
    return live;
}

std::string to_text(const Live& live) {
    return "owner " + std::to_string(live.owner) + " address " + std::to_string(live.address) +
           " requested " + std::to_string(live.requested) + " reserved " + std::to_string(live.reserved) +
           " set " + std::to_string(live.set) + " kind " + std::to_string(static_cast<int>(live.kind)) +
           " flags " + std::to_string(live.flags.bits) + " name '" + live.name + "'" +
           (live.cores ? " with cores" : "");
}

Pools pools_of(const std::vector<Live>& live) {
    Pools pools;
    for (const Live& a : live) {
        PoolTotals& pool = pools[{a.set, a.kind}];
        if (a.flags.has(segment::AllocationFlag::planned)) {
            ++pool.planned;
        } else if (a.flags.has(segment::AllocationFlag::view)) {
            ++pool.views;
        } else {
            pool.used += a.reserved;
            pool.requested += a.requested;
            ++pool.count;
            pool.reserved_unknown += a.flags.has(segment::AllocationFlag::reserved_unknown) ? 1u : 0u;
        }
    }
    return pools;
}

Pools pools_of(const segment::Totals& totals) {
    Pools pools;
    for (const segment::SetTotals& set : totals.sets) {
        for (uint32_t kind = 0; kind < segment::kKinds; ++kind) {
            PoolTotals pool = set.pools[kind];
            pool.peak = 0;
            if (pool != PoolTotals{}) {
                pools[{set.index, static_cast<AllocationKind>(kind)}] = pool;
            }
        }
    }
    return pools;
}

std::vector<Live> ledger_of(const segment::Reader& reader) {
    std::vector<Live> result;
    reader.for_each_live([&](segment::SlotRef, const segment::Allocation& a) {
        Live live;
        live.owner = a.owner;
        live.address = a.address;
        live.requested = a.requested;
        live.reserved = a.reserved;
        live.set = a.set;
        live.kind = a.kind;
        live.flags = a.flags;
        live.name = reader.name(a.name);
        live.cores = reader.cores(a.core_set);
        result.push_back(live);
        return true;
    });
    std::sort(result.begin(), result.end());
    return result;
}

std::vector<std::string> differences(const segment::Reader& reader, std::vector<Live> expected) {
    std::vector<std::string> texts;
    std::sort(expected.begin(), expected.end());
    const std::vector<Live> found = ledger_of(reader);
    std::vector<Live> only;
    std::set_difference(expected.begin(), expected.end(), found.begin(), found.end(),
                        std::back_inserter(only));
    texts.reserve(only.size());
    for (const Live& live : only) {
        texts.push_back("not in the ledger: " + to_text(live));
    }
    only.clear();
    std::set_difference(found.begin(), found.end(), expected.begin(), expected.end(),
                        std::back_inserter(only));
    for (const Live& live : only) {
        texts.push_back("in the ledger alone: " + to_text(live));
    }
    const segment::Totals counters = reader.totals();
    const segment::Totals sums = reader.totals_from_ledger();
    if (counters.settling || sums.settling) {
        texts.emplace_back("it is settling");
    }
    const Pools wanted = pools_of(expected);
    compare("pool", pools_of(counters), wanted, texts);
    compare("ledger sum", pools_of(sums), wanted, texts);
    if (texts.size() > kMostTexts) {
        const size_t more = texts.size() - kMostTexts;
        texts.resize(kMostTexts);
        texts.push_back("and " + std::to_string(more) + " more");
    }
    return texts;
}

PoolTotals pool(const segment::Reader& reader, ttmem_set set, AllocationKind kind) {
    for (const segment::SetTotals& totals : reader.totals().sets) {
        if (totals.index == (set & 0xff)) {
            return totals.pools[static_cast<uint32_t>(kind)];
        }
    }
    return {};
}

ttmem_cores rectangle(unsigned x0, unsigned y0, unsigned x1, unsigned y1) {
    ttmem_cores cores{};
    ttmem_cores_add(&cores, x0, y0, x1, y1);
    return cores;
}

segment::CoreMask mask_of(const ttmem_cores& cores) {
    segment::CoreMask mask{};
    std::memcpy(mask.data(), cores.row, sizeof mask);
    return mask;
}

uint64_t count_cores(const ttmem_cores& cores) {
    uint64_t total = 0;
    for (const uint16_t row : cores.row) {
        total += static_cast<uint64_t>(std::popcount(row));
    }
    return total;
}

ttmem_device make_device(uint32_t logical_id) {
    ttmem_device_info info{};
    info.logical_id = logical_id;
    info.asic_id = 0x1000 + logical_id;
    info.arch = TTMEM_ARCH_WORMHOLE_B0;
    std::memcpy(info.board, "n300", 5);
    return ttmem_register_device(&info);
}

ttmem_set make_set(uint32_t logical_id) {
    const ttmem_device device = make_device(logical_id);
    return ttmem_open_set(&device, 1, nullptr);
}

}  // namespace ttmem::test
