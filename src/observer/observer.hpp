// SPDX-License-Identifier: Apache-2.0
#pragma once

// Turns the runtime's calls into records of libttmem.

#include <array>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "observer/buffer_ids.hpp"
#include "observer/buffers.hpp"
#include "observer/metal.hpp"
#include "observer/programs.hpp"
#include "observer/scopes.hpp"
#include "observer/sets.hpp"
#include "observer/thread_data.hpp"
#include "observer/workloads.hpp"

namespace ttmem::observer {

// An allocation whose size is compared with the runtime's statistics.
struct Measurement {
    std::unique_lock<std::mutex>
        lock;  // held if it is one: no other buffer of the kind is allocated meanwhile
    uint64_t allocated_before = 0;
    uint64_t expected = 0;
};

// Buffers of a program that reach too far on a core.
struct Clash {
    CorePosition core;
    uint64_t end = 0;
    uint64_t lowest = 0;  // the address of the lowest buffer of L1, or the end of L1
    bool is_beyond_l1 = false;
};

class Observer {
public:
    explicit Observer(const Metal& what) : metal(what) {}

    // Before and after the allocation of a buffer. The first of each kind is measured. The second throws what differs.
    void start_measurement(Measurement& measurement, const void* allocator, const metal::Buffer* buffer);
    void end_measurement(const Measurement& measurement, const void* allocator, const metal::Buffer* buffer);

    void allocated(const metal::Buffer* buffer);
    void freed(const metal::Buffer* buffer);
    void closed(const metal::IDevice* device);

    void circular_buffer(const metal::IDevice* device, const LaidOutBuffer& buffer);
    void laid_out(const void* program, BufferClass of, const metal::IDevice* device,
                  const NotedLayout& layout);
    void loaded(const metal::Program* program, const metal::IDevice* device);
    void loaded(const metal::MeshCommandQueue* queue, metal::MeshWorkload* workload);

    // Called with the text of an exception that passes. The text or the figures show whether it is about memory.
    void out_of_memory(const void* allocator, const metal::Buffer* buffer, std::string_view text);
    void clashed(const void* program, const metal::IDevice* device, std::string_view text);
    void trace_refused(const metal::IDevice* mesh, std::string_view text);

    const Metal metal;
    Sets sets{metal, [this] {
                  buffers.forget_all();
                  programs.forget_all();
              }};
    Buffers buffers;
    ObservedPrograms programs{metal};

private:
    struct KindMeasurement {
        std::mutex mutex;
        bool is_done = false;
    };

    void expect(const metal::Buffer* buffer);
    uint64_t bytes_per_bank(uint32_t rounding, const metal::Buffer* buffer) const;
    uint64_t reserved_bytes(const ObservedSet& set, const metal::Buffer* buffer) const;
    struct Need {
        uint64_t per_bank;
        uint32_t banks;  // of an interleaved buffer; else 0
    };
    Need need_of(const ObservedSet& set, const void* allocator, const metal::Buffer* buffer) const;
    std::optional<Clash> clash_of_figures(const void* program, const metal::IDevice* device) const;
    bool has_unseen(const void* program, BufferClass of, const NotedLayout& layout) const;
    void load_on_chip(const void* program, metal::IDevice* chip);

    BufferIds ids_{metal};
    Workloads workloads_{metal};
    std::array<std::once_flag, kBufferKinds> first_of_kind_;
    std::array<KindMeasurement, kBufferKinds> measured_;
};

}  // namespace ttmem::observer
