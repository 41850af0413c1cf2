// SPDX-License-Identifier: Apache-2.0
#include <tt-metalium/global_semaphore.hpp>
#include <tt-metalium/host_api.hpp>
#include <tt-metalium/mesh_buffer.hpp>
#include <utility>

namespace tt::tt_metal {

class GlobalSemaphoreImpl {
public:
    GlobalSemaphoreImpl(distributed::MeshDevice& device, CoreRangeSet cores, BufferType buffer_type)
        : device_(&device), cores_(std::move(cores)), buffer_(take(device, cores_, buffer_type)) {}

    IDevice* device() const { return device_; }
    DeviceAddr address() const { return buffer_.get_buffer()->address(); }

private:
    static distributed::AnyBuffer take(distributed::MeshDevice& device, const CoreRangeSet& cores,
                                       BufferType buffer_type) {
        const uint32_t count = cores.num_cores();
        return distributed::AnyBuffer::create(ShardedBufferConfig{
            .device = &device,
            .size = count * sizeof(uint32_t),
            .page_size = sizeof(uint32_t),
            .buffer_type = buffer_type,
            .buffer_layout = TensorMemoryLayout::HEIGHT_SHARDED,
            .shard_parameters =
                ShardSpecBuffer(cores, {1, 1}, ShardOrientation::ROW_MAJOR, {1, 1}, {count, 1})});
    }

    IDevice* device_;
    CoreRangeSet cores_;
    distributed::AnyBuffer buffer_;
};

GlobalSemaphore::GlobalSemaphore(distributed::MeshDevice& device, CoreRangeSet cores,
                                 uint32_t /*initial_value*/, BufferType buffer_type)
    : pimpl_(std::make_unique<GlobalSemaphoreImpl>(device, std::move(cores), buffer_type)) {}

GlobalSemaphore::~GlobalSemaphore() = default;
GlobalSemaphore::GlobalSemaphore(const GlobalSemaphore& other)
    : pimpl_(std::make_unique<GlobalSemaphoreImpl>(*other.pimpl_)) {}
GlobalSemaphore& GlobalSemaphore::operator=(const GlobalSemaphore& other) {
    pimpl_ = std::make_unique<GlobalSemaphoreImpl>(*other.pimpl_);
    return *this;
}
GlobalSemaphore::GlobalSemaphore(GlobalSemaphore&& other) noexcept = default;
GlobalSemaphore& GlobalSemaphore::operator=(GlobalSemaphore&& other) noexcept = default;

IDevice* GlobalSemaphore::device() const { return pimpl_->device(); }

DeviceAddr GlobalSemaphore::address() const { return pimpl_->address(); }

void GlobalSemaphore::reset_semaphore_value(uint32_t /*reset_value*/) const {}

GlobalSemaphore CreateGlobalSemaphore(distributed::MeshDevice& device, CoreRangeSet cores,
                                      uint32_t initial_value, BufferType buffer_type) {
    return {device, std::move(cores), initial_value, buffer_type};
}

}  // namespace tt::tt_metal
