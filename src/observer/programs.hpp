// SPDX-License-Identifier: Apache-2.0
#pragma once

// Circular buffers, dataflow buffers, scratchpads and kernels by program. The runtime's events name only the device. The program comes from the program
// function that is running on the thread: each such call is a frame. Thread-safe.

#include <ttmem/ttmem.h>

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "observer/laid_out.hpp"
#include "observer/metal.hpp"

namespace ttmem::observer {

// One call of a function of a program, on one thread.
struct Frame {
    const void* program = nullptr;
    uint64_t number = 0;  // shared by nested calls; a different number is a different layout
};

// The highest end of a program's buffers in L1, and a core that has it.
struct HighestEnd {
    CorePosition core;
    uint64_t end = 0;
};

class ObservedPrograms {
public:
    explicit ObservedPrograms(const Metal& metal) : metal_(metal) {}

    uint64_t next_frame();

    // A program that is laid out is known from then on.
    void note(const void* program);
    bool is_known(const void* program) const;

    // A circular buffer on one chip. A new frame replaces what the program had there.
    void add(const Frame& frame, const metal::IDevice* chip, ttmem_set set, const LaidOutBuffer& buffer);
    // Dataflow buffers or scratchpads on one chip: those that were laid out now, or those of before if nothing was.
    void lay_out(const void* program, BufferClass of, const std::vector<LaidOutBuffer>& buffers);
    bool is_laid_out(const void* program, BufferClass of) const;
    void place(const void* program, BufferClass of, const metal::IDevice* chip, ttmem_set set);
    void free_on(const void* program, BufferClass of, const metal::IDevice* chip);

    // In the last layout; empty if there was none.
    std::optional<HighestEnd> highest_end_of(const void* program) const;
    // Of all its buffers on the core that own memory.
    uint64_t bytes_on(const void* program, const CorePosition& core) const;

    // Whether to report its kernels on this device: true the first time only.
    bool is_first_load(const void* program, const metal::IDevice* device);
    uint64_t id_of(const void* program);

    void gone(const void* program);

    // The device was closed, which removed its records already.
    void forget_device(const metal::IDevice* device);
    void forget_all();

private:
    struct ChipRecords {
        uint64_t frame = 0;
        std::vector<ttmem_handle> handles;
    };
    struct ClassLayout {
        std::vector<LaidOutBuffer> buffers;    // of the last layout
        uint64_t number = 0;                   // the frame of that layout
        const metal::IDevice* chip = nullptr;  // for circular buffers: the first chip in that frame
        std::map<const metal::IDevice*, ChipRecords> chips;
    };
    struct Program {
        std::optional<uint64_t> id;
        std::array<ClassLayout, kBufferClasses> layouts;
        std::set<const metal::IDevice*> loaded;
    };

    void record(const Program& program, BufferClass of, ChipRecords& records, ttmem_set set,
                const LaidOutBuffer& buffer) const;

    // Those of the last layout that own memory.
    std::vector<const LaidOutBuffer*> owning_buffers_of(const void* program) const;
    Program& program_at(const void* program);

    const Metal& metal_;
    mutable std::mutex mutex_;
    std::unordered_map<const void*, Program> programs_;
    uint64_t frames_ = 0;
    uint64_t ids_ = 0;
};

}  // namespace ttmem::observer
