// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include <tt-metalium/buffer_types.hpp>
#include <tt-metalium/core_coord.hpp>
#include <tt-metalium/hal_types.hpp>
#include <tt-metalium/sub_device_types.hpp>
#include <umd/device/types/core_coordinates.hpp>

namespace tt::tt_metal {

class Allocator;
class AllocatorImpl;
class IDevice;

namespace distributed {
class MeshBuffer;
}  // namespace distributed

struct ShardSpec {
    CoreRangeSet grid;
    std::array<uint32_t, 2> shape;
    ShardOrientation orientation = ShardOrientation::ROW_MAJOR;

    ShardSpec(const CoreRangeSet& core_sets, const std::array<uint32_t, 2>& shard_shape,
              const ShardOrientation& shard_orientation = ShardOrientation::ROW_MAJOR)
        : grid(core_sets), shape(shard_shape), orientation(shard_orientation) {}

    uint32_t num_cores() const { return grid.num_cores(); }
    uint32_t numel() const { return shape[0] * shape[1]; }
};

struct ShardSpecBuffer {
    ShardSpec tensor_shard_spec;
    std::array<uint32_t, 2> page_shape{};
    std::array<uint32_t, 2> tensor2d_shape_in_pages{};

    ShardSpecBuffer(const CoreRangeSet& core_sets, const std::array<uint32_t, 2>& shard_shape,
                    const ShardOrientation& shard_orientation, const std::array<uint32_t, 2>& page_shape_,
                    const std::array<uint32_t, 2>& tensor2d_shape_in_pages_)
        : ShardSpecBuffer(ShardSpec(core_sets, shard_shape, shard_orientation), page_shape_,
                          tensor2d_shape_in_pages_) {}
    ShardSpecBuffer(const ShardSpec& shard_spec, const std::array<uint32_t, 2>& page_shape_,
                    const std::array<uint32_t, 2>& tensor2d_shape_in_pages_)
        : tensor_shard_spec(shard_spec),
          page_shape(page_shape_),
          tensor2d_shape_in_pages(tensor2d_shape_in_pages_) {}

    CoreRangeSet grid() const { return tensor_shard_spec.grid; }
    std::array<uint32_t, 2> shape() const { return tensor_shard_spec.shape; }
    ShardOrientation orientation() const { return tensor_shard_spec.orientation; }
    std::array<uint32_t, 2> shape_in_pages() const;
    DeviceAddr num_pages() const;  // of one shard
};

struct BufferConfig {
    IDevice* device;
    DeviceAddr size;
    DeviceAddr page_size;
    BufferType buffer_type;
};

using InterleavedBufferConfig = BufferConfig;

struct ShardedBufferConfig {
    IDevice* device{};
    DeviceAddr size{};
    DeviceAddr page_size{};
    BufferType buffer_type = BufferType::L1;
    TensorMemoryLayout buffer_layout = TensorMemoryLayout::HEIGHT_SHARDED;
    ShardSpecBuffer shard_parameters;
};

class BufferShardingArgs {
public:
    BufferShardingArgs() = default;
    BufferShardingArgs(std::nullopt_t) {}
    BufferShardingArgs(ShardSpecBuffer shard_spec, TensorMemoryLayout buffer_layout)
        : shard_spec_(std::move(shard_spec)), buffer_layout_(buffer_layout) {}
    BufferShardingArgs(std::optional<ShardSpecBuffer> shard_spec, TensorMemoryLayout buffer_layout)
        : shard_spec_(std::move(shard_spec)), buffer_layout_(buffer_layout) {}

    const std::optional<ShardSpecBuffer>& shard_spec() const { return shard_spec_; }
    TensorMemoryLayout buffer_layout() const { return buffer_layout_; }

private:
    std::optional<ShardSpecBuffer> shard_spec_;
    TensorMemoryLayout buffer_layout_ = TensorMemoryLayout::INTERLEAVED;
};

bool is_sharded(const TensorMemoryLayout& layout);

struct BufferRegion {
    DeviceAddr offset = 0;
    DeviceAddr size = 0;

    BufferRegion() = delete;
    BufferRegion(DeviceAddr offset_, DeviceAddr size_) : offset(offset_), size(size_) {}
};

class Buffer final : public std::enable_shared_from_this<Buffer> {
    struct Private {
        explicit Private() = default;
    };

public:
    // Allocates from the device's allocator; throws if there is no room.
    static std::shared_ptr<Buffer> create(IDevice* device, DeviceAddr size, DeviceAddr page_size,
                                          BufferType buffer_type,
                                          const BufferShardingArgs& sharding_args = std::nullopt,
                                          std::optional<bool> bottom_up = std::nullopt,
                                          std::optional<SubDeviceId> sub_device_id = std::nullopt);
    // A view of memory that something else owns.
    static std::shared_ptr<Buffer> create(IDevice* device, DeviceAddr address, DeviceAddr size,
                                          DeviceAddr page_size, BufferType buffer_type,
                                          const BufferShardingArgs& sharding_args = std::nullopt,
                                          std::optional<bool> bottom_up = std::nullopt,
                                          std::optional<SubDeviceId> sub_device_id = std::nullopt);

