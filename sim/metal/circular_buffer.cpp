// SPDX-License-Identifier: Apache-2.0
#include <tt-metalium/buffer.hpp>
#include <tt-metalium/circular_buffer.hpp>
#include <tt-metalium/circular_buffer_config.hpp>
#include <tt_stl/assert.hpp>

#include "sim/metal/circular_buffer_impl.hpp"

namespace tt::tt_metal {

CircularBufferConfig::CircularBufferConfig(uint32_t total_size,
                                           const std::map<uint8_t, tt::DataFormat>& data_format_spec) {
    set_config(data_format_spec);
    set_total_size(total_size);
}

CircularBufferConfig::CircularBufferConfig(uint32_t total_size) { set_total_size(total_size); }

CircularBufferConfig::CircularBufferConfig(uint32_t total_size,
                                           const std::map<uint8_t, tt::DataFormat>& data_format_spec,
                                           const Buffer& buffer) {
    set_config(data_format_spec);
    set_globally_allocated_address_and_total_size(buffer, total_size);
}

void CircularBufferConfig::set_config(const std::map<uint8_t, tt::DataFormat>& data_format_spec) {
    for (const auto& [index, format] : data_format_spec) {
        TT_FATAL(index < NUM_CIRCULAR_BUFFERS, "there is no circular buffer {}, the last is {}", index,
                 NUM_CIRCULAR_BUFFERS - 1);
        data_formats_[index] = format;
        buffer_indices_.insert(index);
    }
}

CircularBufferConfig& CircularBufferConfig::set_page_size(uint8_t buffer_index, uint32_t page_size) {
    TT_FATAL(buffer_indices_.contains(buffer_index), "circular buffer {} has no data format yet",
             buffer_index);
    TT_FATAL(page_size != 0 && total_size_ % page_size == 0,
             "a circular buffer of {} B has no whole number of pages of {} B", total_size_, page_size);
    page_sizes_[buffer_index] = page_size;
    return *this;
}

CircularBufferConfig& CircularBufferConfig::set_total_size(uint32_t total_size) {
    validate_total_size(total_size);
    total_size_ = total_size;
    return *this;
}

void CircularBufferConfig::validate_total_size(uint32_t total_size) const {
    TT_FATAL(total_size != 0, "a circular buffer needs at least one byte");
    TT_FATAL(max_size_ == 0 || total_size <= max_size_,
             "a circular buffer of {} B does not fit on its buffer, which has {} B in each bank", total_size,
             max_size_);
    for (const auto& page_size : page_sizes_) {
        TT_FATAL(!page_size || total_size % *page_size == 0,
                 "a circular buffer of {} B has no whole number of pages of {} B", total_size, *page_size);
    }
}

CircularBufferConfig& CircularBufferConfig::set_globally_allocated_address(const Buffer& buffer) {
    return set_globally_allocated_address_and_total_size(buffer, total_size_);
}

CircularBufferConfig& CircularBufferConfig::set_globally_allocated_address_and_total_size(
    const Buffer& buffer, uint32_t total_size) {
    TT_FATAL(buffer.is_l1(), "a circular buffer can only lie on a buffer in L1");
    globally_allocated_address_ = buffer.address();
    max_size_ = static_cast<uint32_t>(buffer.aligned_size_per_bank());
    shadow_global_buffer = &buffer;
    return set_total_size(total_size);
}

CircularBuffer::CircularBuffer(const CircularBufferImpl* impl) : impl_(impl) {}

CBHandle CircularBuffer::id() const { return impl_->id(); }

const CoreRangeSet& CircularBuffer::core_ranges() const { return impl_->core_ranges(); }

size_t CircularBuffer::size() const { return impl_->size(); }

bool CircularBuffer::globally_allocated() const { return impl_->globally_allocated(); }

const std::unordered_set<uint8_t>& CircularBuffer::buffer_indices() const {
    return impl_->config().buffer_indices();
}

uint32_t CircularBuffer::page_size(uint32_t buffer_index) const {
    const auto& page_size = impl_->config().page_sizes().at(buffer_index);
    TT_FATAL(page_size.has_value(), "circular buffer {} has no page size", buffer_index);
    return *page_size;
}

uint32_t CircularBuffer::num_pages(uint32_t buffer_index) const {
    return static_cast<uint32_t>(size()) / page_size(buffer_index);
}

DataFormat CircularBuffer::data_format(uint32_t buffer_index) const {
    const auto& format = impl_->config().data_formats().at(buffer_index);
    TT_FATAL(format.has_value(), "circular buffer {} has no data format", buffer_index);
    return *format;
}

}  // namespace tt::tt_metal
