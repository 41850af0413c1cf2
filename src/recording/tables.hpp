// SPDX-License-Identifier: Apache-2.0
#pragma once

// The tables of a segment beside the ledger (devices, sets, names, failures ...) as a recording has them: entry by entry, each as
// bytes, and after the first time only those that have changed. Times are nanoseconds of the monotonic clock.

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "recording/byte_stream.hpp"
#include "recording/format.hpp"
#include "segment/reader.hpp"

namespace ttmem::recording {

struct TableEntry {
    TableId table = TableId::devices;
    uint32_t index = 0;
    std::string bytes;

    bool operator==(const TableEntry&) const = default;
};

void write_tables(const std::vector<TableEntry>& entries, ByteWriter& to);
// Entries of unknown tables are kept; who applies them skips them.
std::vector<TableEntry> read_tables(ByteReader& from);

// Objects and their bytes. Zero bytes at the end are left out.
std::string bytes_of_words(const void* object, size_t length);
// Fills the object with the bytes, and the rest with zero.
void words_from_bytes(const std::string& bytes, void* object, size_t length);

// A card: the words that are in use.
std::string bytes_of_card(const segment::CardContents& card, const segment::Clock& clock);
segment::CardContents card_from_bytes(const std::string& bytes);

// A mark, with its time in place of ticks.
std::string bytes_of_mark(const segment::MarkContents& mark, const segment::Clock& clock);
segment::MarkContents mark_from_bytes(const std::string& bytes);

// The counters of a pool.
std::string bytes_of_totals(const segment::PoolTotals& totals);
segment::PoolTotals totals_from_bytes(const std::string& bytes);

// What a process holds in sums: its devices and sets, and the counters of its pools. Nothing that is only for its user.
std::vector<TableEntry> totals_of(const segment::Reader& reader);

// Finds out what has changed in the tables of one segment.
class TableTracker {
public:
    // All entries.
    std::vector<TableEntry> all(const segment::Reader& reader);
    // Those that differ from the last call of either.
    std::vector<TableEntry> changes(const segment::Reader& reader);
    // Whether there are marks that neither has returned.
    bool has_new_marks(const segment::Reader& reader) const { return reader.mark_count() > marks_; }
    // The names and marks that both have returned: larger numbers where there were new ones.
    std::pair<uint32_t, uint64_t> names_and_marks() const { return {names_, marks_}; }

private:
    using TableKey = std::pair<TableId, uint32_t>;

    std::map<TableKey, std::string> current(const segment::Reader& reader) const;
    void add_names(const segment::Reader& reader, std::vector<TableEntry>& to);
    void add_marks(const segment::Reader& reader, uint64_t after, std::vector<TableEntry>& to);

    std::map<TableKey, std::string> known_;
    std::map<uint32_t, std::string> cards_;  // by number: they are large, and never change
    uint32_t names_ = 1;                     // those before are written
    uint64_t marks_ = 0;                     // those until this one are written
};

}  // namespace ttmem::recording
