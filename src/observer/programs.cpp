// SPDX-License-Identifier: Apache-2.0
#include "observer/programs.hpp"

#include <algorithm>
#include <iterator>

namespace ttmem::observer {

namespace {

constexpr size_t kColumns = 8 * sizeof(ttmem_cores{}.row[0]);
constexpr std::array<uint32_t, kBufferClasses> kClassFlags = {0u, TTMEM_DATAFLOW, TTMEM_SCRATCHPAD};

void free_all(const std::vector<ttmem_handle>& handles) {
    for (const ttmem_handle handle : handles) {
        ttmem_free(handle);
    }
}

}  // namespace

uint64_t ObservedPrograms::next_frame() {
    const std::lock_guard lock(mutex_);
    return ++frames_;
}

void ObservedPrograms::note(const void* program) {
    const std::lock_guard lock(mutex_);
    program_at(program);
}

bool ObservedPrograms::is_known(const void* program) const {
    const std::lock_guard lock(mutex_);
    return programs_.contains(program);
}

ObservedPrograms::Program& ObservedPrograms::program_at(const void* program) {
    Program& known = programs_[program];
    if (!known.id) {
        // The runtime's own number if available, since users see it elsewhere.
        known.id = metal_.program_id != nullptr ? metal_.program_id(program) : ++ids_;
    }
    return known;
}

void ObservedPrograms::record(const Program& program, BufferClass of, ChipRecords& records, ttmem_set set,
                              const LaidOutBuffer& buffer) const {
    const uint32_t flags = kClassFlags[static_cast<size_t>(of)] | (buffer.is_view ? TTMEM_VIEW : 0u);
    records.handles.push_back(ttmem_allocate_cb(set, *program.id, buffer.address, buffer.size,
                                                buffer.has_known_cores ? &buffer.cores : nullptr, flags));
}

void ObservedPrograms::add(const Frame& frame, const metal::IDevice* chip, ttmem_set set,
                           const LaidOutBuffer& buffer) {
    const std::lock_guard lock(mutex_);
    Program& program = program_at(frame.program);
    ClassLayout& layout = program.layouts[static_cast<size_t>(BufferClass::circular)];
    ChipRecords& records = layout.chips[chip];
    if (records.frame != frame.number) {
        free_all(records.handles);
        records = {frame.number, {}};
    }
    record(program, BufferClass::circular, records, set, buffer);
    if (layout.number != frame.number) {
        layout.number = frame.number;
        layout.chip = chip;
        layout.buffers.clear();
    }
    if (layout.chip == chip) {
        layout.buffers.push_back(buffer);
    }
}

void ObservedPrograms::lay_out(const void* program, BufferClass of,
                               const std::vector<LaidOutBuffer>& buffers) {
    const std::lock_guard lock(mutex_);
    ClassLayout& layout = program_at(program).layouts[static_cast<size_t>(of)];
    layout.buffers = buffers;
    ++layout.number;
}

bool ObservedPrograms::is_laid_out(const void* program, BufferClass of) const {
    const std::lock_guard lock(mutex_);
    const auto known = programs_.find(program);
    return known != programs_.end() && known->second.layouts[static_cast<size_t>(of)].number != 0;
}

void ObservedPrograms::place(const void* program, BufferClass of, const metal::IDevice* chip, ttmem_set set) {
    const std::lock_guard lock(mutex_);
    const Program& known = program_at(program);
    ClassLayout& layout = program_at(program).layouts[static_cast<size_t>(of)];
    if (layout.number == 0) {
        return;
    }
    ChipRecords& records = layout.chips[chip];
    if (records.frame == layout.number) {
        return;
    }
    free_all(records.handles);
    records = {layout.number, {}};
    for (const LaidOutBuffer& buffer : layout.buffers) {
        record(known, of, records, set, buffer);
    }
}

void ObservedPrograms::free_on(const void* program, BufferClass of, const metal::IDevice* chip) {
    const std::lock_guard lock(mutex_);
    const auto known = programs_.find(program);
    if (known == programs_.end()) {
        return;
    }
    auto& chips = known->second.layouts[static_cast<size_t>(of)].chips;
    if (const auto records = chips.find(chip); records != chips.end()) {
        free_all(records->second.handles);
        chips.erase(records);
    }
}

std::vector<const LaidOutBuffer*> ObservedPrograms::owning_buffers_of(const void* program) const {
    std::vector<const LaidOutBuffer*> buffers;
    if (const auto known = programs_.find(program); known != programs_.end()) {
        for (const ClassLayout& layout : known->second.layouts) {
            for (const LaidOutBuffer& buffer : layout.buffers) {
                if (!buffer.is_view) {
                    buffers.push_back(&buffer);
                }
            }
        }
    }
    return buffers;
}

std::optional<HighestEnd> ObservedPrograms::highest_end_of(const void* program) const {
    const std::lock_guard lock(mutex_);
    HighestEnd highest;
    const ttmem_cores* cores = nullptr;
    for (const LaidOutBuffer* buffer : owning_buffers_of(program)) {
        if (buffer->address + buffer->size > highest.end) {
            highest.end = buffer->address + buffer->size;
            cores = &buffer->cores;
        }
    }
    if (cores == nullptr) {
        return std::nullopt;
    }
    while (highest.core.y < std::size(cores->row) && cores->row[highest.core.y] == 0) {
        ++highest.core.y;
    }
    if (highest.core.y == std::size(cores->row)) {
        return std::nullopt;
    }
    highest.core.x = static_cast<size_t>(__builtin_ctz(cores->row[highest.core.y]));
    return highest;
}

uint64_t ObservedPrograms::bytes_on(const void* program, const CorePosition& core) const {
    const std::lock_guard lock(mutex_);
    uint64_t bytes = 0;
    for (const LaidOutBuffer* buffer : owning_buffers_of(program)) {
        const bool is_there = core.y < std::size(buffer->cores.row) && core.x < kColumns &&
                              (buffer->cores.row[core.y] >> core.x & 1) != 0;
        bytes += is_there ? buffer->size : 0;
    }
    return bytes;
}

bool ObservedPrograms::is_first_load(const void* program, const metal::IDevice* device) {
    const std::lock_guard lock(mutex_);
    return program_at(program).loaded.insert(device).second;
}

uint64_t ObservedPrograms::id_of(const void* program) {
    const std::lock_guard lock(mutex_);
    return *program_at(program).id;
}

void ObservedPrograms::gone(const void* program) {
    const std::lock_guard lock(mutex_);
    const auto known = programs_.find(program);
    if (known == programs_.end()) {
        return;
    }
    // Nothing is reported of a program of which nothing was recorded: another reporter may track this process.
    const auto& layouts = known->second.layouts;
    const bool has_layout = std::any_of(layouts.begin(), layouts.end(),
                                        [](const ClassLayout& layout) { return !layout.chips.empty(); });
    if (has_layout || !known->second.loaded.empty()) {
        ttmem_program_gone(known->second.id.value_or(0));
    }
    programs_.erase(known);
}

void ObservedPrograms::forget_device(const metal::IDevice* device) {
    const std::lock_guard lock(mutex_);
    for (auto& [address, program] : programs_) {
        for (ClassLayout& layout : program.layouts) {
            layout.chips.erase(device);
        }
        program.loaded.erase(device);
    }
}

void ObservedPrograms::forget_all() {
    const std::lock_guard lock(mutex_);
    programs_.clear();
}

}  // namespace ttmem::observer
