// SPDX-License-Identifier: Apache-2.0
#pragma once

// A stand-in for the classes of tt-metal that integrations/tt-metal uses, with the same names and an allocator of its own.
// It accounts for everything itself (truth.hpp), with which ttmem's figures are compared.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tt {
enum class ARCH { WORMHOLE_B0 = 2, BLACKHOLE = 3 };
}  // namespace tt

namespace tt::tt_metal {

using DeviceAddr = uint64_t;
using SubDeviceId = int;

class Allocator;
class AllocatorImpl;
class Buffer;
class Program;

enum class BufferType { DRAM, L1, SYSTEM_MEMORY, L1_SMALL, TRACE };
enum class HalMemType : uint8_t { L1 = 0, DRAM = 1 };
enum class TensorMemoryLayout { INTERLEAVED, HEIGHT_SHARDED };

struct CoreCoord {
    size_t x = 0;
    size_t y = 0;
    bool operator<(const CoreCoord& other) const { return std::pair(x, y) < std::pair(other.x, other.y); }
};
struct CoreRange {
    CoreCoord start_coord;
    CoreCoord end_coord;
};
class CoreRangeSet {
public:
    explicit CoreRangeSet(std::vector<CoreRange> ranges) : ranges_(std::move(ranges)) {}
    const std::vector<CoreRange>& ranges() const { return ranges_; }

private:
    std::vector<CoreRange> ranges_;
};

// ---- memory ----------------------------------------------------------------------------------------------------------

struct Statistics {
    size_t total_allocatable_size_bytes = 0;
    size_t total_allocated_bytes = 0;
    size_t total_free_bytes = 0;
    size_t largest_free_block_bytes = 0;
};

using Regions = std::vector<std::pair<DeviceAddr, DeviceAddr>>;

class AllocatorState {
public:
    // Its memory belongs to buffers of another allocator, in whose account it stays.
    bool is_of_others = false;

    Regions& regions(BufferType type) { return regions_[type]; }
    Regions get_allocated_regions(BufferType type) const {
        const auto found = regions_.find(type);
        return found != regions_.end() ? found->second : Regions();
    }

private:
    std::map<BufferType, Regions> regions_;
};

struct AllocatorConfig {
    size_t trace_region_size = 0;
};

class AllocatorImpl {
public:
    AllocatorImpl(std::string owner, uint32_t l1_banks);
    ~AllocatorImpl();

    DeviceAddr allocate_buffer(Buffer* buffer);
    void deallocate_buffer(Buffer* buffer);
    void deallocate_buffers();
    AllocatorState extract_state() const;
    void override_state(const AllocatorState& state);

    uint32_t get_num_banks(const BufferType& type) const;
    uint32_t get_alignment(BufferType type) const;
    DeviceAddr get_base_allocator_addr(const HalMemType& type) const;
    Statistics get_statistics(const BufferType& type) const;
    const AllocatorConfig& get_config() const { return config_; }
    const std::unique_ptr<Allocator>& view() const { return view_; }
    std::optional<DeviceAddr> lowest_l1() const;

private:
    void forget_all();

    std::string owner_;
    uint32_t l1_banks_;
    AllocatorConfig config_;
    std::unique_ptr<Allocator> view_;
    mutable std::mutex mutex_;
    std::map<BufferType, std::map<DeviceAddr, DeviceAddr>> live_;  // sizes by address in a bank
    std::vector<Buffer*> buffers_;
};

class Allocator {
public:
    explicit Allocator(AllocatorImpl* impl) : impl_(impl) {}
    uint32_t get_num_banks(const BufferType& type) const { return impl_->get_num_banks(type); }
    uint32_t get_alignment(BufferType type) const { return impl_->get_alignment(type); }

private:
    AllocatorImpl* impl_;
};

class IDevice {
public:
    virtual ~IDevice() = default;
    virtual tt::ARCH arch() const { return tt::ARCH::WORMHOLE_B0; }
    virtual int id() const = 0;
    virtual std::string label() const = 0;
    virtual bool is_initialized() const = 0;
    virtual uint32_t l1_size_per_core() const { return 1'499'136; }
    virtual CoreCoord compute_with_storage_grid_size() const { return {2, 2}; }
    virtual const std::unique_ptr<AllocatorImpl>& allocator_impl() const = 0;
    virtual AllocatorImpl& sub_device() = 0;
    std::optional<DeviceAddr> lowest_occupied_compute_l1_address(const std::vector<SubDeviceId>&) const {
        return allocator_impl()->lowest_l1();
    }
};

class Buffer {
public:
    static std::shared_ptr<Buffer> create(IDevice* device, DeviceAddr size, DeviceAddr page_size, BufferType type,
                                          bool on_sub_device = false,
                                          const std::vector<CoreCoord>& own_addresses_on = {});
    Buffer(IDevice* device, DeviceAddr size, DeviceAddr page_size, BufferType type, AllocatorImpl* allocator);
    ~Buffer();

