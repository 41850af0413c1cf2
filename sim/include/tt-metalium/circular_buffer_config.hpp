// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_set>

#include <tt-metalium/circular_buffer_constants.h>
#include <tt-metalium/tt_backend_api_types.hpp>

namespace tt::tt_metal {

class Buffer;

using CBHandle = std::uintptr_t;

class CircularBufferConfig {
public:
    CircularBufferConfig(uint32_t total_size, const std::map<uint8_t, tt::DataFormat>& data_format_spec);
    CircularBufferConfig(uint32_t total_size);

    // On the memory of an L1 buffer.
    CircularBufferConfig(uint32_t total_size, const std::map<uint8_t, tt::DataFormat>& data_format_spec,
                         const Buffer& buffer);

    CircularBufferConfig& set_page_size(uint8_t buffer_index, uint32_t page_size);
    CircularBufferConfig& set_total_size(uint32_t total_size);
    CircularBufferConfig& set_globally_allocated_address(const Buffer& buffer);
    CircularBufferConfig& set_globally_allocated_address_and_total_size(const Buffer& buffer,
                                                                        uint32_t total_size);

    uint32_t total_size() const { return total_size_; }
    std::optional<uint32_t> globally_allocated_address() const { return globally_allocated_address_; }
    const std::unordered_set<uint8_t>& buffer_indices() const { return buffer_indices_; }
    const std::array<std::optional<tt::DataFormat>, NUM_CIRCULAR_BUFFERS>& data_formats() const {
        return data_formats_;
    }
    const std::array<std::optional<uint32_t>, NUM_CIRCULAR_BUFFERS>& page_sizes() const {
        return page_sizes_;
    }

    const Buffer* shadow_global_buffer{nullptr};

private:
    void set_config(const std::map<uint8_t, tt::DataFormat>& data_format_spec);
    void validate_total_size(uint32_t total_size) const;

    uint32_t total_size_ = 0;
    uint32_t max_size_ = 0;  // of the buffer below; 0 if there is none
    std::optional<uint32_t> globally_allocated_address_;
    std::array<std::optional<tt::DataFormat>, NUM_CIRCULAR_BUFFERS> data_formats_;
    std::array<std::optional<uint32_t>, NUM_CIRCULAR_BUFFERS> page_sizes_;
    std::unordered_set<uint8_t> buffer_indices_;
};

}  // namespace tt::tt_metal
