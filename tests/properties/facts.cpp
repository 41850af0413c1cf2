// SPDX-License-Identifier: Apache-2.0
#include "tests/properties/facts.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <sstream>

namespace ttmem::properties {

namespace {

const char* const kKindNames[] = {"dram", "l1",          "system", "l1_small", "trace",
                                  "cb",   "application", "fabric", "dispatch"};

std::string pool_fact(const std::string& place, uint32_t kind, const segment::PoolTotals& pool) {
    std::ostringstream text;
    text << "pool " << place << " " << kKindNames[kind] << ": used " << pool.used << ", requested "
         << pool.requested << ", peak " << pool.peak << ", count " << pool.count << ", planned "
         << pool.planned << ", views " << pool.views << ", reserved unknown " << pool.reserved_unknown;
    return text.str();
}

// Adds the entry if `one` is 1, and subtracts it if `one` is 2^64 - 1.
void count(segment::PoolTotals& pool, const Entry& entry, uint64_t one) {
    if (entry.planned) {
        pool.planned += one;
    } else if (entry.view) {
        pool.views += one;
    } else {
        pool.used += entry.reserved * one;
        pool.requested += entry.requested * one;
        pool.count += one;
        pool.reserved_unknown += entry.reserved_unknown ? one : 0;
    }
    pool.peak = std::max(pool.peak, pool.used);
}

std::string history_fact(uint64_t written) { return "history: " + std::to_string(written) + " events"; }

}  // namespace

std::string difference(Facts model, Facts segment) {
    std::sort(model.begin(), model.end());
    std::sort(segment.begin(), segment.end());
    Facts missing;
    Facts unexpected;
    std::set_difference(model.begin(), model.end(), segment.begin(), segment.end(),
                        std::back_inserter(missing));
    std::set_difference(segment.begin(), segment.end(), model.begin(), model.end(),
                        std::back_inserter(unexpected));
    std::string text;
    for (const std::string& fact : missing) {
        text += "only the model:   " + fact + "\n";
    }
    for (const std::string& fact : unexpected) {
        text += "only the segment: " + fact + "\n";
    }
    return text;
}

Facts::value_type fact_of(const std::string& place, const Entry& entry) {
    std::ostringstream text;
    text << "live " << place << " " << kKindNames[entry.kind] << " at " << std::hex << entry.address
         << std::dec << ": requested " << entry.requested << ", reserved " << entry.reserved << ", owner "
         << entry.owner << (entry.planned ? ", planned" : "") << (entry.view ? ", view" : "")
         << (entry.reserved_unknown ? ", reserved unknown" : "") << (entry.keyed ? ", keyed" : "")
         << (entry.name.empty() ? "" : ", name ") << entry.name << (entry.cores.empty() ? "" : ", cores ")
         << entry.cores;
    return text.str();
}

std::string rows_of(const segment::CoreMask& cores) {
    std::ostringstream text;
    for (const uint16_t row : cores) {
        text << std::hex << row << "|";
    }
    return text.str();
}

void Counters::add(const std::string& place, const Entry& entry) {
    count(pools_[{place, entry.kind}], entry, 1);
}

void Counters::remove(const std::string& place, const Entry& entry) {
    count(pools_[{place, entry.kind}], entry, UINT64_MAX);
}

void Counters::forget(const std::string& place) {
    std::erase_if(pools_, [&](const auto& pool) { return pool.first.first == place; });
}

void Counters::state(Facts& facts) const {
    for (const auto& [key, pool] : pools_) {
        if (pool != segment::PoolTotals{}) {
            facts.push_back(pool_fact(key.first, key.second, pool));
        }
    }
}

void state_counters(const segment::Reader& reader, const PlaceOf& place_of, Facts& facts) {
    const segment::Totals totals = reader.totals();
    const segment::Totals ledger = reader.totals_from_ledger();
    if (totals.settling || ledger.settling) {
        facts.emplace_back("settling, while nobody records anything");
    }
    if (totals.sets.size() != ledger.sets.size()) {
        facts.emplace_back("two reads found different numbers of sets");
        return;
    }
    for (size_t i = 0; i < totals.sets.size(); ++i) {
        const std::string place = place_of(reader, totals.sets[i]);
        for (uint32_t kind = 0; kind < segment::kKinds; ++kind) {
            const segment::PoolTotals& pool = totals.sets[i].pools[kind];
            if (pool != segment::PoolTotals{}) {
                facts.push_back(pool_fact(place, kind, pool));
            }
            segment::PoolTotals from_ledger = ledger.sets[i].pools[kind];
            from_ledger.peak = pool.peak;
            if (from_ledger != pool) {
                facts.push_back("but the ledger adds up to " + pool_fact(place, kind, from_ledger));
            }
        }
    }
}

void state_ledger(const segment::Reader& reader, const PlaceOf& place_of, Facts& facts) {
    std::map<uint32_t, std::string> places;
    for (const segment::SetTotals& set : reader.totals().sets) {
        places[set.index] = place_of(reader, set);
    }
    reader.for_each_live([&](segment::SlotRef /*slot*/, const segment::Allocation& a) {
        Entry entry;
        entry.address = a.address;
        entry.requested = a.requested;
        entry.reserved = a.reserved;
        entry.kind = static_cast<uint32_t>(a.kind);
        entry.planned = a.flags.has(segment::AllocationFlag::planned);
        entry.view = a.flags.has(segment::AllocationFlag::view);
        entry.reserved_unknown = a.flags.has(segment::AllocationFlag::reserved_unknown);
        entry.keyed = a.flags.has(segment::AllocationFlag::keyed);
        entry.owner = a.owner;
        entry.name = reader.name(a.name);
        const auto cores = reader.cores(a.core_set);
        entry.cores = cores ? rows_of(*cores) : "";
        facts.push_back(fact_of(places[a.set], entry));
        return true;
    });
}

void state_inexact(const InexactCounts& counts, Facts& facts) {
    for (uint32_t i = 0; i < segment::kInexactCounters; ++i) {
        if (counts[i] != 0) {
            facts.push_back("inexact: " + std::string(segment::reason(static_cast<segment::Inexact>(i))) +
                            ": " + std::to_string(counts[i]));
        }
    }
}

void state_inexact(const segment::Reader& reader, Facts& facts) {
    InexactCounts counts{};
    for (uint32_t i = 0; i < segment::kInexactCounters; ++i) {
        counts[i] = reader.inexact(static_cast<segment::Inexact>(i));
    }
    state_inexact(counts, facts);
}

void state_history(uint64_t written, Facts& facts) { facts.push_back(history_fact(written)); }

void state_history(const segment::Reader& reader, Facts& facts) {
    // An event counts only if its generation is newer than the known one. Every follower keeps state in this way.
    std::map<uint32_t, uint64_t> generation;
    segment::Cursor cursor;
    reader.follow(cursor, [&](uint32_t /*line*/, const segment::Event& event) {
        if (event.type == segment::EventType::allocate || event.type == segment::EventType::free) {
            uint64_t& known = generation[event.slot.slot];
            known = std::max(known, event.slot.generation);
        }
    });
    facts.push_back(history_fact(reader.events_written()));
    if (cursor.kept() + cursor.lost() != reader.events_written()) {
        facts.emplace_back("kept and lost are not what was written");
    }
    if (cursor.lost() != 0) {
        return;
    }
    reader.for_each_live([&](segment::SlotRef slot, const segment::Allocation& /*unused*/) {
        if (generation[slot.slot] != slot.generation) {
            facts.push_back("slot " + std::to_string(slot.slot) + " is live, and its last event is another");
        }
        generation.erase(slot.slot);
        return true;
    });
    for (const auto& [slot, last] : generation) {
        if (segment::is_live(last)) {
            facts.push_back("slot " + std::to_string(slot) + " is free, and its last event made it live");
        }
    }
}

}  // namespace ttmem::properties
