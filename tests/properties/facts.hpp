// SPDX-License-Identifier: Apache-2.0
#pragma once

// Facts by which a model and a segment are compared: one line per fact, in any order. A difference reads like a diff,
// and a shrunk case shows the one line that is wrong.

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "segment/reader.hpp"

namespace ttmem::properties {

using Facts = std::vector<std::string>;

// Empty, or the lines that only one of the two has.
std::string difference(Facts model, Facts segment);

// One live allocation of a model. The rules of counting are deliberately repeated here, and not taken from the client.
struct Entry {
    uint64_t address = 0;
    uint64_t requested = 0;
    uint64_t reserved = 0;
    uint32_t kind = 0;
    bool planned = false;
    bool view = false;
    bool reserved_unknown = false;
    bool keyed = false;
    uint64_t owner = 0;
    std::string name;   // the whole path
    std::string cores;  // the rows of the core mask
};
Facts::value_type fact_of(const std::string& place, const Entry& entry);

// The counters per (place, kind), as a model keeps them.
class Counters {
public:
    void add(const std::string& place, const Entry& entry);
    void remove(const std::string& place, const Entry& entry);
    // Resets a place that is reused: its peaks start at 0.
    void forget(const std::string& place);
    void state(Facts& facts) const;

private:
    std::map<std::pair<std::string, uint32_t>, segment::PoolTotals> pools_;
};

// The facts of a segment. `place_of` names a set as the model does.
using PlaceOf = std::function<std::string(const segment::Reader&, const segment::SetTotals&)>;
void state_counters(const segment::Reader& reader, const PlaceOf& place_of, Facts& facts);
void state_ledger(const segment::Reader& reader, const PlaceOf& place_of, Facts& facts);
void state_inexact(const segment::Reader& reader, Facts& facts);

std::string rows_of(const segment::CoreMask& cores);

// The same for the counters of a model, in the order of segment::Inexact.
using InexactCounts = std::array<uint64_t, segment::kInexactCounters>;
void state_inexact(const InexactCounts& counts, Facts& facts);

// Follows the rings from their beginning. Every record is kept or lost, and the kept ones must lead to the state of the
// ledger.
void state_history(const segment::Reader& reader, Facts& facts);
void state_history(uint64_t written, Facts& facts);

}  // namespace ttmem::properties
