// SPDX-License-Identifier: Apache-2.0
#pragma once

// Circular buffers and kernels by program. The runtime's events name the device alone, so the functions of a program that
// lead to them say whose they are: each of their calls is a frame. Any thread.

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
    std::uint64_t number = 0;  // the same for the calls inside; another one is another layout
};

// Where the circular buffers of a program end on some cores.
struct Region {
    metal::CoreCoord core;  // the first of them
    std::uint64_t end = 0;
};

struct Layout {
    std::uint64_t program = 0;         // its id
    std::uint64_t bytes_per_core = 0;  // of all that have memory of their own
    std::vector<Region> regions;
};

class Programs {
public:
    explicit Programs(const Metal& metal) : metal_(metal) {}

    std::uint64_t next_frame();

    struct CircularBuffer {
        std::uint64_t address = 0;
        std::uint64_t size = 0;
        const metal::CoreRangeSet* cores = nullptr;
        bool is_view = false;
    };
    // A layout that is new to this program on this device replaces the old one.
    void add(const Frame& frame, const metal::IDevice* device, ttmem_set set, const CircularBuffer& buffer);
    void free_on(const void* program, const metal::IDevice* device);

    // As it was laid out last; nothing where it never was.
    std::optional<Layout> layout_of(const void* program) const;

    // Whether its kernels are to be reported on this device: the first time only.
    bool is_first_load(const void* program, const metal::IDevice* device);
    std::uint64_t id_of(const void* program);

    void gone(const void* program);

    // The device is closed: its records are gone already.
    void forget_device(const metal::IDevice* device);

private:
    struct OnDevice {
        std::uint64_t frame = 0;
        std::vector<ttmem_handle> handles;
    };
    struct Program {
        std::optional<std::uint64_t> id;
        std::map<const metal::IDevice*, OnDevice> layouts;
        std::set<const metal::IDevice*> loaded;
        Layout last;
        std::uint64_t last_frame = 0;
        const metal::IDevice* last_device = nullptr;  // the one that `last` was taken from
    };

    Program& program_at(const void* program);

    const Metal& metal_;
    mutable std::mutex mutex_;
    std::unordered_map<const void*, Program> programs_;
    std::uint64_t frames_ = 0;
    std::uint64_t ids_ = 0;
};

}  // namespace ttmem::observer