    // A view of a part, which keeps the whole buffer alive.
    std::shared_ptr<Buffer> view(const BufferRegion& region);

    Buffer(const Buffer& other) = delete;
    Buffer& operator=(const Buffer& other) = delete;
    ~Buffer();

    IDevice* device() const { return device_; }
    Allocator* allocator() const;
    DeviceAddr size() const { return size_; }
    bool is_allocated() const;
    uint32_t address() const;
    DeviceAddr page_size() const;
    uint32_t num_pages() const;
    uint32_t num_dev_pages() const;

    BufferType buffer_type() const { return buffer_type_; }
    HalMemType memory_type() const;
    CoreType core_type() const;
    bool is_l1() const;
    bool is_dram() const;
    bool is_trace() const;

    TensorMemoryLayout buffer_layout() const { return buffer_layout_; }
    bool bottom_up() const { return bottom_up_; }

    uint32_t alignment() const;
    DeviceAddr aligned_page_size() const;
    DeviceAddr aligned_size() const;
    DeviceAddr aligned_size_per_bank() const;

    bool has_shard_spec() const { return shard_spec_.has_value(); }
    ShardSpecBuffer shard_spec() const;
    std::optional<uint32_t> num_cores() const;

    std::shared_ptr<Buffer> root_buffer();
    BufferRegion root_buffer_region() const { return BufferRegion(root_buffer_offset_, size_); }
    std::optional<SubDeviceId> sub_device_id() const { return sub_device_id_; }
    size_t unique_id() const { return unique_id_; }

    void mark_as_deallocated();

    Buffer(IDevice* device, DeviceAddr size, DeviceAddr page_size, BufferType buffer_type,
           const BufferShardingArgs& sharding_args, std::optional<bool> bottom_up,
           std::optional<SubDeviceId> sub_device_id, bool owns_data, Private);

private:
    friend class AllocatorImpl;
    friend class GraphTracker;
    friend class distributed::MeshBuffer;
    friend void DeallocateBuffer(Buffer& buffer);

    enum class AllocationStatus : uint8_t { ALLOCATION_REQUESTED, ALLOCATED, DEALLOCATED };

    // A view of a mesh buffer's memory on its own mesh. It has the id of that buffer's first member.
    static std::shared_ptr<Buffer> create_view(IDevice* device, DeviceAddr address, size_t unique_id,
                                               DeviceAddr size, DeviceAddr page_size, BufferType buffer_type,
                                               const BufferShardingArgs& sharding_args,
                                               std::optional<bool> bottom_up,
                                               std::optional<SubDeviceId> sub_device_id);
    // A mesh buffer's backing memory on one member. Recorded with the backing buffer, so not separately.
    static std::shared_ptr<Buffer> create_member(IDevice* device, DeviceAddr address, DeviceAddr size,
                                                 DeviceAddr page_size, BufferType buffer_type,
                                                 const BufferShardingArgs& sharding_args,
                                                 std::optional<bool> bottom_up);

    void allocate_impl();
    void deallocate();
    void deallocate_impl();

    IDevice* const device_;
    const DeviceAddr size_;
    const BufferType buffer_type_;
    const TensorMemoryLayout buffer_layout_;
    const bool bottom_up_;
    const std::optional<SubDeviceId> sub_device_id_;
    const bool owns_data_;

    AllocatorImpl* allocator_;  // null once its device is closed
    AllocationStatus allocation_status_ = AllocationStatus::ALLOCATION_REQUESTED;
    bool hooked_allocation_ = false;
    DeviceAddr address_ = 0;
    DeviceAddr page_size_;
    uint32_t alignment_;
    uint32_t num_banks_;
    std::optional<ShardSpecBuffer> shard_spec_;
    std::shared_ptr<Buffer> root_buffer_;
    DeviceAddr root_buffer_offset_ = 0;
    size_t unique_id_ = 0;
    // GraphTracker's handle; 0 if it is not recorded.
    mutable std::atomic<uint64_t> tracking_handle_ = 0;

    static std::atomic<size_t> next_unique_id;
};

}  // namespace tt::tt_metal
