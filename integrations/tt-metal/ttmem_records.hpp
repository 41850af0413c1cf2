// SPDX-License-Identifier: Apache-2.0
#pragma once

// The handle of each live buffer and program, as the reporter keeps them. Needs no header of tt-metal.

#include <ttmem/ttmem.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <mutex>
#include <set>
#include <unordered_map>
#include <vector>

namespace tt::tt_metal::ttmem_reporter {

struct BufferRecord {
    const void* buffer = nullptr;  // null: none
    const void* allocator = nullptr;
    ttmem_handle handle = 0;
    uint64_t address = 0;
    uint64_t bytes_per_bank = 0;
    ttmem_set set = 0;
    uint32_t kind = 0;
};

// By the address of the Buffer. A hash table without nodes, in parts with a lock each: it is on the path of every
// allocation.
class BufferRecords {
public:
    // Returns the record that was there before.
    BufferRecord put(const BufferRecord& record) {
        Part& part = part_of(record.buffer);
        const std::lock_guard lock(part.mutex);
        if (2 * (part.used + 1) > part.places.size()) {
            grow(part);
        }
        BufferRecord& place = part.places[place_of(part, record.buffer)];
        const BufferRecord before = place;
        part.used += before.buffer == nullptr ? 1 : 0;
        place = record;
        return before;
    }

    BufferRecord take(const void* buffer) {
        Part& part = part_of(buffer);
        const std::lock_guard lock(part.mutex);
        if (part.used == 0) {
            return {};
        }
        const size_t place = place_of(part, buffer);
        const BufferRecord record = part.places[place];
        if (record.buffer != nullptr) {
            erase(part, place);
        }
        return record;
    }

    // Removes those for which `is_wanted` returns true.
    template <class Predicate>
    void erase_if(const Predicate& is_wanted) {
        for (Part& part : parts_) {
            const std::lock_guard lock(part.mutex);
            std::vector<BufferRecord> kept;
            for (const BufferRecord& record : part.places) {
                if (record.buffer != nullptr && !is_wanted(record)) {
                    kept.push_back(record);
                }
            }
            if (kept.size() != part.used) {
                part.places.assign(part.places.size(), {});
                part.used = kept.size();
                for (const BufferRecord& record : kept) {
                    part.places[place_of(part, record.buffer)] = record;
                }
            }
        }
    }

    ttmem_handle handle_at(ttmem_set set, uint32_t kind, uint64_t address) {
        for (Part& part : parts_) {
            const std::lock_guard lock(part.mutex);
            for (const BufferRecord& record : part.places) {
                if (record.buffer != nullptr && record.set == set && record.kind == kind &&
                    record.address == address) {
                    return record.handle;
                }
            }
        }
        return 0;
    }

private:
    struct alignas(64) Part {
        std::mutex mutex;
        std::vector<BufferRecord> places;  // a power of two, at most half of them used
        size_t used = 0;
    };

    static uint64_t hash_of(const void* buffer) {
        return (reinterpret_cast<uintptr_t>(buffer) >> 4) * 0x9E3779B97F4A7C15u;
    }
    Part& part_of(const void* buffer) { return parts_[hash_of(buffer) >> 58]; }
    static size_t home_of(const Part& part, const void* buffer) {
        return (hash_of(buffer) >> 20) & (part.places.size() - 1);
    }
    // Its place, or the free one where it belongs.
    static size_t place_of(const Part& part, const void* buffer) {
        size_t place = home_of(part, buffer);
        while (part.places[place].buffer != nullptr && part.places[place].buffer != buffer) {
            place = (place + 1) & (part.places.size() - 1);
        }
        return place;
    }
    static void grow(Part& part) {
        std::vector<BufferRecord> before(part.places.empty() ? 16 : 2 * part.places.size());
        before.swap(part.places);
        for (const BufferRecord& record : before) {
            if (record.buffer != nullptr) {
                part.places[place_of(part, record.buffer)] = record;
            }
        }
    }
    // Moves those behind it forward, so that no search ends too early.
    static void erase(Part& part, size_t hole) {
        const size_t mask = part.places.size() - 1;
        for (size_t next = (hole + 1) & mask; part.places[next].buffer != nullptr; next = (next + 1) & mask) {
            const size_t home = home_of(part, part.places[next].buffer);
            if (((next - home) & mask) >= ((next - hole) & mask)) {
                part.places[hole] = part.places[next];
                hole = next;
            }
        }
        part.places[hole] = {};
        --part.used;
    }

