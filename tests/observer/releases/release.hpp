// SPDX-License-Identifier: Apache-2.0
#pragma once

// A stand-in for one release of tt-metal: a small library of our own with the names of its functions and the layout of its
// classes, as far as an observer meets them. It keeps its own figures (truth.hpp), with which an observer's are compared.
//
// RELEASE is 6400 for v0.64.0, 6430 for v0.64.3 and so on. A mutation (MUTATION_...) is a release that never was.

#include <any>
#include <array>
#include <atomic>
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
#include <vector>

#define HAS_OWN_SPAN (RELEASE < 6020)  // ttsl::Span is a class of its own
#if defined(MUTATION_KERNELS_GONE)
#define HAS_KERNEL_RECORDS 0
#else
#define HAS_KERNEL_RECORDS (RELEASE >= 6400)
#endif
#define HAS_GLOBAL_CORES (RELEASE < 6430)       // CoreRangeSet is in no namespace
#define HAS_INLINE_TRACKER (RELEASE < 6500)     // GraphTracker::instance() is inline
#define HAS_ALLOCATOR_VIEW (RELEASE >= 6510)    // an Allocator is a view of an AllocatorImpl
#define HAS_SHORT_DEVICE (RELEASE >= 6700)      // IDevice has eight virtual functions fewer
#define HAS_STATISTICS_VECTOR (RELEASE < 6900)  // Statistics ends with a vector
#define HAS_CAPTURE_QUESTION (RELEASE >= 7000)  // processors say whether they capture
#define HAS_CHIP_BUFFERS (RELEASE >= 7000)      // circular buffers are reported on each chip, and freed
#define HAS_THREAD_LISTS (RELEASE >= 7200)      // each thread has its own processors
#define HAS_VIRTUAL_ALLOCATOR (RELEASE >= 7300)
#define HAS_ASIC_IDS (RELEASE >= 7400)
#define HAS_COMPILE_AND_ALLOCATE (RELEASE >= 7600)
#define HAS_DATAFLOW_BUFFERS (RELEASE >= 6700)
#define HAS_DATAFLOW_LIST (RELEASE >= 6900)  // dataflow_buffers() is exported
#define HAS_SCRATCHPADS (RELEASE >= 7500)
#define HAS_DATAFLOW_EVENTS (RELEASE >= 7700)   // processors have functions for both
#define HAS_PER_CORE_BUFFERS (RELEASE >= 6900)  // a buffer may have an address on each core by itself
#define HAS_CONTEXTS (RELEASE >= 7800)

namespace ttsl {
#if HAS_OWN_SPAN
template <class Value, size_t kExtent = SIZE_MAX>
struct Span {
    Value* start = nullptr;
    size_t count = 0;
};
#else
template <class Value>
using Span = std::span<Value>;
#endif
template <class Value, class Tag>
struct StrongType {
    Value value;
};
}  // namespace ttsl

namespace tt {
enum class ARCH { WORMHOLE_B0 = 2 };
}  // namespace tt

#if HAS_GLOBAL_CORES
#define CORES_BEGIN
#define CORES_END
#else
#define CORES_BEGIN namespace tt::tt_metal {
#define CORES_END }
#endif

CORES_BEGIN
struct CoreCoord {
    size_t x = 0;
    size_t y = 0;
};
inline bool operator==(const CoreCoord& a, const CoreCoord& b) { return a.x == b.x && a.y == b.y; }
struct CoreHash {
    size_t operator()(const CoreCoord& core) const { return core.x * 31 + core.y; }
};
struct CoreRange {
    CoreCoord start_coord;
    CoreCoord end_coord;
};
class CoreRangeSet {
public:
    explicit CoreRangeSet(std::vector<CoreRange> ranges);
    const std::vector<CoreRange>& ranges() const;

private:
    std::vector<CoreRange> ranges_;
};
CORES_END