    IDevice* device() const { return device_; }
    Allocator* allocator() const { return allocator_->view().get(); }
    DeviceAddr size() const { return size_; }
    uint32_t address() const { return static_cast<uint32_t>(address_); }
    DeviceAddr page_size() const { return page_size_; }
    BufferType buffer_type() const { return type_; }
    TensorMemoryLayout buffer_layout() const { return TensorMemoryLayout::INTERLEAVED; }
    DeviceAddr aligned_page_size() const;
    DeviceAddr aligned_size_per_bank() const;
    std::optional<uint32_t> num_cores() const { return std::nullopt; }
    bool bottom_up() const { return type_ == BufferType::DRAM; }
    size_t unique_id() const { return unique_id_; }
    const std::map<CoreCoord, DeviceAddr>& core_addresses() const { return core_addresses_; }

private:
    IDevice* device_;
    DeviceAddr size_;
    DeviceAddr page_size_;
    BufferType type_;
    AllocatorImpl* allocator_;
    bool owns_memory_ = false;
    bool is_hooked_ = false;
    DeviceAddr address_ = 0;
    size_t unique_id_;
    std::map<CoreCoord, DeviceAddr> core_addresses_;
};

namespace experimental::per_core_allocation {
inline bool is_per_core_allocation(const Buffer& buffer) { return !buffer.core_addresses().empty(); }
inline const std::map<CoreCoord, DeviceAddr>& get_per_core_addresses(const Buffer& buffer) {
    return buffer.core_addresses();
}
}  // namespace experimental::per_core_allocation

// ---- devices ---------------------------------------------------------------------------------------------------------

class Device : public IDevice {
public:
    explicit Device(int id) : id_(id) {}
    ~Device() override;
    int id() const override { return id_; }
    std::string label() const override { return "device " + std::to_string(id_); }
    bool is_initialized() const override { return allocator_ != nullptr; }
    const std::unique_ptr<AllocatorImpl>& allocator_impl() const override { return allocator_; }
    AllocatorImpl& sub_device() override { return *sub_device_; }
    bool initialize(const uint8_t queues, size_t l1_small, size_t trace, size_t worker_l1, std::span<const uint32_t> remap,
                    bool minimal);
    bool close();

private:
    int id_;
    std::unique_ptr<AllocatorImpl> allocator_, sub_device_;
};

namespace distributed {

class MeshDevice;

struct MeshShape {
    uint32_t rows, columns;
    size_t dims() const { return 2; }
    uint32_t operator[](size_t dimension) const { return dimension == 0 ? rows : columns; }
};

struct MeshCoordinateRange {
    size_t first = 0;
    size_t last = 0;
    bool operator<(const MeshCoordinateRange& other) const { return first < other.first; }
};

class MeshDeviceView {
public:
    std::vector<IDevice*> get_devices(const MeshCoordinateRange& range) const {
        return {chips.begin() + static_cast<std::ptrdiff_t>(range.first),
                chips.begin() + static_cast<std::ptrdiff_t>(range.last) + 1};
    }
    std::vector<IDevice*> chips;
};

class MeshDeviceImpl {
public:
    bool close_impl(MeshDevice* pimpl_wrapper);

