// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>

#include "release.hpp"
#include "truth.hpp"

CORES_BEGIN
CoreRangeSet::CoreRangeSet(std::vector<CoreRange> ranges) : ranges_(std::move(ranges)) {}
const std::vector<CoreRange>& CoreRangeSet::ranges() const { return ranges_; }
CORES_END

#if HAS_DATAFLOW_BUFFERS
namespace tt::tt_metal {
std::vector<uint32_t>& Kernel::common_runtime_args() { return common_runtime_args_; }
}  // namespace tt::tt_metal
#endif

namespace tt::tt_metal::detail {

namespace {

size_t cores_in(const CoreRangeSet& cores) {
    size_t count = 0;
    for (const auto& [first, last] : cores.ranges()) {
        count += (last.x - first.x + 1) * (last.y - first.y + 1);
    }
    return count;
}

constexpr bool kReportsGlobalBuffers = HAS_CHIP_BUFFERS;
// Older ones crash if they are asked on a device without binaries, as this is.
[[maybe_unused]] constexpr bool kTellsKernels = RELEASE >= 7000;

}  // namespace

std::vector<IDevice*> chips_of(const IDevice* device) {
    const auto* const mesh = dynamic_cast<const distributed::MeshDevice*>(device);
    return mesh != nullptr ? mesh->get_devices() : std::vector{const_cast<IDevice*>(device)};
}

ProgramImpl::ProgramImpl(std::vector<CircularBufferPlan> buffers, size_t kernel_bytes)
    : buffers_(std::move(buffers)), kernel_bytes_(kernel_bytes) {
    static uint64_t programs = 0;
    id_ = programs++;
}

ProgramImpl::~ProgramImpl() {
#if HAS_CHIP_BUFFERS
    deallocate_circular_buffers();
#endif
    truth::remove(this);
}

uint64_t ProgramImpl::get_id() const { return id_; }

#if HAS_KERNEL_RECORDS
std::vector<KernelMeta> ProgramImpl::collect_kernel_meta(IDevice* device) const {
    if (!kTellsKernels && device != nullptr) {
        std::abort();
    }
    std::vector<KernelMeta> kernels(2);
    for (KernelMeta& kernel : kernels) {
        kernel.name = "reader";
        kernel.source = "kernels/reader.cpp";
        kernel.binary_meta = {{0, kernel_bytes_ / 4}, {1, kernel_bytes_ / 4}};
    }
    return kernels;
}
#endif

void ProgramImpl::allocate_circular_buffers(const IDevice* device) {
    if (is_laid_out_) {
        return;
    }
    is_laid_out_ = true;
    const std::vector<IDevice*> chips = chips_of(device);
    chips_.assign(chips.begin(), chips.end());
    for (const CircularBufferPlan& buffer : buffers_) {
        if (buffer.is_global && !kReportsGlobalBuffers) {
            continue;
        }
        for (const IDevice* chip : chips) {
            const uint64_t reserved = buffer.size * cores_in(buffer.cores);
            truth::add(this, std::to_string(chip->id()) + " cb of program " + std::to_string(id_) + " at " +
                                 std::to_string(buffer.address) + " requested " +
                                 std::to_string(buffer.size) + " reserved " + std::to_string(reserved) +
                                 (buffer.is_global ? " view" : "") + " name '" + truth::current_name() + "'");
#if HAS_CHIP_BUFFERS
            GraphTracker::instance().track_allocate_cb(buffer.cores, buffer.address, buffer.size,
                                                       buffer.is_global, chip);
#endif
        }
#if !HAS_CHIP_BUFFERS
#if defined(MUTATION_IMPL_DEVICE)
        if (const auto* const mesh = dynamic_cast<const distributed::MeshDevice*>(device)) {
            device = mesh->impl();
        }
#endif
        GraphTracker::instance().track_allocate_cb(buffer.cores, buffer.address, buffer.size,
                                                   buffer.is_global, device);
#endif
    }
}

#if HAS_CHIP_BUFFERS
void ProgramImpl::deallocate_circular_buffers() {
    for (const IDevice* chip : chips_) {
        GraphTracker::instance().track_deallocate_cb(chip);
    }
    chips_.clear();
}
#endif

#if HAS_DATAFLOW_BUFFERS
void ProgramImpl::CircularBufferAllocator::mark_address(uint64_t address, uint64_t size, uint64_t /*base*/) {
    end = address + size;
}
#endif

// In the order of the releases.
void ProgramImpl::lay_out_on(IDevice* device) {
    allocate_circular_buffers(device);
    validate_circular_buffer_region(device);
#if HAS_DATAFLOW_BUFFERS
#if defined(MUTATION_DATAFLOW_INLINED)
    if (dataflow_bytes != 0 && dataflow_buffers_.empty()) {
        dataflow_buffers_.push_back(dataflow_bytes);
        lay_out(device, dataflow_bytes, "dataflow");
    }
#else
    allocate_dataflow_buffers(device);
#endif
#if HAS_SCRATCHPADS
#if defined(MUTATION_SCRATCHPAD_CALL_INLINED)
    if (scratchpad_bytes != 0 && !has_scratchpads_) {
        has_scratchpads_ = true;
        lay_out(device, scratchpad_bytes, "scratchpad");
        if (!kernel_.common_runtime_args().empty()) {
            kernel_.common_runtime_args().front() = 1;
        }
    }
#else
    allocate_scratchpads(device);
#endif
#endif
    validate_dataflow_buffer_region(device);
#endif
}

#if HAS_COMPILE_AND_ALLOCATE
void ProgramImpl::compile_and_allocate(IDevice* device, bool /*slow*/) { lay_out_on(device); }
#endif

void ProgramImpl::launch_on(IDevice* device, const std::vector<IDevice*>& chips,
                            [[maybe_unused]] bool is_slow) {
    const bool is_first = !is_laid_out_;
#if HAS_COMPILE_AND_ALLOCATE
    if (!is_slow) {
        compile_and_allocate(device, false);
    }
#endif
    if (!HAS_COMPILE_AND_ALLOCATE || is_slow) {
        lay_out_on(device);
    }
#if !HAS_KERNEL_RECORDS || defined(MUTATION_KERNEL_RECORD)
    constexpr bool kIsAsked = false;
#else
    constexpr bool kIsAsked = kTellsKernels;
#endif
    for (const IDevice* chip : chips) {
        if (is_first && kIsAsked) {
            truth::add(this, std::to_string(chip->id()) + " kernels of program " + std::to_string(id_) +
                                 " of " + std::to_string(kernel_bytes_));
        }
    }
}

bool ConfigureDeviceWithProgram(IDevice* device, Program& program, bool /*slow*/) {
    program.impl().launch_on(device, {device}, true);
    return true;
}

}  // namespace tt::tt_metal::detail

namespace tt::tt_metal::distributed {

std::unordered_map<MeshCoordinateRange, Program>& MeshWorkload::get_programs() { return programs_; }

void EnqueueMeshWorkload(MeshCommandQueue& queue, MeshWorkload& workload, bool /*blocking*/) {
    for (auto& [range, program] : workload.get_programs()) {
        program.impl().launch_on(queue.device(), queue.device()->get_view().get_devices(range), false);
    }
}

}  // namespace tt::tt_metal::distributed