namespace tt::tt_metal {

class Allocator;
class AllocatorImpl;
class Buffer;
class Device;
class GraphTracker;
class Program;
namespace distributed {
class MeshDevice;
class MeshWorkload;
}  // namespace distributed

#if HAS_ALLOCATOR_VIEW
using Allocating = AllocatorImpl;
#else
using Allocating = Allocator;
#endif

enum class BufferType { DRAM, L1, SYSTEM_MEMORY, L1_SMALL, TRACE };
enum class HalMemType : uint8_t { L1 = 0, DRAM = 1 };
struct SubDeviceId {
    uint8_t number;
};

// ---- devices -------------------------------------------------------------------------------------------------------

// Functions that an observer does not use.
#define OTHER(number) \
    virtual int other_function_##number() const { return number; }
#define OTHER_3(a, b, c) OTHER(a) OTHER(b) OTHER(c)
#define OTHER_8(a, b, c, d, e, f, g, h) OTHER_3(a, b, c) OTHER_3(d, e, f) OTHER(g) OTHER(h)

class IDevice {
public:
    virtual ~IDevice() = default;
#if defined(MUTATION_VIRTUALS_INSERTED)
    OTHER_3(100, 101, 102);
#endif
    virtual tt::ARCH arch() const = 0;
    virtual int id() const = 0;
    virtual int build_id() const = 0;
    OTHER(5);
    virtual bool is_initialized() const = 0;
    OTHER(7);
    virtual uint32_t l1_size_per_core() const = 0;
    OTHER_8(9, 10, 11, 12, 13, 14, 15, 16);
    OTHER(17);
    OTHER(18);
#if !HAS_SHORT_DEVICE
    OTHER_8(19, 20, 21, 22, 23, 24, 25, 26);
#endif
    virtual CoreCoord compute_with_storage_grid_size() const = 0;
    OTHER(28);
    OTHER(29);
    virtual const std::unique_ptr<Allocator>& allocator() const = 0;
    virtual const std::unique_ptr<Allocator>& allocator(SubDeviceId sub_device) const = 0;
#if HAS_ALLOCATOR_VIEW
    virtual const std::unique_ptr<AllocatorImpl>& allocator_impl() const = 0;
    virtual const std::unique_ptr<AllocatorImpl>& allocator_impl(SubDeviceId sub_device) const = 0;
#endif
    OTHER_3(32, 33, 34);
    virtual std::optional<uint64_t> lowest_occupied_compute_l1_address() const = 0;
    OTHER(36);
    virtual bool close() = 0;
    OTHER(38);
};

// Throws if buffers of a program reach into the lowest L1 buffer, of the device or its sub-device, or beyond the end of L1.
void validate_region(uint64_t program, const char* type, const CoreRange& cores, uint64_t end,
                     const IDevice* device, bool on_sub_device);

// The memory of one device, and that of its only sub-device.
struct DeviceMemory {
    DeviceMemory();
    ~DeviceMemory();
    Allocating& allocating(bool on_sub_device) const;

    std::unique_ptr<Allocator> whole, part;
#if HAS_ALLOCATOR_VIEW
    std::unique_ptr<AllocatorImpl> whole_impl, part_impl;
#endif
};

class Device : public IDevice {
public:
    explicit Device(int id) : id_(id) {}
    ~Device() override;
    tt::ARCH arch() const override;
    int id() const override { return id_; }
    int build_id() const override { return id_ + 70; }
    bool is_initialized() const override { return memory_ != nullptr; }
    uint32_t l1_size_per_core() const override;
    CoreCoord compute_with_storage_grid_size() const override;
    const std::unique_ptr<Allocator>& allocator() const override;
    const std::unique_ptr<Allocator>& allocator(SubDeviceId sub_device) const override;
#if HAS_ALLOCATOR_VIEW
    const std::unique_ptr<AllocatorImpl>& allocator_impl() const override;
    const std::unique_ptr<AllocatorImpl>& allocator_impl(SubDeviceId sub_device) const override;
#endif
    std::optional<uint64_t> lowest_occupied_compute_l1_address() const override;
    bool initialize(uint8_t queues, size_t l1_small, size_t trace, size_t l1,
                    ttsl::Span<const uint32_t> remap, bool minimal);
    bool close() override;

private:
    int id_;
    std::unique_ptr<DeviceMemory> memory_;
};

namespace distributed {

using MeshTraceId = ttsl::StrongType<uint32_t, struct MeshTraceIdTag>;

// As large as the release's.
struct MeshCoordinateRange {
    size_t first = 0;
    size_t last = 0;
    std::array<char, (RELEASE < 6430 ? 96 : 240) - 2 * sizeof(size_t)> other{};

