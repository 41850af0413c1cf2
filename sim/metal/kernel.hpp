// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include <tt-metalium/core_coord.hpp>
#include <tt-metalium/graph_tracking.hpp>
#include <tt-metalium/kernel_types.hpp>

namespace tt::tt_metal {

// A kernel of a program. Nothing is compiled; the size of its text is made up, but the same in every run.
class Kernel {
public:
    Kernel(std::string name, std::string source, CoreRangeSet cores,
           const std::variant<DataMovementConfig, ComputeConfig>& config);

    // The path of the source gives the type of the kernel.
    GraphTracker::KernelType type() const { return type_; }
    const CoreRangeSet& core_range_set() const { return cores_; }
    uint64_t text_bytes() const;

    // As returned by detail::collect_kernel_meta(); without binaries until the program is compiled.
    detail::KernelMeta meta(bool compiled) const;

private:
    std::string name_;
    std::string source_;
    CoreRangeSet cores_;
    GraphTracker::KernelType type_;
    HalProcessorClassType processor_class_;
    std::optional<MathFidelity> math_fidelity_;
    std::vector<detail::KernelBinaryMeta> binaries_;
};

}  // namespace tt::tt_metal
