// SPDX-License-Identifier: Apache-2.0
#include "sim/metal/program_impl.hpp"

#include <algorithm>
#include <atomic>
#include <map>
#include <tt-metalium/graph_tracking.hpp>
#include <tt-metalium/mesh_device.hpp>
#include <tt_stl/assert.hpp>
#include <utility>

#include "sim/metal/device_impl.hpp"
#include "sim/metal/options.hpp"

namespace tt::tt_metal {

std::vector<Device*> chips_of(const IDevice* device) {
    std::vector<Device*> chips;
    if (const auto* mesh = dynamic_cast<const distributed::MeshDevice*>(device)) {
        for (IDevice* member : mesh->get_devices()) {
            chips.push_back(static_cast<Device*>(member));
        }
    } else {
        chips.push_back(const_cast<Device*>(static_cast<const Device*>(device)));
    }
    return chips;
}

namespace detail {
namespace {

ProgramId next_id() {
    static std::atomic<ProgramId> next = 1;
    return next++;
}

}  // namespace

ProgramImpl::ProgramImpl() : id_(next_id()) {}

ProgramImpl::~ProgramImpl() noexcept {
    deallocate_circular_buffers();
    GraphTracker::instance().track_program_end(id_);
    for (Device* device : kernel_devices_) {
        device->unregister_program(this);
    }
}

KernelHandle ProgramImpl::add_kernel(Kernel kernel) {
    TT_FATAL(!compiled_, "program {} is compiled already and takes no more kernels", id_);
    kernels_.push_back(std::move(kernel));
    return static_cast<KernelHandle>(kernels_.size() - 1);
}

CBHandle ProgramImpl::add_circular_buffer(const CoreRangeSet& cores, const CircularBufferConfig& config) {
    TT_FATAL(!cores.empty(), "a circular buffer needs at least one core");
    const CBHandle handle = circular_buffers_.size();
    circular_buffers_.push_back(std::make_shared<CircularBufferImpl>(handle, cores, config));
    invalidate_circular_buffer_allocation();
    return handle;
}

void ProgramImpl::add_buffer(std::shared_ptr<Buffer> buffer) { owned_buffers_.push_back(std::move(buffer)); }

CircularBufferImpl& ProgramImpl::get_circular_buffer(CBHandle handle) {
    TT_FATAL(handle < circular_buffers_.size(), "program {} has no circular buffer {}", id_, handle);
    return *circular_buffers_[handle];
}

std::array<uint64_t, 3> ProgramImpl::kernel_bytes() const {
    std::array<uint64_t, 3> bytes{};
    for (const Kernel& kernel : kernels_) {
        bytes[static_cast<size_t>(kernel.type())] += kernel.text_bytes();
    }
    return bytes;
}

std::vector<KernelMeta> ProgramImpl::collect_kernel_meta(IDevice* device) const {
    std::vector<KernelMeta> metas;
    for (const Kernel& kernel : kernels_) {
        metas.push_back(kernel.meta(device != nullptr && compiled_));
    }
    return metas;
}

uint64_t ProgramImpl::kernel_binaries_size() const {
    const auto bytes = kernel_bytes();
    return ttmem::allocator::round_up(bytes[0] + bytes[1] + bytes[2], kKernelBinariesPageSize);
}

void ProgramImpl::compile(IDevice* device, bool /*force_slow_dispatch*/) {
    if (!compiled_) {
        validate_kernel_ring(device);
    }
    compiled_ = true;
}

// The kernels of a core lie in a ring of their own below the base of L1. Their arguments are not simulated.
void ProgramImpl::validate_kernel_ring(const IDevice* device) const {
    std::map<std::pair<size_t, size_t>, uint64_t> bytes;
    for (const Kernel& kernel : kernels_) {
        if (kernel.type() != GraphTracker::KernelType::APPLICATION) {
            continue;  // on cores of their own, which no program of a user has
        }
        for (const CoreRange& range : kernel.core_range_set().ranges()) {
            for (size_t y = range.start_coord.y; y <= range.end_coord.y; ++y) {
                for (size_t x = range.start_coord.x; x <= range.end_coord.x; ++x) {
                    bytes[{x, y}] += kernel.text_bytes();
                }
            }
        }
    }
    const uint64_t ring = chips_of(device).front()->board().chip.kernel_config_size;
    for (const auto& [core, on_core] : bytes) {
        TT_FATAL(on_core <= ring, "Program size ({}) too large for kernel config buffer ({}) on TENSIX",
                 on_core, ring);
    }
}

void ProgramImpl::compile_and_allocate(IDevice* device, bool force_slow_dispatch) {
    compile(device, force_slow_dispatch);
    allocate_circular_buffers(device);
    validate_circular_buffer_region(device);
}

bool ProgramImpl::load_kernels(Device* device) {
    const std::lock_guard lock(mutex_);
    if (kernels_.empty() || !kernel_devices_.insert(device).second) {
        return false;
    }
    device->record_program_kernels(this, kernel_bytes());
    return true;
}

void ProgramImpl::allocate_kernel_bin_buf_on_device(IDevice* device) {
    if (!ttmem::sim::metal_options().kernel_binaries || kernels_.empty() ||
        kernel_binaries_.contains(device)) {
        return;
    }
    kernel_binaries_[device] = Buffer::create(device, kernel_binaries_size(), kKernelBinariesPageSize,
                                              BufferType::DRAM, std::nullopt, /*bottom_up=*/false);
}

void ProgramImpl::forget_device(Device* device) {
    const std::lock_guard lock(mutex_);
    cb_devices_.erase(device);
    kernel_devices_.erase(device);
    kernel_binaries_.erase(device);
}

}  // namespace detail

}  // namespace tt::tt_metal
