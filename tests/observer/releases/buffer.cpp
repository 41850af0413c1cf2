// SPDX-License-Identifier: Apache-2.0
#include "release.hpp"
#include "truth.hpp"

namespace tt::tt_metal {

std::atomic<size_t> Buffer::next_unique_id{0};

namespace {

// The chips of a device, as the truth names them.
std::string chips_text(const IDevice* device) {
    const auto* const mesh = dynamic_cast<const distributed::MeshDevice*>(device);
    if (mesh == nullptr) {
        return std::to_string(device->id());
    }
    std::string text;
    for (const IDevice* chip : mesh->get_devices()) {
        text += (text.empty() ? "" : ",") + std::to_string(chip->id());
    }
    return text;
}

Allocating& allocating_of(const IDevice* device, bool on_sub_device) {
#if HAS_ALLOCATOR_VIEW
    return on_sub_device ? *device->allocator_impl(SubDeviceId{1}) : *device->allocator_impl();
#else
    return on_sub_device ? *device->allocator(SubDeviceId{1}) : *device->allocator();
#endif
}

}  // namespace

Buffer::Buffer(IDevice* device, uint64_t size, uint64_t page_size, BufferType type, Allocating* allocator,
               int shards)
    : device_(device),
#if !defined(MUTATION_SIZE_MOVED)
      size_(size),
#endif
      buffer_type_(type),
      buffer_layout_(shards != 0 ? 2 : 0),
      shards_(shards),
      allocator_(allocator),
      page_size_(page_size),
      unique_id_(next_unique_id++)
#if defined(MUTATION_SIZE_MOVED)
      ,
      size_(size)
#endif
{
}

std::shared_ptr<Buffer> Buffer::create(IDevice* device, uint64_t size, uint64_t page_size, BufferType type,
                                       bool on_sub_device,
                                       [[maybe_unused]] const std::vector<CoreCoord>& own_addresses_on,
                                       int shards) {
    Allocating& allocator = allocating_of(device, on_sub_device);
    auto buffer = std::make_shared<Buffer>(device, size, page_size, type, &allocator, shards);
    buffer->hooked_allocation_ = GraphTracker::instance().hook_allocate(buffer.get());
    uint64_t banks = allocator.get_num_banks(type);
#if HAS_PER_CORE_BUFFERS
    for (const CoreCoord& core : own_addresses_on) {
        buffer->per_core_addresses_[core] = 7168 + core.x * 512;
    }
    banks = own_addresses_on.empty() ? banks : own_addresses_on.size();
#endif
    if (!buffer->hooked_allocation_) {
        buffer->address_ = allocator.allocate_buffer(buffer.get());
    }
    const uint64_t reserved = (buffer->aligned_size_per_bank() + 31) / 32 * 32 * banks;
    truth::add(buffer.get(), chips_text(device) + " kind " + std::to_string(static_cast<int>(type)) + " at " +
                                 std::to_string(buffer->address_) + " requested " + std::to_string(size) +
                                 " reserved " + std::to_string(reserved) + " buffer " +
                                 std::to_string(buffer->unique_id_) +
                                 (buffer->hooked_allocation_ ? " planned" : "") +
                                 (HAS_PER_CORE_BUFFERS && !own_addresses_on.empty() ? " per core" : "") +
                                 " name '" + truth::current_name() + "'");
    GraphTracker::instance().track_allocate(buffer.get());
    return buffer;
}

Buffer::~Buffer() {
    if (allocator_ == nullptr) {
        return;
    }
#if defined(MUTATION_FREE_RENAMED)
    GraphTracker::instance().track_free(this);
#elif defined(MUTATION_FREE_INLINED)
    for (const auto& processor : GraphTracker::instance().get_processors()) {
        processor->track_deallocate(this);
    }
#else
    GraphTracker::instance().track_deallocate(this);
#endif
    truth::remove(this);
    if (!hooked_allocation_) {
        allocator_->deallocate_buffer(this);
    }
}

#if HAS_PER_CORE_BUFFERS
bool experimental::per_core_allocation::is_per_core_allocation(const Buffer& buffer) {
    return !buffer.per_core_addresses().empty();
}
const std::unordered_map<CoreCoord, uint64_t, CoreHash>&
experimental::per_core_allocation::get_per_core_addresses(const Buffer& buffer) {
    return buffer.per_core_addresses();
}
#endif

uint32_t Buffer::address() const { return static_cast<uint32_t>(address_); }
uint64_t Buffer::page_size() const { return page_size_; }
uint32_t Buffer::num_pages() const { return static_cast<uint32_t>(size_ / page_size_); }
bool Buffer::is_l1() const { return buffer_type_ == BufferType::L1 || buffer_type_ == BufferType::L1_SMALL; }
uint64_t Buffer::aligned_page_size() const {
    const uint64_t alignment = allocator_->get_alignment(buffer_type_);
    return (page_size_ + alignment - 1) / alignment * alignment;
}
uint64_t Buffer::aligned_size_per_bank() const {
    const uint64_t banks =
        shards_ != 0 ? static_cast<uint64_t>(shards_) : allocator_->get_num_banks(buffer_type_);
    return (num_pages() + banks - 1) / banks * aligned_page_size();
}

#if !defined(MUTATION_DEVICE_MOVED) && !defined(MUTATION_SIZE_MOVED) && !defined(MUTATION_KIND_MOVED) && \
    !defined(MUTATION_LAYOUT_MOVED)
void check_layout() {
    static_assert(offsetof(Buffer, device_) == 16 && offsetof(Buffer, size_) == 24 &&
                  offsetof(Buffer, buffer_type_) == 32 && offsetof(Buffer, buffer_layout_) == 36 &&
                  offsetof(Buffer, allocator_) == 64 && offsetof(Buffer, hooked_allocation_) == 73 &&
                  offsetof(Buffer, address_) == 80 && offsetof(Buffer, page_size_) == 88 &&
                  sizeof(detail::KernelBinaryMeta) == 16);
}
#endif

}  // namespace tt::tt_metal
