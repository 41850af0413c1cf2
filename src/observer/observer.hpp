// SPDX-License-Identifier: Apache-2.0
#pragma once

// Turns the runtime's calls into records of libttmem.

#include "observer/buffers.hpp"
#include "observer/metal.hpp"
#include "observer/programs.hpp"
#include "observer/scopes.hpp"
#include "observer/sets.hpp"
#include "observer/thread_data.hpp"

namespace ttmem::observer {

class Observer {
public:
    explicit Observer(const Metal& what) : metal(what), processor_(make_processor(metal)) {}

    // Enables op names on this thread.
    void watch_thread(metal::GraphTracker* tracker);

    void allocated(const metal::Buffer* buffer);
    void freed(const metal::Buffer* buffer);
    void closed(const metal::IDevice* device);

    void circular_buffer(const metal::IDevice* device, const ObservedPrograms::CircularBuffer& buffer);
    void loaded(const metal::Program& program, metal::IDevice* device);
    void loaded(const metal::distributed::MeshCommandQueue& queue,
                metal::distributed::MeshWorkload& workload);

    // Called when an exception passes. The figures show whether it is about memory.
    void out_of_memory(const metal::Buffer* buffer);
    void clashed(const void* program, const metal::IDevice* device);

    const Metal metal;
    Sets sets{metal};
    Buffers buffers;
    ObservedPrograms programs{metal};

private:
    void expect(const metal::Buffer* buffer);
    uint64_t reserved_bytes(const ObservedSet& set, const metal::Buffer* buffer) const;
    uint64_t needed_per_bank(const ObservedSet& set, const metal::Buffer* buffer) const;
    void load_on_chip(const metal::Program& program, metal::IDevice* chip);

    const std::shared_ptr<metal::IGraphProcessor> processor_;
    std::once_flag first_buffer_;
};

}  // namespace ttmem::observer
