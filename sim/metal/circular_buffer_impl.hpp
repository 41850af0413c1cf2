// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>

#include <tt-metalium/circular_buffer_config.hpp>
#include <tt-metalium/core_coord.hpp>
#include <tt-metalium/hal_types.hpp>

namespace tt::tt_metal {

class CircularBufferImpl {
public:
    CircularBufferImpl(CBHandle id, CoreRangeSet cores, const CircularBufferConfig& config)
        : id_(id), cores_(std::move(cores)), config_(config) {}

    CBHandle id() const { return id_; }
    const CoreRangeSet& core_ranges() const { return cores_; }
    CircularBufferConfig& config() { return config_; }
    const CircularBufferConfig& config() const { return config_; }
    uint64_t size() const { return config_.total_size(); }
    bool globally_allocated() const { return config_.globally_allocated_address().has_value(); }

    // Of a local one: where the last layout put it.
    uint64_t address() const {
        return config_.globally_allocated_address() ? *config_.globally_allocated_address() : local_address_;
    }
    void set_local_address(uint64_t address) { local_address_ = address; }

private:
    CBHandle id_;
    CoreRangeSet cores_;
    CircularBufferConfig config_;
    uint64_t local_address_ = 0;
};

}  // namespace tt::tt_metal
