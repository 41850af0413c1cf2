// SPDX-License-Identifier: Apache-2.0
#include <tt-metalium/mesh_buffer.hpp>
#include <tt_stl/assert.hpp>
#include <utility>

namespace tt::tt_metal::distributed {
namespace {

DeviceAddr local_size(const MeshBufferConfig& config, const MeshShape& mesh) {
    if (const auto* replicated = std::get_if<ReplicatedBufferConfig>(&config)) {
        return replicated->size;
    }
    const auto& sharded = std::get<ShardedBufferConfig>(config);
    const Shape2D shard = sharded.physical_shard_shape();
    const Shape2D global = sharded.global_buffer_shape;
    TT_FATAL(shard.height() != 0 && shard.width() != 0 && global.height() % shard.height() == 0 &&
                 global.width() % shard.width() == 0,
             "shards of {} x {} do not divide a buffer of {} x {} evenly", shard.height(), shard.width(),
             global.height(), global.width());
    const size_t shards = global.height() / shard.height() * (global.width() / shard.width());
    TT_FATAL(shards <= mesh.mesh_size(), "{} shards need as many devices, and the mesh has {}", shards,
             mesh.mesh_size());
    return DeviceAddr{shard.height()} * shard.width() * sharded.compute_datum_size_bytes();
}

}  // namespace

uint32_t ShardedBufferConfig::compute_datum_size_bytes() const {
    const size_t count = global_buffer_shape.height() * global_buffer_shape.width();
    TT_FATAL(count != 0 && global_size % count == 0,
             "{} B are no whole number of bytes for each of {} elements", global_size, count);
    return static_cast<uint32_t>(global_size / count);
}

std::pair<bool, bool> ShardedBufferConfig::replicated_dims() const {
    return {shard_shape.height() == 0, shard_shape.width() == 0};
}

Shape2D ShardedBufferConfig::physical_shard_shape() const {
    return {shard_shape.height() == 0 ? global_buffer_shape.height() : shard_shape.height(),
            shard_shape.width() == 0 ? global_buffer_shape.width() : shard_shape.width()};
}

std::shared_ptr<MeshBuffer> MeshBuffer::create(const MeshBufferConfig& mesh_buffer_config,
                                               const DeviceLocalBufferConfig& device_local_config,
                                               MeshDevice* mesh_device, std::optional<DeviceAddr> address) {
    const DeviceAddr size = local_size(mesh_buffer_config, mesh_device->shape());
    const auto& local = device_local_config;
    std::shared_ptr<MeshBuffer> mesh_buffer;
    if (address) {
        mesh_buffer.reset(
            new MeshBuffer(mesh_buffer_config, local, *address, size, mesh_device, ExternallyOwnedState{}));
        mesh_buffer->initialize_device_buffers();
        mesh_buffer->state_ = ExternallyOwnedState{Buffer::create_view(
            mesh_device, *address, mesh_buffer->get_reference_buffer()->unique_id(), size, local.page_size,
            local.buffer_type, local.sharding_args, local.bottom_up, local.sub_device_id)};
    } else {
        auto backing = Buffer::create(mesh_device, size, local.page_size, local.buffer_type,
                                      local.sharding_args, local.bottom_up, local.sub_device_id);
        const DeviceAddr given = backing->address();
        mesh_buffer.reset(new MeshBuffer(mesh_buffer_config, local, given, size, mesh_device,
                                         OwnedBufferState{std::move(backing)}));
        mesh_buffer->initialize_device_buffers();
    }
    return mesh_buffer;
}

MeshBuffer::MeshBuffer(const MeshBufferConfig& config, const DeviceLocalBufferConfig& device_local_config,
                       DeviceAddr address, DeviceAddr device_local_size, MeshDevice* mesh_device,
                       MeshBufferState state)
    : config_(config),
      device_local_config_(device_local_config),
      mesh_device_(mesh_device->weak_from_this()),
      mesh_shape_(mesh_device->shape()),
      address_(address),
      device_local_size_(device_local_size),
      state_(std::move(state)) {}

void MeshBuffer::initialize_device_buffers() {
    for (IDevice* device : this->device()->get_devices()) {
        buffers_.push_back(
            Buffer::create_member(device, address_, device_local_size_, device_local_config_.page_size,
                                  device_local_config_.buffer_type, device_local_config_.sharding_args,
                                  device_local_config_.bottom_up));
    }
}

MeshBuffer::~MeshBuffer() { deallocate(); }

bool MeshBuffer::is_allocated() const {
    if (const auto* owned = std::get_if<OwnedBufferState>(&state_)) {
        return owned->backing_buffer->is_allocated();
    }
    return std::holds_alternative<ExternallyOwnedState>(state_);
}

void MeshBuffer::deallocate() {
    // The backing buffer frees its memory when it is destroyed, or does nothing if its mesh was closed before. The state
    // changes first, because a graph processor may read it during the free.
    const MeshBufferState ended = std::exchange(state_, DeallocatedState{});
    for (const auto& buffer : buffers_) {
        buffer->mark_as_deallocated();
    }
}

MeshDevice* MeshBuffer::device() const {
    const auto mesh = mesh_device_.lock();
    TT_FATAL(mesh != nullptr, "the mesh of this buffer is gone");
    return mesh.get();
}

DeviceAddr MeshBuffer::size() const {
    if (const auto* sharded = std::get_if<ShardedBufferConfig>(&config_)) {
        return sharded->global_size;
    }
    return std::get<ReplicatedBufferConfig>(config_).size;
}

MeshBufferLayout MeshBuffer::global_layout() const {
    return std::holds_alternative<ReplicatedBufferConfig>(config_) ? MeshBufferLayout::REPLICATED
                                                                   : MeshBufferLayout::SHARDED;
}

const ShardedBufferConfig& MeshBuffer::global_shard_spec() const {
    TT_FATAL(global_layout() == MeshBufferLayout::SHARDED, "a replicated buffer has no shards");
    return std::get<ShardedBufferConfig>(config_);
}

Buffer* MeshBuffer::get_device_buffer(const MeshCoordinate& device_coord) const {
    return buffers_[device_coord.to_linear_index(mesh_shape_)].get();
}

Buffer* MeshBuffer::get_reference_buffer() const { return buffers_.front().get(); }

Buffer* MeshBuffer::get_backing_buffer() const {
    const auto* owned = std::get_if<OwnedBufferState>(&state_);
    return owned == nullptr ? nullptr : owned->backing_buffer.get();
}

AnyBuffer::AnyBuffer(std::shared_ptr<Buffer> buffer) : buffer_(buffer.get()), holder_(std::move(buffer)) {}

AnyBuffer::AnyBuffer(std::shared_ptr<MeshBuffer> buffer)
    : buffer_(buffer->get_reference_buffer()), holder_(std::move(buffer)) {}

AnyBuffer AnyBuffer::create(const tt::tt_metal::ShardedBufferConfig& config,
                            std::optional<uint64_t> address) {
    const BufferShardingArgs sharding(config.shard_parameters, config.buffer_layout);
    if (auto* mesh = dynamic_cast<MeshDevice*>(config.device)) {
        return AnyBuffer(MeshBuffer::create(
            ReplicatedBufferConfig{.size = config.size},
            DeviceLocalBufferConfig{
                .page_size = config.page_size, .buffer_type = config.buffer_type, .sharding_args = sharding},
            mesh, address));
    }
    return AnyBuffer(
        address ? Buffer::create(config.device, *address, config.size, config.page_size, config.buffer_type,
                                 sharding)
                : Buffer::create(config.device, config.size, config.page_size, config.buffer_type, sharding));
}

AnyBuffer AnyBuffer::create(const tt::tt_metal::InterleavedBufferConfig& config,
                            std::optional<uint64_t> address) {
    if (auto* mesh = dynamic_cast<MeshDevice*>(config.device)) {
        return AnyBuffer(MeshBuffer::create(
            ReplicatedBufferConfig{.size = config.size},
            DeviceLocalBufferConfig{.page_size = config.page_size, .buffer_type = config.buffer_type}, mesh,
            address));
    }
    return AnyBuffer(
        address ? Buffer::create(config.device, *address, config.size, config.page_size, config.buffer_type)
                : Buffer::create(config.device, config.size, config.page_size, config.buffer_type));
}

bool AnyBuffer::is_mesh_buffer() const {
    return std::holds_alternative<std::shared_ptr<MeshBuffer>>(holder_);
}

std::shared_ptr<MeshBuffer> AnyBuffer::get_mesh_buffer() const {
    const auto* buffer = std::get_if<std::shared_ptr<MeshBuffer>>(&holder_);
    return buffer == nullptr ? nullptr : *buffer;
}

}  // namespace tt::tt_metal::distributed
