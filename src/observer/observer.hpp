// SPDX-License-Identifier: Apache-2.0
#pragma once

// What happens in the runtime, as records of libttmem.

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

    // Names of ops on this thread, from now on.
    void watch_thread(metal::GraphTracker* tracker);

    void allocated(const metal::Buffer* buffer);
    void freed(const metal::Buffer* buffer);
    void closed(const metal::IDevice* device);

    void circular_buffer(const metal::IDevice* device, const Programs::CircularBuffer& buffer);
    void loaded(const metal::Program& program, metal::IDevice* device);
    void loaded(const metal::distributed::MeshCommandQueue& queue,
                metal::distributed::MeshWorkload& workload);

    // Called when an exception passes; whether it is about memory shows in the figures.
    void out_of_memory(const metal::Buffer* buffer);
    void clashed(const void* program, const metal::IDevice* device);

    const Metal metal;
    Sets sets{metal};
    Buffers buffers;
    Programs programs{metal};

private:
    void expect(const metal::Buffer* buffer);
    std::uint64_t reserved_bytes(const DeviceSet& set, const metal::Buffer* buffer) const;
    std::uint64_t needed_per_bank(const DeviceSet& set, const metal::Buffer* buffer) const;
    void load_on_chip(const metal::Program& program, metal::IDevice* chip);

    const std::shared_ptr<metal::IGraphProcessor> processor_;
    std::once_flag first_buffer_;
};

}  // namespace ttmem::observer