    bool operator==(const MeshCoordinateRange& range) const {
        return first == range.first && last == range.last;
    }
};

class MeshDeviceView {
public:
    std::vector<IDevice*> get_devices(const MeshCoordinateRange& range) const;

    std::vector<Device*> chips;
};

class MeshDevice : public IDevice, public std::enable_shared_from_this<MeshDevice> {
public:
    static std::shared_ptr<MeshDevice> create(const std::vector<int>& chips);
    explicit MeshDevice(const std::vector<int>& chips);
    ~MeshDevice() override;

    tt::ARCH arch() const override;
    int id() const override;
    int build_id() const override;
    bool is_initialized() const override;
    uint32_t l1_size_per_core() const override;
    CoreCoord compute_with_storage_grid_size() const override;
    const std::unique_ptr<Allocator>& allocator() const override;
    const std::unique_ptr<Allocator>& allocator(SubDeviceId sub_device) const override;
#if HAS_ALLOCATOR_VIEW
    const std::unique_ptr<AllocatorImpl>& allocator_impl() const override;
    const std::unique_ptr<AllocatorImpl>& allocator_impl(SubDeviceId sub_device) const override;
#endif
    std::optional<uint64_t> lowest_occupied_compute_l1_address() const override;
    bool close() override;

    // The trace is the sum of all, as the runtime counts them.
    void end_mesh_trace(uint8_t queue, const MeshTraceId& trace);
    uint64_t live_trace_bytes = 0;
    std::vector<IDevice*> get_devices() const;
    size_t num_rows() const;
    size_t num_cols() const;
    const MeshDeviceView& get_view() const;

#if defined(MUTATION_IMPL_DEVICE)
    const IDevice* impl() const;
#endif

private:
    int id_;
    std::vector<std::unique_ptr<Device>> chips_;
    MeshDeviceView view_;
    std::unique_ptr<DeviceMemory> memory_;
};

}  // namespace distributed

// ---- memory --------------------------------------------------------------------------------------------------------

struct Statistics {
    size_t total_allocatable_size_bytes = 0;
    size_t total_allocated_bytes = 0;
    size_t total_free_bytes = 0;
    size_t largest_free_block_bytes = 0;
#if HAS_STATISTICS_VECTOR
    std::vector<uint32_t> largest_free_block_addrs;
#endif
};

#define ALLOCATOR_QUESTIONS                                         \
    uint64_t get_base_allocator_addr(const HalMemType& type) const; \
    uint32_t get_alignment(BufferType type) const;                  \
    Statistics get_statistics(const BufferType& type) const;        \
    void deallocate_buffers();

class AllocatorState {};

// Functions that are gone: the library does not export them.
#if defined(MUTATION_BANKS_GONE)
#define BANKS_HIDDEN __attribute__((visibility("hidden")))
#else
#define BANKS_HIDDEN
#endif
#if defined(MUTATION_PER_CORE_GONE)
#define ADDRESSES_HIDDEN __attribute__((visibility("hidden")))
#else
#define ADDRESSES_HIDDEN
#endif

#if HAS_ALLOCATOR_VIEW
class AllocatorImpl {
public:
    explicit AllocatorImpl(uint32_t l1_banks) : l1_banks_(l1_banks) {}
#if HAS_VIRTUAL_ALLOCATOR
    virtual ~AllocatorImpl() = default;
#endif
#else
class Allocator {
public:
    explicit Allocator(uint32_t l1_banks) : l1_banks_(l1_banks) {}
    virtual ~Allocator() = default;
#endif
    static inline uint64_t l1_limit = 0;  // no buffer of L1 is given below
    uint64_t allocate_buffer(Buffer* buffer);
    void deallocate_buffer(Buffer* buffer);
#if HAS_ALLOCATOR_VIEW
    void override_state(const AllocatorState& state);
#endif
    void free_all();
    std::optional<uint64_t> lowest_l1() const;
    const Buffer* lowest_l1_buffer() const;
    BANKS_HIDDEN uint32_t get_num_banks(const BufferType& type) const;
    ALLOCATOR_QUESTIONS

private:
    struct Block {
        uint64_t size;
        Buffer* buffer;
    };
    uint32_t l1_banks_;
    mutable std::mutex mutex_;
    std::array<std::map<uint64_t, Block>, 5> live_;  // by kind and address in a bank
};

#if HAS_ALLOCATOR_VIEW
class Allocator {
public:
    explicit Allocator(AllocatorImpl* impl) : impl_(impl) {}
    uint32_t get_num_banks(const BufferType& type) const;
    ALLOCATOR_QUESTIONS

private:
    AllocatorImpl* impl_;
};
#endif

class Buffer : public std::enable_shared_from_this<Buffer> {
public:
    static std::shared_ptr<Buffer> create(IDevice* device, uint64_t size, uint64_t page_size, BufferType type,
                                          bool on_sub_device = false,
                                          const std::vector<CoreCoord>& own_addresses_on = {},
                                          int shards = 0);
    Buffer(IDevice* device, uint64_t size, uint64_t page_size, BufferType type, Allocating* allocator,
           int shards);
    ~Buffer();

