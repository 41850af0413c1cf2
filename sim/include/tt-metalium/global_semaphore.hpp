// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include <tt-metalium/buffer_types.hpp>
#include <tt-metalium/core_coord.hpp>
#include <tt-metalium/hal_types.hpp>

namespace tt::tt_metal {

class GlobalSemaphoreImpl;
class IDevice;

namespace distributed {
class MeshDevice;
}  // namespace distributed

// Four bytes at one address on each of its cores. Copies share them.
class GlobalSemaphore {
public:
    GlobalSemaphore(distributed::MeshDevice& device, CoreRangeSet cores, uint32_t initial_value,
                    BufferType buffer_type = BufferType::L1);
    ~GlobalSemaphore();
    GlobalSemaphore(const GlobalSemaphore& other);
    GlobalSemaphore& operator=(const GlobalSemaphore& other);
    GlobalSemaphore(GlobalSemaphore&& other) noexcept;
    GlobalSemaphore& operator=(GlobalSemaphore&& other) noexcept;

    IDevice* device() const;
    DeviceAddr address() const;
    void reset_semaphore_value(uint32_t reset_value) const;

private:
    std::unique_ptr<GlobalSemaphoreImpl> pimpl_;
};

}  // namespace tt::tt_metal
