// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <tt-metalium/buffer.hpp>
#include <tt-metalium/circular_buffer_config.hpp>
#include <tt-metalium/core_coord.hpp>
#include <tt-metalium/device.hpp>
#include <tt-metalium/kernel_types.hpp>
#include <tt-metalium/program.hpp>

#include "sim/metal/circular_buffer_impl.hpp"
#include "sim/metal/kernel.hpp"

namespace tt::tt_metal {

class Device;

// The chips of a device: itself, or the members of a mesh in order.
std::vector<Device*> chips_of(const IDevice* device);

namespace detail {

inline constexpr uint64_t kKernelBinariesPageSize = 2048;

// A program and its memory on each chip that it was laid out on: circular buffers from the layout, kernels from the first
// dispatch, both until the program ends or the chip closes.
class ProgramImpl : public std::enable_shared_from_this<ProgramImpl> {
public:
    ProgramImpl();
    ~ProgramImpl() noexcept;
    ProgramImpl(const ProgramImpl& other) = delete;
    ProgramImpl& operator=(const ProgramImpl& other) = delete;

    void set_runtime_id(ProgramId id) { runtime_id_ = id; }
    ProgramId get_runtime_id() const { return runtime_id_; }
    ProgramId get_id() const { return id_; }

    KernelHandle add_kernel(Kernel kernel);
    CBHandle add_circular_buffer(const CoreRangeSet& cores, const CircularBufferConfig& config);
    uint32_t create_semaphore() { return semaphores_++; }
    void add_buffer(std::shared_ptr<Buffer> buffer);

    CircularBufferImpl& get_circular_buffer(CBHandle handle);
    const std::vector<std::shared_ptr<CircularBufferImpl>>& circular_buffers() const {
        return circular_buffers_;
    }
    const std::vector<Kernel>& kernels() const { return kernels_; }
    std::array<uint64_t, 3> kernel_bytes() const;  // by GraphTracker::KernelType
    uint64_t kernel_binaries_size() const;         // of the copy in DRAM, in whole pages
    std::vector<KernelMeta> collect_kernel_meta(IDevice* device) const;

    // The next launch lays the circular buffers out again.
    void invalidate_circular_buffer_allocation();

    void compile(IDevice* device, bool force_slow_dispatch = false);
    void compile_and_allocate(IDevice* device, bool force_slow_dispatch);
    void allocate_circular_buffers(const IDevice* device);
    void validate_circular_buffer_region(const IDevice* device);
    void deallocate_circular_buffers();

    // Marks the kernels as loaded on this chip. False if they were loaded before.
    bool load_kernels(Device* device);
    void allocate_kernel_bin_buf_on_device(IDevice* device);
    void forget_device(Device* device);

private:
    void validate_kernel_ring(const IDevice* device) const;
    void lay_out_circular_buffers(const IDevice* device);
    void track_circular_buffer(const CircularBufferImpl& buffer, const IDevice* device) const;
    void record_circular_buffers(Device* device);
    uint64_t circular_buffer_bytes_per_core() const;

    const ProgramId id_;
    ProgramId runtime_id_ = 0;
    std::vector<Kernel> kernels_;
    std::vector<std::shared_ptr<CircularBufferImpl>> circular_buffers_;
    uint32_t semaphores_ = 0;

    // The end of the circular buffers for each rectangle of cores.
    struct RegionEnd {
        CoreRange cores;
        uint64_t end;
    };
    std::vector<RegionEnd> regions_;
    bool layout_needed_ = true;
    uint64_t layout_ = 0;  // counts the layouts

    std::mutex mutex_;
    std::unordered_set<Device*> cb_devices_;
    std::unordered_set<Device*> kernel_devices_;
    bool compiled_ = false;

    std::vector<std::shared_ptr<Buffer>> owned_buffers_;
    std::unordered_map<const IDevice*, std::shared_ptr<Buffer>> kernel_binaries_;
};

}  // namespace detail

}  // namespace tt::tt_metal