    std::array<Part, 64> parts_;
};

// L1 that a program holds on some cores.
struct Region {
    uint64_t address = 0;
    uint64_t size = 0;
    uint32_t flags = 0;  // as for ttmem_allocate_cb()
    ttmem_cores cores{};

    bool operator==(const Region& other) const {
        return address == other.address && size == other.size && flags == other.flags &&
               std::equal(std::begin(cores.row), std::end(cores.row), std::begin(other.cores.row));
    }
};

// By the address of the ProgramImpl, which a later program may have again.
class ProgramRecords {
public:
    uint64_t next_layout() {
        const std::lock_guard lock(mutex_);
        return ++layouts_;
    }

    // A circular buffer of the layout `layout`; it replaces those of an earlier layout on the chip.
    void add(const void* program, uint64_t id, uint64_t layout, const void* chip, ttmem_set set,
             const Region& region) {
        const std::lock_guard lock(mutex_);
        Chip& on = records_of(program, id).chips[chip];
        if (on.layout != layout) {
            free_all(on.circular);
            on.layout = layout;
        }
        on.circular.push_back(allocate(set, id, region));
    }

    // All dataflow buffers and scratchpads of the program on the chip.
    void replace(const void* program, uint64_t id, const void* chip, ttmem_set set,
                 const std::vector<Region>& regions) {
        const std::lock_guard lock(mutex_);
        Chip& on = records_of(program, id).chips[chip];
        if (on.regions == regions) {
            return;
        }
        free_all(on.dataflow);
        for (const Region& region : regions) {
            on.dataflow.push_back(allocate(set, id, region));
        }
        on.regions = regions;
    }

    bool is_known(const void* program) {
        const std::lock_guard lock(mutex_);
        return programs_.contains(program);
    }

    // Whether the kernels of the program were not loaded there before.
    bool is_first_load(const void* program, uint64_t id, const void* device) {
        const std::lock_guard lock(mutex_);
        return records_of(program, id).loaded.insert(device).second;
    }

    void gone(const void* program) {
        const std::lock_guard lock(mutex_);
        if (const auto known = programs_.find(program); known != programs_.end()) {
            ttmem_program_gone(known->second.id);
            programs_.erase(known);
        }
    }

    // The device has closed: nothing of it is left to free.
    void forget_device(const void* device) {
        const std::lock_guard lock(mutex_);
        for (auto& [program, records] : programs_) {
            records.chips.erase(device);
            records.loaded.erase(device);
        }
    }

private:
    struct Chip {
        uint64_t layout = 0;
        std::vector<ttmem_handle> circular, dataflow;
        std::vector<Region> regions;  // of `dataflow`
    };
    struct Program {
        uint64_t id = 0;
        std::map<const void*, Chip> chips;
        std::set<const void*> loaded;
    };

    Program& records_of(const void* program, uint64_t id) {
        Program& records = programs_[program];
        records.id = id;
        return records;
    }
    static ttmem_handle allocate(ttmem_set set, uint64_t id, const Region& region) {
        return ttmem_allocate_cb(set, id, region.address, region.size, &region.cores, region.flags);
    }
    static void free_all(std::vector<ttmem_handle>& handles) {
        for (const ttmem_handle handle : handles) {
            ttmem_free(handle);
        }
        handles.clear();
    }

    std::mutex mutex_;
    std::unordered_map<const void*, Program> programs_;
    uint64_t layouts_ = 0;
};

}  // namespace tt::tt_metal::ttmem_reporter