    uint32_t address() const;
    uint64_t page_size() const;
    uint32_t num_pages() const;
    bool is_l1() const;
    uint64_t aligned_page_size() const;
    uint64_t aligned_size_per_bank() const;

    IDevice* device() const { return device_; }
    uint64_t size() const { return size_; }
    BufferType buffer_type() const { return buffer_type_; }
    size_t unique_id() const { return unique_id_; }
    void lose_memory() { allocator_ = nullptr; }
#if HAS_PER_CORE_BUFFERS
    const auto& per_core_addresses() const { return per_core_addresses_; }
#endif

private:
    friend void check_layout();
#if defined(MUTATION_DEVICE_MOVED)
    [[maybe_unused]] const void* moved_ = nullptr;
#endif
    IDevice* const device_;
#if defined(MUTATION_SIZE_MOVED)
    [[maybe_unused]] uint64_t moved_ = 0;
#else
    const uint64_t size_;
#endif
#if defined(MUTATION_KIND_MOVED)
    [[maybe_unused]] int moved_ = 0;
#endif
    const BufferType buffer_type_;
#if defined(MUTATION_LAYOUT_MOVED)
    [[maybe_unused]] int moved_ = 0;
#endif
    [[maybe_unused]] const int buffer_layout_;
    [[maybe_unused]] std::array<char, 20> other_{};
    const int shards_;
    Allocating* allocator_;
    [[maybe_unused]] char status_ = 0;
    bool hooked_allocation_ = false;
    uint64_t address_ = 0;
    uint64_t page_size_;
    [[maybe_unused]] std::array<char, (RELEASE < 6020   ? 384
                                       : RELEASE < 6400 ? 504
                                       : RELEASE < 6900 ? 472
                                       : RELEASE < 7500 ? 536
                                                        : 544) -
                                          96>
        more_{};
    size_t unique_id_;
#if defined(MUTATION_SIZE_MOVED)
    const uint64_t size_;
#endif
#if HAS_PER_CORE_BUFFERS
    std::unordered_map<CoreCoord, uint64_t, CoreHash> per_core_addresses_;
#endif

