// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include <tt-metalium/buffer.hpp>
#include <tt-metalium/mesh_coord.hpp>
#include <tt-metalium/mesh_device.hpp>
#include <tt-metalium/shape2d.hpp>

namespace tt::tt_metal::distributed {

struct DeviceLocalBufferConfig {
    DeviceAddr page_size = 0;
    BufferType buffer_type = BufferType::DRAM;
    BufferShardingArgs sharding_args = {};
    std::optional<bool> bottom_up = std::nullopt;
    std::optional<SubDeviceId> sub_device_id = std::nullopt;
};

// The same data on every device.
struct ReplicatedBufferConfig {
    DeviceAddr size = 0;  // on each
};

// A part of the data on each device; the mesh does not divide a side of 0.
struct ShardedBufferConfig {
    DeviceAddr global_size = 0;
    Shape2D global_buffer_shape = {0, 0};
    Shape2D shard_shape = {0, 0};
    ShardOrientation shard_orientation = ShardOrientation::ROW_MAJOR;

    uint32_t compute_datum_size_bytes() const;
    std::pair<bool, bool> replicated_dims() const;
    Shape2D physical_shard_shape() const;
};

enum class MeshBufferLayout : uint8_t { REPLICATED, SHARDED };
using MeshBufferConfig = std::variant<ReplicatedBufferConfig, ShardedBufferConfig>;

// One address on every device of a mesh. The memory belongs to its backing buffer, which lives on the mesh device.
class MeshBuffer {
public:
    static std::shared_ptr<MeshBuffer> create(const MeshBufferConfig& mesh_buffer_config,
                                              const DeviceLocalBufferConfig& device_local_config,
                                              MeshDevice* mesh_device,
                                              std::optional<DeviceAddr> address = std::nullopt);
    ~MeshBuffer();

    MeshBuffer(const MeshBuffer&) = delete;
    MeshBuffer& operator=(const MeshBuffer&) = delete;

    bool is_allocated() const;
    void deallocate();

    MeshDevice* device() const;  // throws if the mesh is gone
    DeviceAddr size() const;
    DeviceAddr device_local_size() const { return device_local_size_; }
    DeviceAddr address() const { return address_; }
    MeshBufferLayout global_layout() const;
    const MeshBufferConfig& global_config() const { return config_; }
    const ShardedBufferConfig& global_shard_spec() const;
    const DeviceLocalBufferConfig& device_local_config() const { return device_local_config_; }

    Buffer* get_device_buffer(const MeshCoordinate& device_coord) const;
    Buffer* get_reference_buffer() const;
    Buffer* get_backing_buffer() const;

    uint32_t page_size() const { return static_cast<uint32_t>(device_local_config_.page_size); }
    uint32_t num_pages() const {
        return page_size() == 0 ? 0 : static_cast<uint32_t>(device_local_size_ / page_size());
    }

private:
    struct OwnedBufferState {
        std::shared_ptr<Buffer> backing_buffer;
    };
    struct ExternallyOwnedState {
        std::shared_ptr<Buffer> view;
    };
    struct DeallocatedState {};
    using MeshBufferState = std::variant<OwnedBufferState, ExternallyOwnedState, DeallocatedState>;

    MeshBuffer(const MeshBufferConfig& config, const DeviceLocalBufferConfig& device_local_config,
               DeviceAddr address, DeviceAddr device_local_size, MeshDevice* mesh_device,
               MeshBufferState state);

    void initialize_device_buffers();

    MeshBufferConfig config_;
    DeviceLocalBufferConfig device_local_config_;
    std::weak_ptr<MeshDevice> mesh_device_;
    MeshShape mesh_shape_;
    DeviceAddr address_ = 0;
    DeviceAddr device_local_size_ = 0;
    std::vector<std::shared_ptr<Buffer>> buffers_;  // one per device, row-major
    MeshBufferState state_;
};

// A mesh buffer on a mesh, a plain buffer on a chip, as the config says.
class AnyBuffer {
public:
    AnyBuffer() = default;
    static AnyBuffer create(const tt::tt_metal::ShardedBufferConfig& config,
                            std::optional<uint64_t> address = std::nullopt);
    static AnyBuffer create(const tt::tt_metal::InterleavedBufferConfig& config,
                            std::optional<uint64_t> address = std::nullopt);

    Buffer* get_buffer() const { return buffer_; }
    bool is_mesh_buffer() const;
    std::shared_ptr<MeshBuffer> get_mesh_buffer() const;

private:
    explicit AnyBuffer(std::shared_ptr<Buffer> buffer);
    explicit AnyBuffer(std::shared_ptr<MeshBuffer> buffer);

    Buffer* buffer_ = nullptr;
    std::variant<std::shared_ptr<Buffer>, std::shared_ptr<distributed::MeshBuffer>> holder_;
};

}  // namespace tt::tt_metal::distributed
