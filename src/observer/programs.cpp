// SPDX-License-Identifier: Apache-2.0
#include "observer/programs.hpp"

namespace ttmem::observer {

namespace {

ttmem_cores mask_of(const std::vector<CoreRectangle>& ranges) {
    ttmem_cores mask{};
    for (const auto& [first, last] : ranges) {
        ttmem_cores_add(&mask, static_cast<unsigned>(first.x), static_cast<unsigned>(first.y),
                        static_cast<unsigned>(last.x), static_cast<unsigned>(last.y));
    }
    return mask;
}

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
        known.last.program = *known.id;
    }
    return known;
}

void ObservedPrograms::add(const Frame& frame, const metal::IDevice* device, ttmem_set set,
                           const CircularBuffer& buffer) {
    const std::vector<CoreRectangle>& ranges = metal_.core_ranges(buffer.cores);
    const ttmem_cores mask = mask_of(ranges);
    const std::lock_guard lock(mutex_);
    Program& program = program_at(frame.program);
    DeviceRecords& layout = program.layouts[device];
    if (layout.frame != frame.number) {
        free_all(layout.handles);
        layout = {frame.number, {}};
    }
    layout.handles.push_back(ttmem_allocate_cb(set, *program.id, buffer.address, buffer.size, &mask,
                                               buffer.is_view ? TTMEM_VIEW : 0u));
    if (program.last_frame != frame.number) {
        program.last_frame = frame.number;
        program.last_device = device;
        program.last = {.program = *program.id, .bytes_per_core = 0, .regions = {}};
    }
    if (device == program.last_device && !buffer.is_view) {
        program.last.bytes_per_core += buffer.size;
        for (const CoreRectangle& range : ranges) {
            program.last.regions.push_back({range.first, buffer.address + buffer.size});
        }
    }
}

void ObservedPrograms::free_on(const void* program, const metal::IDevice* device) {
    const std::lock_guard lock(mutex_);
    const auto known = programs_.find(program);
    if (known == programs_.end()) {
        return;
    }
    if (const auto layout = known->second.layouts.find(device); layout != known->second.layouts.end()) {
        free_all(layout->second.handles);
        known->second.layouts.erase(layout);
    }
}

std::optional<ProgramLayout> ObservedPrograms::layout_of(const void* program) const {
    const std::lock_guard lock(mutex_);
    const auto known = programs_.find(program);
    return known != programs_.end() ? std::optional(known->second.last) : std::nullopt;
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
    if (!known->second.layouts.empty() || !known->second.loaded.empty()) {
        ttmem_program_gone(known->second.id.value_or(0));
    }
    programs_.erase(known);
}

void ObservedPrograms::forget_device(const metal::IDevice* device) {
    const std::lock_guard lock(mutex_);
    for (auto& [address, program] : programs_) {
        program.layouts.erase(device);
        program.loaded.erase(device);
    }
}

}  // namespace ttmem::observer