    static std::atomic<size_t> next_unique_id;
};

// ---- programs ------------------------------------------------------------------------------------------------------

#if HAS_DATAFLOW_BUFFERS
#if defined(MUTATION_ARGUMENTS_GONE)
#define common_runtime_args common_arguments
#endif
class Kernel {
public:
    std::vector<uint32_t>& common_runtime_args();

private:
    std::vector<uint32_t> common_runtime_args_;
};
#endif

namespace detail {

struct KernelBinaryMeta {
    uint32_t processor_type;
    size_t packed_size;
};
struct KernelMeta {
    std::string_view name, source;
    std::array<uint32_t, 4> other;
#if defined(MUTATION_KERNEL_RECORD)
    uint64_t moved = 0;
#endif
    std::vector<KernelBinaryMeta> binary_meta;
};

struct CircularBufferPlan {
    CoreRangeSet cores;
    uint64_t address;
    uint64_t size;
    bool is_global;
};

std::vector<IDevice*> chips_of(const IDevice* device);

class ProgramImpl {
public:
    ProgramImpl(std::vector<CircularBufferPlan> buffers, size_t kernel_bytes);
    ~ProgramImpl();
    uint64_t get_id() const;
#if HAS_KERNEL_RECORDS
    std::vector<KernelMeta> collect_kernel_meta(IDevice* device) const;
#endif
    void lay_out_on(IDevice* device);
    void launch_on(IDevice* device, const std::vector<IDevice*>& chips, bool is_slow);
#if HAS_COMPILE_AND_ALLOCATE
    void compile_and_allocate(IDevice* device, bool slow);
#endif
    void allocate_circular_buffers(const IDevice* device);
    void validate_circular_buffer_region(const IDevice* device);
#if HAS_CHIP_BUFFERS
    void deallocate_circular_buffers();
#endif
#if HAS_DATAFLOW_BUFFERS
    void allocate_dataflow_buffers(const IDevice* device);
#if HAS_DATAFLOW_LIST
    const std::vector<uint64_t>& dataflow_buffers() const;
#endif
    void validate_dataflow_buffer_region(const IDevice* device);

    uint64_t dataflow_bytes = 0;  // of its only dataflow buffer, on a row and another core
#endif
#if HAS_SCRATCHPADS
    void allocate_scratchpads(const IDevice* device);
    uint64_t scratchpad_bytes = 0;
#endif
    bool on_sub_device = false;

private:
#if HAS_DATAFLOW_BUFFERS
    struct CircularBufferAllocator {
#if defined(MUTATION_REGION_MOVED)
        uint64_t moved = 77;
#endif
        CoreRange core_range;
        uint64_t end = 0;
        void mark_address(uint64_t address, uint64_t size, uint64_t base);
    };
    void lay_out(const IDevice* device, uint64_t size, const char* type);

    std::array<CircularBufferAllocator, 2> regions_{CircularBufferAllocator{.core_range = {{0, 0}, {1, 0}}},
                                                    CircularBufferAllocator{.core_range = {{0, 1}, {0, 1}}}};
    Kernel kernel_;
    std::vector<uint64_t> dataflow_buffers_;
    bool has_scratchpads_ = false;
#endif
    uint64_t id_;
    std::vector<CircularBufferPlan> buffers_;
    size_t kernel_bytes_;
    std::vector<const IDevice*> chips_;
    bool is_laid_out_ = false;
};

}  // namespace detail

class Program {
public:
    Program(std::vector<detail::CircularBufferPlan> buffers, size_t kernel_bytes)
        : internal_(std::make_shared<detail::ProgramImpl>(std::move(buffers), kernel_bytes)) {}
    detail::ProgramImpl& impl() const { return *internal_; }

private:
    std::shared_ptr<detail::ProgramImpl> internal_;
};

namespace detail {
bool ConfigureDeviceWithProgram(IDevice* device, Program& program, bool slow);
}  // namespace detail

}  // namespace tt::tt_metal

template <>
struct std::hash<tt::tt_metal::distributed::MeshCoordinateRange> {
    size_t operator()(const tt::tt_metal::distributed::MeshCoordinateRange& range) const {
        return range.first * 31 + range.last;
    }
};

namespace tt::tt_metal::distributed {

class MeshWorkload {
public:
    std::unordered_map<MeshCoordinateRange, Program>& get_programs();

private:
    std::unordered_map<MeshCoordinateRange, Program> programs_;
};

class MeshCommandQueue {
public:
    explicit MeshCommandQueue(MeshDevice* mesh) : mesh_device_(mesh) {}
    virtual ~MeshCommandQueue() = default;
    MeshDevice* device() const { return mesh_device_; }

private:
    MeshDevice* mesh_device_;
};

void EnqueueMeshWorkload(MeshCommandQueue& queue, MeshWorkload& workload, bool blocking);

}  // namespace tt::tt_metal::distributed

// ---- reports -------------------------------------------------------------------------------------------------------

namespace tt::tt_metal {

// As large as nlohmann's.
struct Json {
    uint64_t type = 0;
    uint64_t value = 0;
    ~Json() {}
};

class IGraphProcessor {
public:
#if HAS_CAPTURE_QUESTION
    virtual bool is_capture_processor() const { return true; }
#endif
    virtual void track_allocate(const Buffer*) {}
    virtual void track_deallocate(Buffer*) {}
    virtual void track_allocate_cb(const CoreRangeSet&, uint64_t, uint64_t, bool, const IDevice*) {}
#if HAS_DATAFLOW_EVENTS
    virtual void track_allocate_dataflow_buffer(const CoreRangeSet&, uint64_t, uint64_t, bool,
                                                const IDevice*) {}
    virtual void track_allocate_scratchpad(const CoreRangeSet&, uint64_t, uint64_t, const IDevice*) {}
#endif
    virtual void track_deallocate_cb(const IDevice*) {}
#if defined(MUTATION_PROCESSOR)
    virtual void track_something_new(int) {}
#endif
    virtual void track_program(Program*, const IDevice*) {}
    virtual void track_function_start(std::string_view, std::span<std::any>) {}
    virtual void track_function_end() {}
    virtual void track_function_end(const std::any&) {}
    virtual void begin_capture(int) {}
    virtual Json end_capture() { return {}; }
    virtual ~IGraphProcessor() = default;
};

using ProcessorList = std::vector<std::shared_ptr<IGraphProcessor>>;

class GraphTracker {
public:
#if HAS_INLINE_TRACKER
    static GraphTracker& instance() {
        static GraphTracker tracker;
        return tracker;
    }
#else
    static GraphTracker& instance();
#endif
    bool is_enabled() const;
    void push_processor(const std::shared_ptr<IGraphProcessor>& processor);
    void pop_processor();
    const ProcessorList& get_processors() const;

