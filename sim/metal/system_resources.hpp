// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include <tt-metalium/buffer.hpp>
#include <tt-metalium/program.hpp>

namespace tt::tt_metal {

class Device;
class IDevice;

// The runtime's own memory between open and close, if the options ask for it: 10 DRAM buffers with 14,753,792 bytes on
// each chip, and the kernels of fabric and dispatch.

class SystemBuffers {
public:
    explicit SystemBuffers(IDevice& device);

private:
    std::vector<std::shared_ptr<Buffer>> buffers_;
};

class SystemPrograms {
public:
    explicit SystemPrograms(Device& device);

private:
    std::vector<std::unique_ptr<Program>> programs_;
};

}  // namespace tt::tt_metal
