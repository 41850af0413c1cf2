// SPDX-License-Identifier: Apache-2.0
#pragma once

// Circular buffers and kernels by program. The runtime's events name only the device. The program comes from the program
// function that is running on the thread: each such call is a frame. Thread-safe.

#include <ttmem/ttmem.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "observer/metal.hpp"

namespace ttmem::observer {

// One call of a function of a program, on one thread.
struct Frame {
    const void* program = nullptr;
    uint64_t number = 0;  // shared by nested calls; a different number is a different layout
};

// The end of a program's circular buffers on some cores.
struct BufferRegion {
    CorePosition core;  // the first of them
    uint64_t end = 0;
};

struct ProgramLayout {
    uint64_t program = 0;         // its id
    uint64_t bytes_per_core = 0;  // of those that own memory
    std::vector<BufferRegion> regions;
};

class ObservedPrograms {
public:
    explicit ObservedPrograms(const Metal& metal) : metal_(metal) {}

    uint64_t next_frame();

    // A program that is laid out is known from then on.
    void note(const void* program);
    bool is_known(const void* program) const;

    struct CircularBuffer {
        uint64_t address = 0;
        uint64_t size = 0;
        const metal::CoreRangeSet* cores = nullptr;
        bool is_view = false;
    };
    // A new layout of a program on a device replaces the old one.
    void add(const Frame& frame, const metal::IDevice* device, ttmem_set set, const CircularBuffer& buffer);
    void free_on(const void* program, const metal::IDevice* device);

    // The last layout; empty if there was none.
    std::optional<ProgramLayout> layout_of(const void* program) const;

    // Whether to report its kernels on this device: true the first time only.
    bool is_first_load(const void* program, const metal::IDevice* device);
    uint64_t id_of(const void* program);

    void gone(const void* program);

    // The device was closed, which removed its records already.
    void forget_device(const metal::IDevice* device);

private:
    struct DeviceRecords {
        uint64_t frame = 0;
        std::vector<ttmem_handle> handles;
    };
    struct Program {
        std::optional<uint64_t> id;
        std::map<const metal::IDevice*, DeviceRecords> layouts;
        std::set<const metal::IDevice*> loaded;
        ProgramLayout last;
        uint64_t last_frame = 0;
        const metal::IDevice* last_device = nullptr;  // the device of `last`
    };

    Program& program_at(const void* program);

    const Metal& metal_;
    mutable std::mutex mutex_;
    std::unordered_map<const void*, Program> programs_;
    uint64_t frames_ = 0;
    uint64_t ids_ = 0;
};

}  // namespace ttmem::observer