    int id = 0;
    std::vector<std::unique_ptr<Device>> chips;
    MeshDeviceView view;
    std::unique_ptr<AllocatorImpl> allocator, sub_device;
    uint32_t trace_buffers_size = 0;
};

class MeshDevice : public IDevice {
public:
    explicit MeshDevice(int chips);
    ~MeshDevice() override;
    bool close();
    int id() const override { return impl_->id; }
    std::string label() const override { return "mesh " + std::to_string(impl_->id); }
    bool is_initialized() const override { return impl_->allocator != nullptr; }
    const std::unique_ptr<AllocatorImpl>& allocator_impl() const override { return impl_->allocator; }
    AllocatorImpl& sub_device() override { return *impl_->sub_device; }
    std::vector<IDevice*> get_devices() const { return impl_->view.chips; }
    const MeshDeviceView& get_view() const { return impl_->view; }
    MeshShape shape() const { return {1, static_cast<uint32_t>(impl_->chips.size())}; }
    uint32_t get_trace_buffers_size() const { return impl_->trace_buffers_size; }
    void set_trace_buffers_size(uint32_t size) { impl_->trace_buffers_size = size; }

private:
    std::unique_ptr<MeshDeviceImpl> impl_;
};

}  // namespace distributed

class Cluster {
public:
    const std::map<int, uint64_t>& get_unique_chip_ids() const {
        static const std::map<int, uint64_t> ids = {{0, 0xA51C00}, {1, 0xA51C01}};
        return ids;
    }
};
class Hal {
public:
    uint32_t get_programmable_core_type_count() const { return 1; }
};
class MetalContext {
public:
    static MetalContext& instance(int /*context*/ = 0) {
        static MetalContext context;
        return context;
    }
    const Cluster& get_cluster() const { return cluster_; }
    const Hal& hal() const { return hal_; }

private:
    Cluster cluster_;
    Hal hal_;
};
inline int extract_context_id(const IDevice*) { return 0; }

inline std::string& allocation_context() {
    thread_local std::string context;
    return context;
}
inline const std::string& current_allocation_context() { return allocation_context(); }
inline bool trace_allocation_tracking_enabled() { return true; }

// ---- programs --------------------------------------------------------------------------------------------------------

struct ScratchpadBindingHandle {
    uint32_t size_bytes = 0;
    uint32_t allocated_address = 0;
};

class Kernel {
public:
    std::vector<ScratchpadBindingHandle>& scratchpad_binding_handles() { return scratchpads_; }
    const std::vector<ScratchpadBindingHandle>& scratchpad_binding_handles() const { return scratchpads_; }
    const CoreRangeSet& core_range_set() const { return cores_; }

private:
    CoreRangeSet cores_{{{{0, 0}, {0, 0}}}};
    std::vector<ScratchpadBindingHandle> scratchpads_;
};

struct DataflowBufferImpl {
    CoreRangeSet core_ranges;
    uint32_t size = 0;
    bool borrows = false;
    std::optional<uint32_t> alias_primary_id = {};
    std::map<CoreCoord, std::pair<size_t, uint32_t>> core_lookup_ = {};
    uint32_t total_size() const { return size; }
    bool borrows_memory() const { return borrows; }
};

class CircularBufferImpl {
public:
    CircularBufferImpl(CoreRangeSet cores, uint32_t address, uint32_t size, bool is_global)
        : cores_(std::move(cores)), address_(address), size_(size), is_global_(is_global) {}
    const CoreRangeSet& core_ranges() const { return cores_; }
    uint32_t address() const { return address_; }
    uint32_t size() const { return size_; }
    bool globally_allocated() const { return is_global_; }

private:
    CoreRangeSet cores_;
    uint32_t address_, size_;
    bool is_global_;
};

namespace detail {

struct KernelBinaryMeta {
    uint32_t processor_type;
    size_t packed_size;
};
struct KernelMeta {
    std::string_view name, source;
    std::vector<KernelBinaryMeta> binary_meta;
};

class ProgramImpl {
public:
    ProgramImpl();
    ~ProgramImpl() noexcept;
    uint64_t get_id() const { return id_; }
    std::vector<KernelMeta> collect_kernel_meta(IDevice* device) const;
    void allocate_circular_buffers(const IDevice* device);
    void allocate_dataflow_buffers(const IDevice* device);
    void allocate_scratchpads(const IDevice* device);
    void validate_circular_buffer_region(const IDevice* device);
    void validate_dataflow_buffer_region(const IDevice* device);
    const std::vector<SubDeviceId>& determine_sub_device_ids(const IDevice* device);
    void launch_on(const IDevice* device, const std::vector<IDevice*>& chips);

    std::vector<std::shared_ptr<CircularBufferImpl>>& circular_buffers() { return circular_; }
    std::vector<std::shared_ptr<DataflowBufferImpl>>& dataflow_buffers() { return dataflow_; }
    std::map<int, std::shared_ptr<Kernel>>& get_kernels(uint32_t /*core_type*/) { return kernels_; }

private:
    uint64_t id_;
    bool is_laid_out_ = false;
    std::vector<std::shared_ptr<CircularBufferImpl>> circular_;
    std::vector<std::shared_ptr<DataflowBufferImpl>> dataflow_;
    std::map<int, std::shared_ptr<Kernel>> kernels_;
};

bool ConfigureDeviceWithProgram(IDevice* device, Program& program, bool force_slow_dispatch);

}  // namespace detail

class Program {
public:
    detail::ProgramImpl& impl() { return *impl_; }

private:
    std::shared_ptr<detail::ProgramImpl> impl_ = std::make_shared<detail::ProgramImpl>();
};

namespace distributed {

class MeshWorkload {
public:
    std::map<MeshCoordinateRange, Program>& get_programs() { return programs_; }

private:
    std::map<MeshCoordinateRange, Program> programs_;
};

class MeshCommandQueue {
public:
    explicit MeshCommandQueue(MeshDevice* mesh) : mesh_(mesh) {}
    MeshDevice* device() const { return mesh_; }

private:
    MeshDevice* mesh_;
};

void EnqueueMeshWorkload(MeshCommandQueue& mesh_cq, MeshWorkload& mesh_workload, bool blocking);

struct MeshTrace {
    static void populate_mesh_buffer(MeshCommandQueue& mesh_cq, uint32_t size);
};

}  // namespace distributed
}  // namespace tt::tt_metal