    bool hook_allocate(const Buffer* buffer);
    void track_allocate(const Buffer* buffer);
#if defined(MUTATION_FREE_RENAMED)
    void track_free(Buffer* buffer);
#else
    void track_deallocate(Buffer* buffer);
#endif
    void track_allocate_cb(const CoreRangeSet& cores, uint64_t address, uint64_t size, bool is_global,
                           const IDevice* device);
    void track_deallocate_cb(const IDevice* device);
#if HAS_DATAFLOW_EVENTS
    void track_allocate_dataflow_buffer(const CoreRangeSet& cores, uint64_t address, uint64_t size,
                                        bool borrows, const IDevice* device);
    void track_allocate_scratchpad(const CoreRangeSet& cores, uint64_t address, uint64_t size,
                                   const IDevice* device);
#endif
    void track_program(Program* program, const IDevice* device);
    void track_function_start(std::string_view name) {
        for (const auto& processor : get_processors()) {
            processor->track_function_start(name, {});
        }
    }
    void track_function_end() {
        for (const auto& processor : get_processors()) {
            processor->track_function_end();
        }
    }
    void track_function_end(const std::any& result) {
        for (const auto& processor : get_processors()) {
            processor->track_function_end(result);
        }
    }

    bool hooks_allocations = false;  // instead of a hook object

private:
#if HAS_THREAD_LISTS
    static thread_local ProcessorList processors;
#else
    ProcessorList processors;
#endif
};

#if HAS_CONTEXTS
void push_allocation_context(std::string_view context);
void pop_allocation_context();
const std::string& current_allocation_context();
#endif

#if HAS_PER_CORE_BUFFERS
namespace experimental::per_core_allocation {
bool is_per_core_allocation(const Buffer& buffer);
ADDRESSES_HIDDEN const std::unordered_map<CoreCoord, uint64_t, CoreHash>& get_per_core_addresses(
    const Buffer& buffer);
}  // namespace experimental::per_core_allocation
#endif

#if HAS_ASIC_IDS
namespace internal {
struct AsicID {
    uint64_t value;
};
}  // namespace internal
#endif

}  // namespace tt::tt_metal
